"""A run as notebooks show it: its facts, and the curve of its score."""

from collections.abc import Sequence
import pathlib

import numpy as np

from jaxgames import markup
from train.report import runs as runs_lib

__all__ = ["RunView", "load_run"]

WIDTH, HEIGHT, MARGIN = 360, 130, 18


class RunView:
  """A run, read from its files; the last line of a notebook's cell shows it.

  Attributes:
    run: what was read.
  """

  def __init__(self, run: runs_lib.Run):
    """Shows a run."""
    self.run = run

  def _repr_html_(self) -> str:
    run, status = self.run, self.run.status
    facts = {
      "game": run.game,
      "trials": status.trials,
      "games of each": f"{run.games_done:,} of {status.games_wanted:,}",
      "tests": f"{run.num_tests} of {run.num_planned}",
      "state": "finished" if status.is_finished else "unfinished",
    }
    return markup.card(run.label, facts, _draw(run))

  def __repr__(self) -> str:
    """Returns its label and how far it is."""
    wanted = self.run.status.games_wanted
    return f"RunView({self.run.label}: {self.run.games_done:,} of {wanted:,} games)"


def load_run(directory: pathlib.Path | str) -> RunView:
  """Reads a run, finished or not.

  Raises:
    ValueError: if a file is missing or invalid; the message names the file.
  """
  return RunView(runs_lib.read(pathlib.Path(directory)))


def _draw(run: runs_lib.Run) -> str:
  """Returns the mean score over games, and its spread over trials, as SVG."""
  points = _points(run)
  if len(points) < 2:
    return ""
  games, means, spreads = np.asarray(points).T
  x = MARGIN + (WIDTH - 2 * MARGIN) * games / games.max()
  low, high = np.clip(means - spreads, 0, 1), np.clip(means + spreads, 0, 1)
  band = _path(
    [*zip(x, _y(high), strict=True), *zip(x[::-1], _y(low[::-1]), strict=True)]
  )
  line = _path(list(zip(x, _y(means), strict=True)))
  grid = "".join(f"M{MARGIN} {_y(share):.1f}H{WIDTH - MARGIN}" for share in (0, 0.5, 1))
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    'role="img" font-size="10" font-family="sans-serif">'
    f"<title>mean score over games: {means[-1]:.1%} at the end</title>"
    f'<path d="{grid}" stroke="#d9d5ca"/><path d="{band}Z" fill="#2b5c8f" opacity=".18"/>'
    f'<path d="{line}" fill="none" stroke="#2b5c8f" stroke-width="2"/>'
    f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 3}" text-anchor="end" fill="#7d8894">'
    f"score {means[-1]:.1%} after {games[-1]:,.0f} games</text></svg>"
  )


def _points(run: runs_lib.Run) -> list[tuple[float, float, float]]:
  """Returns games, mean score and its standard deviation for each test."""
  by_test: dict[int, list[tuple[float, float]]] = {}
  for record in run.records:
    for curve in record.curves("score").values():
      for test, games, score in zip(
        curve.tests, curve.games, curve.values, strict=True
      ):
        by_test.setdefault(int(test), []).append((float(games), float(score)))
  return [
    (float(np.mean(games)), float(np.mean(scores)), float(np.std(scores)))
    for _, found in sorted(by_test.items())
    for games, scores in [zip(*found, strict=True)]
  ]


def _y(share: np.ndarray | float) -> np.ndarray:
  return np.asarray(HEIGHT - MARGIN - (HEIGHT - 1.5 * MARGIN) * np.asarray(share))


def _path(points: Sequence[tuple[float, float]]) -> str:
  return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
