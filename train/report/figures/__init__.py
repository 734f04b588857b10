"""Draws a report's figures with matplotlib."""

import io

import matplotlib
import matplotlib.figure

from train.report import comparison
from train.report import papers
from train.report import readings
from train.report.figures import bars
from train.report.figures import curve
from train.report.figures import dots
from train.report.figures import histograms
from train.report.figures import lines
from train.report.figures import style

__all__ = ["draw", "draw_into"]

# Metadata, by file suffix, that would change with the date or the version: left out.
FORMATS: dict[str, dict[str, None]] = {
  "png": {"Software": None},
  "svg": {"Date": None, "Creator": None},
}

DOTS_PER_INCH = 150


def draw(drawing: comparison.Drawing) -> dict[str, bytes]:
  """Returns the files of a figure by their suffix; the same runs give the same bytes.

  Args:
    drawing: what the figure shows.
  """
  with matplotlib.rc_context(style.STYLE):
    figure = matplotlib.figure.Figure(figsize=style.SIZE, layout="constrained")
    figure.suptitle(drawing.title, x=0.01, ha="left")
    draw_into(figure, drawing)
    files = {}
    for suffix, metadata in FORMATS.items():
      buffer = io.BytesIO()
      figure.savefig(buffer, format=suffix, dpi=DOTS_PER_INCH, metadata=metadata)
      files[suffix] = buffer.getvalue()
  return files


def draw_into(figure: matplotlib.figure.Figure, drawing: comparison.Drawing) -> None:
  """Draws into an empty figure, without a title.

  Args:
    figure: the figure.
    drawing: what the figure shows.
  """
  match drawing:
    case readings.RankingDrawing():
      dots.draw(figure, drawing)
    case comparison.RowsDrawing(plot=papers.Curve() as plot):
      curve.draw(figure, drawing, plot)
    case comparison.RowsDrawing(plot=papers.Bars() as plot):
      bars.draw(figure, drawing, plot)
    case comparison.RowsDrawing(plot=papers.Histograms() as plot):
      histograms.draw(figure, drawing, plot)
    case comparison.RowsDrawing(plot=papers.Lines() as plot):
      lines.draw(figure, drawing, plot)
    case _:
      raise TypeError(f"{type(drawing).__name__} cannot be drawn")
