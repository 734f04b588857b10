"""Draws bars of final results: a panel for each metric, a bar for each row."""

from collections.abc import Iterator
import dataclasses
from typing import Any

import matplotlib.figure

from train.report import comparison
from train.report import papers
from train.report import statistics
from train.report.figures import style

__all__ = ["draw"]

PAPER_MARK: Any = {
  "color": "white",
  "markeredgecolor": "black",
  "markersize": 6,
  "clip_on": False,
}
# The room for a number next to a bar, as a share of the longest bar.
ROOM = 0.4
NUMBER: Any = {"textcoords": "offset points", "va": "center", "fontsize": "small"}


@dataclasses.dataclass(frozen=True)
class _Bar:
  """A bar of one panel.

  Attributes:
    place: the row's index.
    ours: the bar's length, as a summary over trials.
    paper: the paper's number, if it is marked.
  """

  place: int
  ours: statistics.Summary
  paper: float | None


def draw(
  figure: matplotlib.figure.Figure, drawing: comparison.RowsDrawing, plot: papers.Bars
) -> None:
  """Draws one panel for each part, with a bar for each row that was run."""
  panels = [list(_bars(drawing, plot, part)) for part in plot.parts]
  all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
  for axes, part, bars in zip(all_axes, plot.parts, panels, strict=True):
    _draw_panel(axes, bars)
    axes.set_title(part.title, loc="left", fontsize="medium")
  # The first row on top, as in the table.
  axes = all_axes[0]
  axes.set_yticks(range(len(drawing.entries)), [e.label for e in drawing.entries])
  axes.set_ylim(len(drawing.entries) - 0.5, -0.5)
  if not any(panels):
    style.say(axes, "no test yet")
    return
  all_bars = [bar for bars in panels for bar in bars]
  style.explain(figure, _explanation(all_bars, drawing))


def _bars(
  drawing: comparison.RowsDrawing, plot: papers.Bars, part: papers.Part
) -> Iterator[_Bar]:
  for place, entry in enumerate(drawing.entries):
    if entry.record is None:
      continue
    curves = entry.record.curves(part.metric).values()
    values = [plot.scale * statistics.final(curve).value for curve in curves]
    if not values:
      continue
    yield _Bar(place, statistics.summarize(values), _paper(drawing, place, plot, part))


def _paper(
  drawing: comparison.RowsDrawing, place: int, plot: papers.Bars, part: papers.Part
) -> float | None:
  """Returns the paper's number for a bar, in the bars' unit, if there is one."""
  if part.reference is None:
    return None
  value = drawing.entries[place].cells[part.reference].paper
  column = drawing.columns[part.reference]
  return value.mean / column.scale * plot.scale if value is not None else None


def _draw_panel(axes: Any, bars: list[_Bar]) -> None:
  """Draws the bars of one panel with their numbers."""
  farthest = max(map(_reach, bars), default=0.0) or 1.0
  for bar in bars:
    mean = bar.ours.mean or 0.0
    axes.barh(bar.place, mean, height=0.6, color=style.colour(bar.place))
    if bar.ours.interval is not None:
      axes.plot(bar.ours.interval, [bar.place] * 2, color="black", linewidth=1.2)
    if bar.paper is not None:
      axes.plot(bar.paper, bar.place, "D", **PAPER_MARK)
    number = style.format_number(mean)
    place = _number_place(bar, ROOM * farthest)
    axes.annotate(number, (place, bar.place), (6, 0), **NUMBER)
  axes.set_xlim(0, (1 + ROOM) * farthest)
  axes.tick_params(axis="y", left=False)
  axes.grid(visible=False, axis="y")
  axes.locator_params(axis="x", nbins=4)


def _reach(bar: _Bar) -> float:
  """Returns the right end of a bar and its marks."""
  _, high = bar.ours.interval or (0.0, bar.ours.mean or 0.0)
  return max(high, bar.paper or 0.0)


def _number_place(bar: _Bar, room: float) -> float:
  """Returns where a bar's number begins: after the bar, or after the paper's mark.

  Args:
    bar: the bar.
    room: the width of a number.
  """
  end = _reach(dataclasses.replace(bar, paper=None))
  is_free = bar.paper is None or not end - room / 4 <= bar.paper <= end + room
  return end if is_free else _reach(bar)


def _explanation(bars: list[_Bar], drawing: comparison.RowsDrawing) -> Iterator[str]:
  """Yields sentences that explain bars, strokes and marks."""
  trials = style.count_trials(bar.ours.n for bar in bars)
  yield "Bars: one trial." if trials == "1 trials" else f"Bars: mean of {trials}."
  if any(bar.ours.interval is not None for bar in bars):
    yield "Strokes: 95 % interval of the mean."
  if any(bar.paper is not None for bar in bars):
    yield "Diamonds: the paper."
  yield "Each panel has its own scale."
  if not all(entry.record.is_finished for entry in drawing.entries if entry.record):
    yield "Training is unfinished."
