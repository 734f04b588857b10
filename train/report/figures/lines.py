"""Draws a column of a table over a number that rows stand for, in lines of rows."""

from collections.abc import Iterable, Iterator
import dataclasses
from typing import Any

import matplotlib.figure
import matplotlib.ticker

from train.report import comparison
from train.report import papers
from train.report import statistics
from train.report.figures import style

__all__ = ["draw"]

# How far apart points at the same number are drawn, as a factor.
SHIFT = 1.04


@dataclasses.dataclass(frozen=True)
class _Point:
  """A row of a line.

  Attributes:
    x: the number that it stands for.
    ours: the summary over its trials.
  """

  x: int
  ours: statistics.Summary


def draw(
  figure: matplotlib.figure.Figure, drawing: comparison.RowsDrawing, plot: papers.Lines
) -> None:
  """Draws a line for each group of rows, with a point for each row that was run."""
  axes = figure.subplots()
  lines = {label: list(_points(drawing, plot, label)) for label in plot.lines}
  lines = {label: points for label, points in lines.items() if points}
  for place, (label, points) in enumerate(lines.items()):
    _draw_line(axes, points, label, place)
  axes.set_ylabel(plot.y_label)
  axes.set_xlabel(plot.x_label)
  axes.set_xscale("log", base=2)
  axes.set_ylim(*plot.bounds or (None, None))
  if not lines:
    style.say(axes, "no test yet")
    return
  every = [point for points in lines.values() for point in points]
  numbers = sorted({point.x for point in every})
  axes.set_xticks(numbers, [f"{number:,}" for number in numbers])
  axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
  axes.legend(loc="best")
  style.explain(figure, _explanation(every))


def _points(
  drawing: comparison.RowsDrawing, plot: papers.Lines, label: str
) -> Iterator[_Point]:
  """Yields a line's points; of several runs of a row, the one with the most trials."""
  for row, x in plot.lines[label].items():
    summaries = [
      entry.cells[plot.column].ours
      for entry in drawing.entries
      if entry.row == row and entry.cells[plot.column].ours.mean is not None
    ]
    if summaries:
      yield _Point(x, max(summaries, key=lambda summary: summary.n))


def _draw_line(axes: Any, points: Iterable[_Point], label: str, place: int) -> None:
  """Draws points with their spread; lines are shifted to keep strokes apart."""
  colour = style.colour(place)
  shifted = [(SHIFT**place * point.x, point.ours) for point in points]
  axes.plot(
    *zip(*((x, ours.mean) for x, ours in shifted), strict=True),
    "o-",
    color=colour,
    label=label,
  )
  for x, ours in shifted:
    if ours.mean is not None and ours.sd is not None:
      spread = (ours.mean - ours.sd, ours.mean + ours.sd)
      axes.plot([x, x], spread, color=colour, linewidth=1.2)


def _explanation(points: list[_Point]) -> Iterator[str]:
  """Yields sentences that explain points and strokes."""
  counts = sorted({point.ours.n for point in points})
  trials = " or ".join(map(str, counts))
  yield f"Points: mean of {trials} trials."
  if any(point.ours.sd is not None for point in points):
    yield "Strokes: one standard deviation of the trials up and down."
