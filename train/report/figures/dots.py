"""Draws a ranking of readings: a dot for each difference from the paper's numbers."""

from collections.abc import Iterable, Iterator
import dataclasses
from typing import Any

import matplotlib.figure
import matplotlib.lines

from train.report import readings
from train.report.figures import style

__all__ = ["draw"]

# The colour shows the paper's row, the marker its table, the filling its column.
MARKERS = ("o", "s", "^", "D", "v", "P")
FILLINGS = ("none", "full", "left", "right", "top", "bottom")
# Larger, so that a hollow dot is a ring around a filled one at the same place.
HOLLOW_SIZE, FILLED_SIZE = 7.5, 4.5

# Heights in inches: of a place in a reading, of a reading at least, of a line of the
# legend, of everything around the axes.
LINE_HEIGHT = 0.13
LEAST_HEIGHT = 0.34
LEGEND_HEIGHT = 0.24
FRAME_HEIGHT = 1.7
WIDTH = 10.0
# The share of a reading's height that its places take.
FILLED = 0.8


@dataclasses.dataclass(frozen=True)
class _PlaceStyle:
  """How the differences of one place are drawn.

  Attributes:
    label: the place's name in the legend.
    colour: the colour of the paper's row.
    marker: the marker of the table, and of the game if there are several.
    offset: the distance of its line from the middle of a reading.
  """

  label: str
  colour: str
  marker: str
  offset: float


def draw(figure: matplotlib.figure.Figure, drawing: readings.RankingDrawing) -> None:
  """Draws a line of dots for each reading and place, the nearest reading on top."""
  ranking = drawing.ranking
  styles = _place_styles(ranking)
  height = max(LEAST_HEIGHT, LINE_HEIGHT * len(styles)) * len(ranking.readings)
  height = max(height, LEGEND_HEIGHT * len(styles))
  figure.set_size_inches(WIDTH, FRAME_HEIGHT + height)
  axes = figure.subplots()
  for number, reading in enumerate(ranking.readings):
    if number % 2:
      axes.axhspan(number - 0.5, number + 0.5, color="#f5f5f5", linewidth=0, zorder=0)
    _draw_reading(axes, ranking, reading, number, styles)
  _set_axes(axes, ranking)
  if not any(reading.differences for reading in ranking.readings):
    style.say(axes, "no test yet")
    return
  handles = [*_place_handles(styles.values()), *_column_handles(ranking)]
  figure.legend(handles=handles, loc="outside right upper", fontsize="small")
  style.explain(figure, _explanation(ranking))


def _place_styles(ranking: readings.Ranking) -> dict[readings.Place, _PlaceStyle]:
  places = ranking.places
  kinds = list(dict.fromkeys((place.table, place.game) for place in places))
  step = FILLED / max(1, len(places))
  styles = {}
  for number, place in enumerate(places):
    row = list(ranking.paper.tables[place.table].rows).index(place.row)
    styles[place] = _PlaceStyle(
      label=ranking.label(place),
      colour=style.colour(row),
      marker=MARKERS[kinds.index((place.table, place.game)) % len(MARKERS)],
      offset=step * (number - (len(places) - 1) / 2),
    )
  return styles


def _draw_reading(
  axes: Any,
  ranking: readings.Ranking,
  reading: readings.Reading,
  number: int,
  styles: dict[readings.Place, _PlaceStyle],
) -> None:
  differences = reading.differences
  for place, place_style in styles.items():
    columns = list(ranking.columns(place))
    dots = {
      column: differences[place, column]
      for column in columns
      if (place, column) in differences
    }
    if not dots:
      continue
    height = number + place_style.offset
    # Dots of one row are joined, as many dots may be close to each other.
    ends = min(dots.values()), max(dots.values())
    axes.plot(ends, [height] * 2, color=place_style.colour, linewidth=1, alpha=0.5)
    for column, difference in dots.items():
      options = _dot_options(
        place_style.marker, place_style.colour, columns.index(column)
      )
      axes.plot(difference, height, **options)


def _dot_options(marker: str, colour: str, column: int) -> dict[str, Any]:
  """Returns matplotlib's options of a dot, by the index of its column."""
  filling = FILLINGS[column % len(FILLINGS)]
  is_hollow = filling == "none"
  return {
    "linestyle": "none",
    "marker": marker,
    "markersize": HOLLOW_SIZE if is_hollow else FILLED_SIZE,
    "zorder": 3 if is_hollow else 4,
    "color": colour,
    # White, not transparent, so that it hides the line behind it.
    "fillstyle": "full" if is_hollow else filling,
    "markerfacecolor": "white" if is_hollow else colour,
    "markerfacecoloralt": "white",
  }


def _set_axes(axes: Any, ranking: readings.Ranking) -> None:
  """Sets limits and labels."""
  axes.axvline(0, color="black", linewidth=1, zorder=1)
  labels = [_label(reading) for reading in ranking.readings]
  axes.set_yticks(range(len(labels)), labels)
  axes.set_ylim(len(labels) - 0.5, -0.5)
  axes.tick_params(axis="y", left=False)
  axes.grid(visible=False, axis="y")
  axes.set_xlabel(f"Ours minus the paper's, in {ranking.unit}")


def _label(reading: readings.Reading) -> str:
  """Returns a reading's name and its distance."""
  distance = reading.distance
  if distance is None:
    return f"{reading.name} (no test yet)"
  star = "" if reading.is_complete else "*"
  return f"{reading.name}{star} ({style.format_number(distance)})"


def _place_handles(styles: Iterable[_PlaceStyle]) -> Iterator[matplotlib.lines.Line2D]:
  filled = FILLINGS.index("full")
  for place_style in styles:
    options = _dot_options(place_style.marker, place_style.colour, filled)
    yield matplotlib.lines.Line2D([], [], label=place_style.label, **options)


def _column_handles(ranking: readings.Ranking) -> Iterator[matplotlib.lines.Line2D]:
  """Yields the legend of fillings, once for tables with the same columns."""
  titles = {
    (number, column.title)
    for place in ranking.places
    for number, column in enumerate(ranking.columns(place).values())
  }
  for number, title in sorted(titles):
    options = _dot_options("o", "#555555", number)
    yield matplotlib.lines.Line2D([], [], label=title, **options)


def _explanation(ranking: readings.Ranking) -> Iterator[str]:
  """Yields sentences that explain dots and numbers."""
  yield "Dots: means over trials, joined for each row."
  yield "In brackets: the distance."
  if not ranking.is_comparable:
    yield "Not all have the same numbers."
  if not all(reading.is_complete for reading in ranking.readings):
    yield "* Training is unfinished."
