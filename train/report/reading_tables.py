"""The tables of a ranking of readings: their distances and their numbers."""

from collections.abc import Iterable, Iterator
import itertools

from train.report import comparison
from train.report import readings
from train.report import runs as runs_lib
from train.report import section_tables
from train.report import tables

__all__ = ["of_ranking"]

# One more than most numbers have, as distances may be close to each other.
DIGITS = 2
THE_PAPER = "the paper"


def of_ranking(ranking: readings.Ranking) -> Iterator[tables.Table]:
  """Yields the table of distances, then the tables of the numbers behind them."""
  yield _distances(ranking)
  by_columns = itertools.groupby(
    ranking.places, lambda place: tuple(ranking.columns(place))
  )
  for columns, places in by_columns:
    yield _numbers(ranking, columns, list(places))


def _distances(ranking: readings.Ranking) -> tables.Table:
  numbers = list(dict.fromkeys(place.table for place in ranking.places))
  rows = []
  for reading in ranking.readings:
    by_table = reading.by_table
    ran = [entry.record for entry in reading.entries.values() if entry.record]
    share = f"{reading.num_agreeing} of {reading.num_tested}"
    rows.append(
      (
        _label(reading),
        _format_distance(reading.distance),
        *(_format_distance(by_table.get(number)) for number in numbers),
        str(len(reading.differences)),
        share if reading.num_tested else section_tables.NOTHING,
        _format_range(len(record.trials) for record in ran),
        _format_range(map(_num_games, ran)),
      )
    )
  tables_of_paper = (f"table {number}" for number in numbers)
  test = f"p >= {readings.SIGNIFICANCE}"
  return tables.Table(
    title="Readings, nearest first",
    columns=("", "distance", *tables_of_paper, "numbers", test, "trials", "games"),
    groups=(tables.Group("", tuple(rows)),),
    notes=tuple(_notes(ranking)),
  )


def _numbers(
  ranking: readings.Ranking, columns: tuple[str, ...], places: list[readings.Place]
) -> tables.Table:
  """Returns the numbers of places with the same columns, one group per place."""
  groups = []
  for place in places:
    rows = [(THE_PAPER, *_paper_numbers(ranking, place))]
    for reading in ranking.readings:
      entry = reading.entries.get(place)
      if entry is not None:
        rows.append((_label(reading, entry), *_our_numbers(ranking, place, entry)))
    groups.append(tables.Group(ranking.label(place), tuple(rows)))
  described = ranking.columns(places[0]).items()
  titles = "; ".join(f"{name}: {column.title}" for name, column in described)
  return tables.Table(
    title="The numbers of the readings",
    columns=("", *columns),
    groups=tuple(groups),
    notes=(f"Mean ± standard deviation over trials. {titles}.",),
  )


def _paper_numbers(ranking: readings.Ranking, place: readings.Place) -> Iterator[str]:
  table = ranking.paper.tables[place.table]
  for name, column in ranking.columns(place).items():
    yield section_tables.format_spread(table.value(place.row, name), column.digits)


def _our_numbers(
  ranking: readings.Ranking, place: readings.Place, entry: comparison.Entry
) -> Iterator[str]:
  for name, column in ranking.columns(place).items():
    yield section_tables.format_spread(entry.cells[name].ours, column.digits)


def _notes(ranking: readings.Ranking) -> Iterator[str]:
  """Yields the notes below the table of distances."""
  yield (
    "Distance: the root mean square of the differences between our means and the "
    f"paper's, over all numbers of a reading, in {ranking.unit}."
  )
  yield (
    f"p >= {readings.SIGNIFICANCE}: how many of the differences that can be tested are "
    "not significant by Welch's t-test."
  )
  if not ranking.is_comparable:
    yield (
      "Not all readings have the same numbers: distances are comparable only between "
      "those that do."
    )
  entries = [
    (f"{reading.name}, {ranking.label(place)}", entry)
    for reading in ranking.readings
    for place, entry in reading.entries.items()
  ]
  yield from section_tables.trial_notes(entries)
  yield from section_tables.deviation_notes(
    (reading.name, entry)
    for reading in ranking.readings
    for entry in reading.entries.values()
  )


def _label(reading: readings.Reading, entry: comparison.Entry | None = None) -> str:
  """Returns a reading's name, with the marks of the reading, or of its entry."""
  entries = reading.entries.values() if entry is None else [entry]
  cells = [cell for found in entries for cell in found.cells.values()]
  is_complete = all(cell.is_complete for cell in cells)
  mark = "" if is_complete else section_tables.UNFINISHED
  deviates = any(found.deviations for found in entries)
  return reading.name + mark + (section_tables.DEVIATING if deviates else "")


def _num_games(record: runs_lib.Record) -> int:
  """Returns the games of each trial; of a finished run as many as planned."""
  # A finished run may have played a few more, as the last test waits for whole games.
  status = record.run.status
  return status.games_wanted if status.is_finished else record.run.games_done


def _format_distance(distance: float | None) -> str:
  return section_tables.NOTHING if distance is None else f"{distance:,.{DIGITS}f}"


def _format_range(numbers: Iterable[int]) -> str:
  distinct = sorted(set(numbers))
  if len(distinct) < 2:
    return f"{distinct[0]:,}"
  return f"{distinct[0]:,} to {distinct[-1]:,}"
