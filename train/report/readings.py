"""Ranks readings of a paper: ways to settle what the paper leaves open."""

from collections.abc import Iterator, Sequence
import dataclasses
import math

from train.report import comparison
from train.report import papers
from train.report import runs as runs_lib

__all__ = ["Place", "Ranking", "RankingDrawing", "Reading", "gather"]

# A difference with a smaller p is significant.
SIGNIFICANCE = 0.05


@dataclasses.dataclass(frozen=True)
class Place:
  """A row of a paper's table, for one game.

  Attributes:
    table: the table's number.
    row: the row's name.
    game: the game of the columns, if the table has columns for several games.
  """

  table: str
  row: str
  game: str | None


@dataclasses.dataclass(frozen=True)
class Reading:
  """The runs of one reading next to the paper's tables.

  Attributes:
    name: its name, with the directory of its runs if another has the same name.
    sections: the tables it has runs for, including rows that were not run.
  """

  name: str
  sections: tuple[comparison.Section, ...]

  @property
  def entries(self) -> dict[Place, comparison.Entry]:
    """The rows that were run, in the paper's order."""
    return {
      Place(section.table, entry.row, entry.game): entry
      for section in self.sections
      for entry in section.entries
      if section.table is not None and entry.record is not None
    }

  @property
  def differences(self) -> dict[tuple[Place, str], float]:
    """Our means minus the paper's where both exist, by place and column."""
    return {
      (place, column): cell.against_paper.difference
      for place, entry in self.entries.items()
      for column, cell in entry.cells.items()
      if cell.against_paper.difference is not None
    }

  @property
  def distance(self) -> float | None:
    """The root mean square of the differences; None if there are none."""
    return _distance(list(self.differences.values()))

  @property
  def by_table(self) -> dict[str, float | None]:
    """The distance in each of its tables."""
    found: dict[str, list[float]] = {place.table: [] for place in self.entries}
    for (place, _), difference in self.differences.items():
      found[place.table].append(difference)
    return {table: _distance(of_table) for table, of_table in found.items()}

  @property
  def num_tested(self) -> int:
    """The number of differences that can be tested."""
    return len(self._p_values)

  @property
  def num_agreeing(self) -> int:
    """The number of tested differences that are not significant."""
    return sum(p >= SIGNIFICANCE for p in self._p_values)

  @property
  def is_complete(self) -> bool:
    """Whether further training can no longer change any of its numbers."""
    return all(cell.is_complete for cell in self._cells)

  @property
  def _cells(self) -> list[comparison.Cell]:
    entries = self.entries.values()
    return [cell for entry in entries for cell in entry.cells.values()]

  @property
  def _p_values(self) -> list[float]:
    tests = (cell.against_paper for cell in self._cells)
    return [test.p for test in tests if test.p is not None]


@dataclasses.dataclass(frozen=True)
class Ranking:
  """The readings of one paper.

  Attributes:
    paper: the paper.
    readings: from the nearest to the farthest; those without numbers are last.
  """

  paper: papers.Paper
  readings: tuple[Reading, ...]

  @property
  def places(self) -> tuple[Place, ...]:
    """The places for which any reading has a run, in the paper's order."""
    found = {place for reading in self.readings for place in reading.entries}

    def in_paper(place: Place) -> tuple[int, int, int]:
      table = self.paper.tables[place.table]
      game = table.games.index(place.game) if place.game is not None else 0
      tables, rows = list(self.paper.tables), list(table.rows)
      return tables.index(place.table), rows.index(place.row), game

    return tuple(sorted(found, key=in_paper))

  @property
  def is_comparable(self) -> bool:
    """Whether all readings have the same numbers to compare."""
    return len({frozenset(reading.differences) for reading in self.readings}) == 1

  @property
  def unit(self) -> str:
    """The unit of distances and differences."""
    columns = [
      column for place in self.places for column in self.columns(place).values()
    ]
    is_share = all("%" in column.title for column in columns)
    return "percentage points" if is_share else "the tables' units"

  @property
  def drawing(self) -> "RankingDrawing":
    """The figure of all differences."""
    name = f"{self.paper.name}_readings"
    return RankingDrawing(name, "Readings, nearest first", self)

  def columns(self, place: Place) -> dict[str, papers.Column]:
    """Returns the columns of a place by name."""
    columns = self.paper.tables[place.table].columns.items()
    return {name: column for name, column in columns if column.game == place.game}

  def label(self, place: Place) -> str:
    """Returns a place's label: table, row and, if there are several, game.

    Args:
      place: one of `places`.
    """
    label = f"Table {place.table}, {self.paper.tables[place.table].rows[place.row]}"
    return label if place.game is None else f"{label}, {place.game}"


@dataclasses.dataclass(frozen=True)
class RankingDrawing(comparison.Drawing):
  """A figure of all differences of some readings.

  Attributes:
    ranking: the readings.
  """

  ranking: Ranking


def gather(runs: Sequence[runs_lib.Run]) -> tuple[Ranking, ...]:
  """Ranks the readings of each paper.

  Args:
    runs: all runs; those that are not in a reading are ignored.

  Raises:
    ValueError: if a run names a paper, table, row or metric that does not exist.
  """
  by_paper: dict[str, dict[str, list[runs_lib.Record]]] = {}
  for run in runs:
    for record in run.records:
      if record.paper is not None and record.paper.reading is not None:
        of_paper = by_paper.setdefault(record.paper.name, {})
        of_paper.setdefault(record.paper.reading, []).append(record)
  rankings = {}
  for name, of_paper in by_paper.items():
    readings = [
      reading
      for reading_name, of_reading in of_paper.items()
      for reading in _readings(reading_name, of_reading)
    ]
    rankings[name] = sorted(readings, key=_rank)
  return tuple(
    Ranking(papers.load(name), tuple(rankings[name]))
    for name in papers.names()
    if name in rankings
  )


def _readings(name: str, of_reading: Sequence[runs_lib.Record]) -> Iterator[Reading]:
  """Yields the readings of one name: a single one, or one per directory of runs.

  If no row was run twice, all runs are one reading, wherever they are. Otherwise
  several sweeps tried the same reading, perhaps with more games, and are kept apart.
  """
  whole = Reading(name, comparison.of_papers(of_reading))
  if not _duplicates(whole):
    yield whole
    return
  parents = [record.run.files.path.resolve().parent for record in of_reading]
  distinct = list(dict.fromkeys(parents))
  ends = runs_lib.shortest_unique_ends(distinct)
  for directory, end in zip(distinct, ends, strict=True):
    inside = [
      record
      for record, parent in zip(of_reading, parents, strict=True)
      if parent == directory
    ]
    part = Reading(f"{name} ({end})", comparison.of_papers(inside))
    duplicates = _duplicates(part)
    if duplicates:
      raise ValueError(
        f"reading {name!r} has more than one run of the same row: "
        f"{', '.join(duplicates)}; move one to another directory"
      )
    yield part


def _duplicates(reading: Reading) -> list[str]:
  """Returns the labels of the runs of a row that was run twice; empty if none was."""
  found: dict[Place, list[str]] = {}
  for section in reading.sections:
    for entry in section.entries:
      if section.table is not None and entry.record is not None:
        place = Place(section.table, entry.row, entry.game)
        found.setdefault(place, []).append(entry.record.label)
  return next((labels for labels in found.values() if len(labels) > 1), [])


def _rank(reading: Reading) -> float:
  return math.inf if reading.distance is None else reading.distance


def _distance(differences: Sequence[float]) -> float | None:
  if not differences:
    return None
  return math.sqrt(sum(number**2 for number in differences) / len(differences))
