"""Draws a report's figures, each by its kind."""

from collections.abc import Callable
import io
from typing import Any

import matplotlib
import matplotlib.figure

from train.report import comparison
from train.report import readings
from train.report.figures import bars as figures_bars
from train.report.figures import curve as figures_curve
from train.report.figures import histograms as figures_histograms
from train.report.figures import readings as figures_readings
from train.report.figures import style as figures_style

__all__ = ["FORMATS", "KINDS", "Drawing", "draw"]

Drawing = comparison.Drawing | readings.Drawing

# For each file ending what would otherwise change with the day or the version.
FORMATS: dict[str, dict[str, None]] = {
  "png": {"Software": None},
  "svg": {"Date": None, "Creator": None},
}

DOTS_PER_INCH = 150

KINDS: dict[str, Callable[[matplotlib.figure.Figure, Any, Any], None]] = {
  "curve": figures_curve.draw,
  "bars": figures_bars.draw,
  "histograms": figures_histograms.draw,
  "readings": figures_readings.draw,
}


def draw(drawing: Drawing) -> dict[str, bytes]:
  """Returns the files of a figure, by their ending.

  The same runs give the same bytes.

  Args:
    drawing: what to draw.
  """
  with matplotlib.rc_context(figures_style.STYLE):
    figure = matplotlib.figure.Figure(figsize=figures_style.SIZE, layout="constrained")
    figure.suptitle(drawing.title, x=0.01, ha="left")
    KINDS[drawing.plot.kind](figure, drawing, drawing.plot)
    files = {}
    for ending, metadata in FORMATS.items():
      buffer = io.BytesIO()
      figure.savefig(buffer, format=ending, dpi=DOTS_PER_INCH, metadata=metadata)
      files[ending] = buffer.getvalue()
  return files
