"""The common style of a report's figures: colours, fonts, explanations."""

from collections.abc import Iterable
import math
from typing import Any

import matplotlib.figure

__all__ = [
  "SIZE",
  "STYLE",
  "colour",
  "count_trials",
  "explain",
  "format_number",
  "say",
  "stroke",
]

# The palette of Okabe and Ito, which is safe for colour-blind readers, without its
# lightest colour. Further rows use it again with another stroke.
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


def colour(place: int) -> str:
  """Returns the colour of a row by its index, the same in all figures of a paper."""
  return COLOURS[place % len(COLOURS)]


def stroke(place: int) -> str:
  """Returns the line style of a row by its index."""
  return STROKES[place // len(COLOURS) % len(STROKES)]


def count_trials(counts: Iterable[int]) -> str:
  """Returns the number of trials in words, by the number of each row."""
  distinct = set(counts)
  return f"{distinct.pop()} trials" if len(distinct) == 1 else "the trials"


def format_number(number: float) -> str:
  """Returns a number with at least three significant digits, without exponent.

  >>> [format_number(number) for number in (93.52, 2, 0.000175, 0)]
  ['93.5', '2.00', '0.000175', '0']
  """
  if number == 0:
    return "0"
  digits = max(0, 2 - math.floor(math.log10(abs(number))))
  return f"{number:,.{digits}f}"


def explain(figure: matplotlib.figure.Figure, sentences: Iterable[str]) -> None:
  """Writes an explanation below a figure."""
  note = "  ".join(sentences)
  figure.supxlabel(note, x=0.01, ha="left", fontsize="small", color="#555555")


def say(axes: Any, text: str) -> None:
  """Writes a text into axes that have nothing to draw."""
  axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center")
