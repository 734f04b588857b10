"""Draws learning curves: means over trials with their spread, one for each row."""

from collections.abc import Iterator, Sequence
import dataclasses
import math
from typing import Any

import matplotlib.axes
import matplotlib.figure
import matplotlib.ticker
import numpy as np

from train.report import comparison
from train.report import papers
from train.report import runs as runs_lib
from train.report import statistics
from train.report.figures import style

__all__ = ["draw"]


@dataclasses.dataclass(frozen=True)
class _Line:
  """The mean curve of a row.

  Attributes:
    label: its name in the legend.
    colour: the colour of line, band and marks.
    stroke: the line style.
    games: `[T]` games trained at each test, the mean over trials.
    mean: `[T]` the metric, the mean over trials.
    band: `[2, T]` the lower and upper edge of the spread; None for a single trial.
    num_trials: the number of trials.
    is_complete: whether the run is finished.
    ends_early: whether all trials ended early.
    reference: the paper's number, if it is marked.
  """

  label: str
  colour: str
  stroke: str
  games: np.ndarray
  mean: np.ndarray
  band: np.ndarray | None
  num_trials: int
  is_complete: bool
  ends_early: bool
  reference: papers.Value | None


def draw(
  figure: matplotlib.figure.Figure, drawing: comparison.RowsDrawing, plot: papers.Curve
) -> None:
  """Draws the curves of all rows that have one."""
  lines = _lines(drawing, plot)
  has_reference = any(line.reference is not None for line in lines)
  axes, side = _make_axes(figure, has_reference)
  for line in lines:
    _draw_line(axes, line)
  if side is not None:
    _draw_references(side, lines)
  _set_axes(axes, lines, plot)
  for line in lines:
    if _is_extended(axes, line):
      ends = line.games[-1], axes.get_xlim()[1]
      axes.plot(ends, [line.mean[-1]] * 2, ":", color=line.colour, linewidth=2)
  if not lines:
    style.say(axes, "no test yet")
    return
  if len(lines) > 1 or not lines[0].is_complete:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")
  style.explain(figure, _explanation(axes, lines, drawing, plot))
  figure.align_xlabels()


def _lines(drawing: comparison.RowsDrawing, plot: papers.Curve) -> list[_Line]:
  """Returns the curves of all rows with tests, the highest last value first."""
  lines = []
  for place, entry in enumerate(drawing.entries):
    if entry.record is None:
      continue
    of_trials = list(entry.record.curves(plot.metric).values())
    curves = statistics.align(of_trials) if of_trials else None
    if curves is None or not len(curves.tests):
      continue
    cell = entry.cells.get(plot.reference) if plot.reference is not None else None
    values = plot.scale * curves.values
    lines.append(
      _Line(
        label=entry.label + _progress(entry.record, curves.games[-1]),
        # By the row's index, so that a row has one colour in all of a paper's figures.
        colour=style.colour(place),
        stroke=style.stroke(place),
        games=curves.games,
        mean=values.mean(axis=0),
        band=_band(values, plot),
        num_trials=len(values),
        is_complete=entry.record.is_finished,
        ends_early=all(curve.has_finished for curve in of_trials),
        reference=cell.paper if cell is not None else None,
      )
    )
  shown = [_crop(line, *plot.games) for line in lines] if plot.games else lines
  return sorted((line for line in shown if line), key=lambda line: -line.mean[-1])


def _progress(record: runs_lib.Record, games: float) -> str:
  wanted = record.run.status.games_wanted
  if record.is_finished or not wanted:
    return ""
  return f"\n(unfinished, {100 * games / wanted:.0f} %)"


def _band(values: np.ndarray, plot: papers.Curve) -> np.ndarray | None:
  """Returns the spread of `[trials, T]` as `[2, T]`."""
  if len(values) < 2:
    return None
  if plot.log_y:  # The mean minus a deviation may be negative.
    return np.stack(statistics.intervals(values))
  mean, sd = values.mean(axis=0), values.std(axis=0, ddof=1)
  band = np.stack([mean - sd, mean + sd])
  return band if plot.bounds is None else np.clip(band, *plot.bounds)


def _crop(line: _Line, first: int, last: int) -> _Line | None:
  """Returns the part of a line between two numbers of games, or None."""
  if line.ends_early and line.games[-1] < first:
    games = np.array([float(first)])
  else:
    first, last = max(first, line.games[0]), min(last, line.games[-1])
    inside = line.games[(line.games > first) & (line.games < last)]
    games = np.unique([first, *inside, last])
  if first > last:
    return None

  def crop(values: np.ndarray) -> np.ndarray:
    return np.interp(games, line.games, values)

  band = None if line.band is None else np.stack([crop(edge) for edge in line.band])
  return dataclasses.replace(line, games=games, mean=crop(line.mean), band=band)


def _make_axes(
  figure: matplotlib.figure.Figure, has_reference: bool
) -> tuple[matplotlib.axes.Axes, matplotlib.axes.Axes | None]:
  """Returns the axes of the curves, and a strip next to them for the paper's numbers."""
  if not has_reference:
    return figure.subplots(), None
  axes, side = figure.subplots(1, 2, sharey=True, width_ratios=(12, 1))
  side.tick_params(left=False, bottom=False, labelbottom=False)
  side.spines["left"].set_visible(False)
  return axes, side


def _draw_line(axes: Any, line: _Line) -> None:
  axes.plot(
    line.games, line.mean, line.stroke, color=line.colour, label=line.label, linewidth=2
  )
  if not line.is_complete or len(line.games) == 1:
    axes.plot(line.games[-1], line.mean[-1], "o", color=line.colour, markersize=6)
  if line.band is not None:
    axes.fill_between(
      line.games, *line.band, color=line.colour, alpha=0.15, linewidth=0
    )


def _is_extended(axes: Any, line: _Line) -> bool:
  """Returns whether a line of ended trials is extended to the end of the axis."""
  return line.ends_early and line.games[-1] < axes.get_xlim()[1]


def _draw_references(side: Any, lines: Sequence[_Line]) -> None:
  """Marks the paper's numbers, side by side so that they do not overlap."""
  for place, line in enumerate(lines):
    if line.reference is not None:
      side.errorbar(
        place,
        line.reference.mean,
        yerr=line.reference.sd,
        fmt="D",
        color=line.colour,
        markersize=5,
        elinewidth=1.5,
      )
  side.set_xlim(-1, len(lines))
  side.set_xlabel("paper")
  side.grid(visible=False, axis="x")


def _set_axes(axes: Any, lines: Sequence[_Line], plot: papers.Curve) -> None:
  """Sets scales, limits and labels."""
  axes.set_xlabel("Games trained")
  axes.set_ylabel(plot.y_label)
  if plot.log_x:
    axes.set_xscale("log")
    axes.autoscale(axis="x", tight=True)
  else:
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=6)
  if plot.games is not None:
    axes.set_xlim(*plot.games)
  axes.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
  if plot.log_y and lines:
    _set_log_y(axes, lines)
  elif plot.bounds is not None:
    least, greatest = plot.bounds
    axes.set_ylim(least, min(greatest, axes.get_ylim()[1]))


def _set_log_y(axes: Any, lines: Sequence[_Line]) -> None:
  """Makes the axis logarithmic, or linear near zero if there are zeros to show."""
  means = np.concatenate([line.mean for line in lines])
  values = np.concatenate(
    [means, *(line.band.ravel() for line in lines if line.band is not None)]
  )
  if (values > 0).all():
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 300 * low:  # Powers of ten alone would be too few labels.
      axes.yaxis.set_minor_formatter(matplotlib.ticker.FuncFormatter(_format_between))
  else:
    least = min(means[means > 0], default=1.0)
    linear = 10.0 ** math.floor(math.log10(least))
    axes.set_yscale("symlog", linthresh=linear, linscale=0.5)
    axes.set_ylim(bottom=-0.1 * linear)
    axes.axhspan(-linear, linear, color="#f3f3f3", zorder=0)
  axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_format_power))


def _format_between(value: float, place: int | None = None) -> str:
  is_shown = f"{value:.0e}"[0] in "25"
  return _format_power(value, place) if is_shown else ""


def _format_power(value: float, place: int | None = None) -> str:
  del place
  if value == 0 or abs(value) >= 1e-4:
    return f"{value:,.4f}".rstrip("0").rstrip(".")
  return f"{value:.0e}"


def _explanation(
  axes: Any, lines: Sequence[_Line], drawing: comparison.RowsDrawing, plot: papers.Curve
) -> Iterator[str]:
  """Yields sentences that explain lines, bands and marks."""
  trials = style.count_trials(line.num_trials for line in lines)
  yield "One trial." if trials == "1 trials" else f"Lines: mean of {trials}."
  if any(line.band is not None for line in lines):
    spread = "95 % interval of the mean" if plot.log_y else "± standard deviation"
    yield f"Bands: {spread}."
  if any(_is_extended(axes, line) for line in lines):
    yield "Dotted: all trials have ended."
  if axes.get_yscale() == "symlog":
    yield "Grey: linear down to 0."
  if plot.reference is not None and any(line.reference for line in lines):
    yield f"Diamonds: {drawing.columns[plot.reference].title} in the paper."
