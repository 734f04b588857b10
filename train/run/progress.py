"""How far a run is: the one place that knows, saved with its state."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import math
import typing
from typing import Any

import numpy as np

from train import config as config_lib

if typing.TYPE_CHECKING:
  # Programs make players, and agents among those read the progress of their runs.
  from train.run import programs

__all__ = ["Progress"]


@dataclasses.dataclass
class Progress:
  """How far a run is.

  Attributes:
    games: finished games of each trial.
    finished: trials that ended early, having nothing left to learn.
    diverged: trials that stopped because their numbers were no longer finite.
    num_tests: tests of each trial so far.
    num_lines: lines written into metrics.jsonl.
    log: the sha256 of those lines; empty in checkpoints from before there was one.
    score: the mean score of the last test.
    seconds: spent on training.
    test_seconds: spent on tests.
    compile_seconds: spent on compiling.
  """

  games: list[int]
  finished: list[int] = dataclasses.field(default_factory=list)
  diverged: list[int] = dataclasses.field(default_factory=list)
  num_tests: int = 0
  num_lines: int = 0
  log: str = ""
  score: float | None = None
  seconds: float = 0.0
  test_seconds: float = 0.0
  compile_seconds: float = 0.0

  @classmethod
  def from_saved(cls, saved: Mapping[str, Any]) -> Progress:
    """Returns the progress that was saved beside a state."""
    # It was called a tally once.
    return cls(**(saved["progress"] if "progress" in saved else saved["tally"]))

  @property
  def active(self) -> np.ndarray:
    """`[n]` int32, the trials that have something left to do, rising."""
    ended = {*self.finished, *self.diverged}
    return np.asarray([n for n in range(len(self.games)) if n not in ended], np.int32)

  def is_finished(self, config: config_lib.RunConfig) -> bool:
    """Returns whether there is nothing left to do."""
    return self.num_tests == len(config.test_points) or not len(self.active)

  def count_test(
    self, trials: np.ndarray, result: programs.TestResult
  ) -> list[dict[str, Any]]:
    """Counts a test; returns its lines of metrics.jsonl, one for each trial.

    Args:
      trials: the numbers of those that were tested.
      result: a row for each of them; what diverged has no line.
    """
    self.num_tests += 1
    lines = [
      self._line(trial, row, result)
      for row, trial in enumerate(trials.tolist())
      if trial not in self.diverged
    ]
    self.num_lines += len(lines)
    self.score = float(np.mean([line["score"] for line in lines])) if lines else None
    return lines

  def count_games(self, trials: np.ndarray, games: np.ndarray) -> None:
    """Notes how many games trials have finished.

    Args:
      trials: `[n]` int, their numbers.
      games: `[n]` int.
    """
    for trial, count in zip(trials.tolist(), games.tolist(), strict=True):
      self.games[trial] = count

  def end_trials(self, *, finished: np.ndarray, diverged: np.ndarray) -> None:
    """Notes trials that have ended: with nothing left to learn, or by divergence."""
    self.finished = sorted({*self.finished, *finished.tolist()})
    self.diverged = sorted({*self.diverged, *diverged.tolist()})

  def status(self, config: config_lib.RunConfig) -> dict[str, Any]:
    """Returns what run.json records of the progress."""
    return {
      "trials": config.num_trials,
      "games": self.games,
      "games_wanted": config.games,
      "tests": self.num_tests,
      "seconds": self.seconds,
      "test_seconds": self.test_seconds,
      "compile_seconds": self.compile_seconds,
      "is_finished": self.is_finished(config),
      "finished": self.finished,
      "diverged": self.diverged,
    }

  def summary(self) -> str:
    """Returns the same in one line for people."""
    total, num_trials = sum(self.games), len(self.games)
    text = (
      f"{num_trials} trial{'s' * (num_trials > 1)}, {total:,} games in "
      f"{self.seconds:,.1f} s ({total / max(self.seconds, 1e-6):,.0f} games/s), "
      f"{self.test_seconds:,.1f} s of tests"
    )
    if self.score is not None:
      text += f", last score {self.score:.1%}"
    if self.finished:
      text += f", {len(self.finished)} ended early"
    if self.diverged:
      text += f", diverged: trial {', '.join(map(str, self.diverged))}"
    return text

  def _line(self, trial: int, row: int, result: programs.TestResult) -> dict[str, Any]:
    score = result.score
    wins, draws, losses = (
      int(counts[row].sum()) for counts in (score.wins, score.draws, score.losses)
    )
    # Through text, so that a float32 has no more digits than it holds.
    metrics = {name: float(str(value[row])) for name, value in result.metrics.items()}
    return {
      "test": self.num_tests,
      "trial": trial,
      "games": self.games[trial],
      "wins": wins,
      "draws": draws,
      "losses": losses,
      "score": (wins + draws / 2) / (wins + draws + losses),
      **{name: v if math.isfinite(v) else None for name, v in metrics.items()},
    }
