"""Draws histograms: how a metric is distributed over trials during training."""

from collections.abc import Iterator, Sequence
import dataclasses
import math
from typing import Any

import matplotlib.figure
import matplotlib.ticker
import numpy as np

from train.report import comparison
from train.report import papers
from train.report import runs as runs_lib
from train.report import statistics
from train.report.figures import style

__all__ = ["draw"]

NUM_COLUMNS = 3
PANEL_HEIGHT = 2.3
SUBTITLE: Any = {
  "xycoords": "axes fraction",
  "textcoords": "offset points",
  "fontsize": "small",
}


@dataclasses.dataclass(frozen=True)
class _Panel:
  """One histogram.

  Attributes:
    games: the number of games before the test.
    values: `[trials]` the metric.
    summary: the summary of the values.
  """

  games: int
  values: np.ndarray
  summary: statistics.Summary


def draw(
  figure: matplotlib.figure.Figure,
  drawing: comparison.RowsDrawing,
  plot: papers.Histograms,
) -> None:
  """Draws a panel for each number of games that has a test."""
  # If there are several runs of the row: the first one, named in the explanation.
  found = [
    (place, entry.label, list(_panels(entry.record, plot)))
    for place, entry in enumerate(drawing.entries)
    if entry.row == plot.row and entry.record is not None
  ]
  if not found or not found[0][2]:
    style.say(figure.subplots(), "no test yet")
    return
  place, label, panels = found[0]
  grid = _make_grid(figure, len(panels), plot.x_label)
  for axes, panel in zip(grid.flat, panels, strict=False):
    _draw_panel(axes, panel, style.colour(place))
  style.explain(figure, _explanation(label, panels, plot))


def _panels(record: runs_lib.Record, plot: papers.Histograms) -> Iterator[_Panel]:
  """Yields a panel for each number of games after which all trials were tested."""
  curves = record.curves(plot.metric).values()
  for games in plot.after:
    if curves and games in record.run.planned:
      test = record.run.planned.index(games) + 1
      values = [statistics.value_at(curve, test) for curve in curves]
      known = [plot.scale * value for value in values if value is not None]
      if len(known) == len(values):
        yield _Panel(games, np.array(known), statistics.summarize(known))


def _make_grid(
  figure: matplotlib.figure.Figure, num_panels: int, x_label: str
) -> np.ndarray:
  """Returns a grid of labelled axes, with at least `num_panels`."""
  num_columns = min(NUM_COLUMNS, num_panels)
  num_rows = -(-num_panels // num_columns)
  figure.set_size_inches(style.SIZE[0], 1 + PANEL_HEIGHT * num_rows)
  grid = figure.subplots(num_rows, num_columns, squeeze=False)
  for axes in grid.flat[num_panels:]:
    axes.set_visible(False)
  for row in grid:
    row[0].set_ylabel("Trials")
  for column in range(num_columns):
    lowest = grid[(num_panels - 1 - column) // num_columns, column]
    lowest.set_xlabel(x_label, fontsize="small")
  return grid


def _draw_panel(axes: Any, panel: _Panel, colour: str) -> None:
  edges = _bins(panel.values)
  axes.hist(panel.values, bins=edges, color=colour, alpha=0.55)
  if len(edges) == 2:  # All values are equal, so the limits are arbitrary.
    axes.set_xlim(min(edges[0], 0.0), max(1.1 * edges[1], 1.0))
  mean, interval = panel.summary.mean or 0.0, panel.summary.interval
  axes.axvline(mean, color="black", linewidth=1.5)
  text = f"mean {style.format_number(mean)}"
  if interval is not None:
    axes.axvspan(*interval, color="black", alpha=0.18, linewidth=0)
    text += f"  ({' to '.join(map(style.format_number, interval))})"
  axes.set_title(f"After {panel.games:,} games", loc="left", fontsize="medium", pad=20)
  axes.annotate(text, (0, 1), (0, 4), **SUBTITLE)
  axes.yaxis.set_major_locator(matplotlib.ticker.MaxNLocator(4, integer=True))
  axes.locator_params(axis="x", nbins=5)


def _bins(values: np.ndarray) -> np.ndarray:
  """Returns edges of bins that each cover equally many possible values.

  Shares of games are multiples of a step. Bins that cover two steps here and three
  there would show a comb that is not in the data.
  """
  distinct = np.unique(values)
  if len(distinct) == 1:
    half = 0.02 * max(1.0, abs(distinct[0]))
    return distinct + np.array([-half, half])
  step, span = np.diff(distinct).min(), np.ptp(distinct)
  num_wanted = 1.5 * math.sqrt(len(values))
  width = step * max(1, round(span / step / num_wanted))
  num_bins = int((span + step / 2) / width) + 1
  return distinct[0] - step / 2 + width * np.arange(num_bins + 1)


def _explanation(
  label: str, panels: Sequence[_Panel], plot: papers.Histograms
) -> Iterator[str]:
  """Yields sentences on what is drawn and what is missing."""
  trials = style.count_trials(len(panel.values) for panel in panels)
  yield f"{label}, {trials}."
  if any(panel.summary.interval is not None for panel in panels):
    yield "Line and grey band: mean and its 95 % interval."
  shown = {panel.games for panel in panels}
  missing = [f"{games:,}" for games in plot.after if games not in shown]
  if missing:
    yield f"No test after {', '.join(missing)} games."
