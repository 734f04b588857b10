"""Draws a report's figures: learning curves with their spread over trials."""

import dataclasses
import io
from typing import Any

import matplotlib
import matplotlib.axes
import matplotlib.figure
import matplotlib.ticker
import numpy as np

from train import comparison
from train import papers
from train import records

__all__ = ["FORMATS", "draw"]

# For each file ending what would otherwise change with the day or the version.
FORMATS: dict[str, dict[str, None]] = {
  "png": {"Software": None},
  "svg": {"Date": None, "Creator": None},
}

# Okabe and Ito's colours, which people with any colour vision tell apart; the lightest
# is left out. Where they are used up, they come again with another stroke.
COLOURS = (
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#E69F00",
  "#56B4E9",
  "#000000",
)
STROKES = ("-", "--", ":", "-.")

STYLE: Any = {
  "svg.hashsalt": "jaxgames",
  "svg.fonttype": "path",
  "font.family": "DejaVu Sans",
  "font.size": 12,
  "axes.spines.top": False,
  "axes.spines.right": False,
  "axes.grid": True,
  "grid.color": "#e4e4e4",
  "axes.axisbelow": True,
  "figure.titlesize": 13,
  "legend.frameon": False,
  "legend.handlelength": 1.5,
}
SIZE = (9.0, 5.0)
DOTS_PER_INCH = 150


@dataclasses.dataclass(frozen=True)
class _Line:
  """The mean curve of a run.

  Attributes:
    label: its name in the legend.
    colour: of line, band and marks.
    stroke: of the line.
    games: `[T]` games trained at each test, the mean over trials.
    mean: `[T]` of the metric over trials.
    sd: `[T]` likewise; none of a single trial.
    num_trials: how many there are.
    is_complete: whether the run is finished.
    reference: the paper's number, if one is marked.
  """

  label: str
  colour: str
  stroke: str
  games: np.ndarray
  mean: np.ndarray
  sd: np.ndarray | None
  num_trials: int
  is_complete: bool
  reference: papers.Value | None


def draw(drawing: comparison.Drawing) -> dict[str, bytes]:
  """Returns the files of a figure, by their ending.

  The same runs give the same bytes.

  Args:
    drawing: what to draw.
  """
  lines = _lines(drawing)
  with matplotlib.rc_context(STYLE):
    figure = matplotlib.figure.Figure(figsize=SIZE, layout="constrained")
    has_reference = any(line.reference is not None for line in lines)
    axes, side = _make_axes(figure, has_reference)
    for line in lines:
      _draw_line(axes, line, drawing.plot)
    if side is not None:
      _draw_references(side, lines)
    _finish(figure, axes, lines, drawing)
    figure.align_xlabels()
    files = {}
    for ending, metadata in FORMATS.items():
      buffer = io.BytesIO()
      figure.savefig(buffer, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
      files[ending] = buffer.getvalue()
  return files


def _lines(drawing: comparison.Drawing) -> list[_Line]:
  """Returns the curves that there are, the highest at its end first."""
  plot, lines = drawing.plot, []
  for place, entry in enumerate(drawing.entries):
    points = _curves(entry.run, plot) if entry.run is not None else None
    if entry.run is None or points is None:
      continue
    cell = entry.cells.get(plot.reference) if plot.reference is not None else None
    games, values = points
    lines.append(
      _Line(
        label=entry.label + _progress(entry.run, games[-1]),
        # By the row's place, so that a row has its colour in all of a paper's figures.
        colour=COLOURS[place % len(COLOURS)],
        stroke=STROKES[place // len(COLOURS) % len(STROKES)],
        games=games,
        mean=values.mean(axis=0),
        sd=values.std(axis=0, ddof=1) if len(values) > 1 else None,
        num_trials=len(values),
        is_complete=entry.run.status.is_finished,
        reference=cell.paper if cell is not None else None,
      )
    )
  return sorted(lines, key=lambda line: -line.mean[-1])


def _curves(
  run: records.Record, plot: papers.Plot
) -> tuple[np.ndarray, np.ndarray] | None:
  """Returns the tests that every trial has: mean games `[T]`, values `[trials, T]`."""
  curves = list(run.curves(plot.metric).values())
  if not curves:
    return None
  tests = set.intersection(*(set(curve.tests.tolist()) for curve in curves))
  if not tests:
    return None
  kept = [np.isin(curve.tests, list(tests)) for curve in curves]
  games = np.stack([c.games[keep] for c, keep in zip(curves, kept, strict=True)])
  values = np.stack([c.values[keep] for c, keep in zip(curves, kept, strict=True)])
  return games.mean(axis=0), plot.scale * values


def _progress(run: records.Record, games: float) -> str:
  if run.status.is_finished or not run.status.games_wanted:
    return ""
  return f"\n(unfinished, {100 * games / run.status.games_wanted:.0f} %)"


def _make_axes(
  figure: matplotlib.figure.Figure, has_reference: bool
) -> tuple[matplotlib.axes.Axes, matplotlib.axes.Axes | None]:
  """Returns the axes of the curves, and a strip beside them for the paper's numbers."""
  if not has_reference:
    return figure.subplots(), None
  axes, side = figure.subplots(1, 2, sharey=True, width_ratios=(12, 1))
  side.tick_params(left=False, bottom=False, labelbottom=False)
  side.spines["left"].set_visible(False)
  return axes, side


def _draw_line(axes: Any, line: _Line, plot: papers.Plot) -> None:
  axes.plot(
    line.games, line.mean, line.stroke, color=line.colour, label=line.label, linewidth=2
  )
  if not line.is_complete or len(line.games) == 1:
    axes.plot(line.games[-1], line.mean[-1], "o", color=line.colour, markersize=6)
  if line.sd is not None:
    low, high = line.mean - line.sd, line.mean + line.sd
    if plot.bounds is not None:
      low, high = np.clip(low, *plot.bounds), np.clip(high, *plot.bounds)
    axes.fill_between(line.games, low, high, color=line.colour, alpha=0.15, linewidth=0)


def _draw_references(side: Any, lines: list[_Line]) -> None:
  """Marks the paper's numbers, side by side as they may be close to each other."""
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


def _finish(
  figure: matplotlib.figure.Figure,
  axes: Any,
  lines: list[_Line],
  drawing: comparison.Drawing,
) -> None:
  """Adds all that explains the curves."""
  plot = drawing.plot
  figure.suptitle(drawing.title, x=0.01, ha="left")
  axes.set_xlabel(plot.x_label)
  axes.set_ylabel(plot.y_label)
  axes.xaxis.set_major_formatter(matplotlib.ticker.StrMethodFormatter("{x:,.0f}"))
  axes.set_xlim(left=0)
  if plot.bounds is not None:
    least, greatest = plot.bounds
    axes.set_ylim(least, min(greatest, axes.get_ylim()[1]))
  if not lines:
    axes.text(0.5, 0.5, "no test yet", transform=axes.transAxes, ha="center")
    return
  if len(lines) > 1 or not lines[0].is_complete:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")
  note = _explanation(lines, drawing)
  figure.supxlabel(note, x=0.01, ha="left", fontsize="small", color="#555555")


def _explanation(lines: list[_Line], drawing: comparison.Drawing) -> str:
  """Says what lines, bands and marks are."""
  counts = {line.num_trials for line in lines}
  trials = f"{counts.pop()} trials" if len(counts) == 1 else "the trials"
  parts = ["One trial." if trials == "1 trials" else f"Lines: mean of {trials}."]
  if any(line.sd is not None for line in lines):
    parts.append("Bands: ± standard deviation.")
  if drawing.reference is not None and any(line.reference for line in lines):
    parts.append(f"Diamonds: {drawing.reference.title} in the paper.")
  return "  ".join(parts)
