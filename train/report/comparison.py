"""Compares runs with the rows of papers' tables."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import itertools
import re

from train.report import deviations
from train.report import papers
from train.report import runs as runs_lib
from train.report import statistics

__all__ = [
  "Cell",
  "Drawing",
  "Entry",
  "RowsDrawing",
  "Section",
  "gather",
  "of_papers",
]

# The columns and the plot of runs without a paper.
PLAIN_COLUMNS = {
  "peak": papers.Column(title="Peak score %", statistic="peak", scale=100),
  "end": papers.Column(title="End score %", statistic="end", scale=100),
}

# Why there is no test against the paper where our trials deviate.
DEVIATES = "a row is not made as the paper's"

PLAIN_PLOT = papers.Curve(y_label="Score %", scale=100, bounds=(0, 100))


@dataclasses.dataclass(frozen=True)
class Cell:
  """One of our numbers next to the paper's.

  Attributes:
    ours: the summary over our trials.
    is_complete: whether further training can no longer change it.
    paper: the paper's number, if it has one.
    against_paper: the test of whether the two differ; none if our trials were made
      otherwise.
    has_paper_inside: whether the paper's mean lies in our interval; None if either is
      missing, or our trials were made otherwise.
  """

  ours: statistics.Summary
  is_complete: bool
  paper: papers.Value | None
  against_paper: statistics.Comparison
  has_paper_inside: bool | None


@dataclasses.dataclass(frozen=True)
class Entry:
  """A row of a section.

  Attributes:
    row: the row's name.
    label: its label in tables and figures.
    game: the game of its columns, if the table has columns for several games.
    record: the trials of this row; None if it was not run.
    deviations: how they were made otherwise than the paper's row.
    cells: its numbers, by column.
  """

  row: str
  label: str
  game: str | None
  record: runs_lib.Record | None
  deviations: tuple[str, ...]
  cells: dict[str, Cell]


@dataclasses.dataclass(frozen=True)
class Drawing:
  """What a figure shows.

  Attributes:
    name: its file's name without the suffix.
    title: its heading.
  """

  name: str
  title: str


@dataclasses.dataclass(frozen=True)
class RowsDrawing(Drawing):
  """A figure of the rows of a section.

  Attributes:
    plot: how they are drawn.
    entries: the rows, in the order of their colours.
    columns: the table's columns, which a plot may refer to.
  """

  plot: papers.Plot
  entries: tuple[Entry, ...]
  columns: dict[str, papers.Column]


@dataclasses.dataclass(frozen=True)
class Section:
  """A paper's table next to our runs, or the runs of a game without a paper.

  Attributes:
    title: the heading.
    paper: the paper; None for runs without one.
    table: the table's number in the paper; None for runs without one.
    columns: the table's columns, for the games that were run.
    entries: the rows, in the paper's order.
    drawings: the figures of its runs.
  """

  title: str
  paper: papers.Paper | None
  table: str | None
  columns: dict[str, papers.Column]
  entries: tuple[Entry, ...]
  drawings: tuple[RowsDrawing, ...]

  @property
  def has_numbers(self) -> bool:
    """Whether the paper has any number to compare with."""
    cells = [cell for entry in self.entries for cell in entry.cells.values()]
    return any(cell.paper is not None for cell in cells)

  def comparisons(
    self, column: str
  ) -> Iterator[tuple[int, int, statistics.Comparison]]:
    """Yields Welch's t-test of one column for each pair of rows that were run.

    The p-values are corrected for the number of pairs, by Holm's method.
    """
    ran = [
      (number, entry.cells[column].ours)
      for number, entry in enumerate(self.entries)
      if entry.record is not None and column in entry.cells
    ]
    pairs = list(itertools.combinations(ran, 2))
    tests = [statistics.compare(ours, others) for (_, ours), (_, others) in pairs]
    corrected = statistics.correct(tests)
    for ((first, _), (second, _)), test in zip(pairs, corrected, strict=True):
      yield first, second, test


def gather(runs: Sequence[runs_lib.Run]) -> tuple[Section, ...]:
  """Returns the sections of all runs that are not in a reading.

  Raises:
    ValueError: if a run names a paper, table, row or metric that does not exist.
  """
  of_rows: list[runs_lib.Record] = []
  by_game: dict[str, list[runs_lib.Record]] = {}
  for record in itertools.chain.from_iterable(run.records for run in runs):
    if record.paper is None:
      by_game.setdefault(record.run.game, []).append(record)
    elif record.paper.reading is None:
      of_rows.append(record)
  plain = [_plain_section(game, of_game) for game, of_game in by_game.items()]
  return (*of_papers(of_rows), *plain)


def of_papers(of_rows: Iterable[runs_lib.Record]) -> tuple[Section, ...]:
  """Returns a section for each table of which a row was run.

  Args:
    of_rows: trials that reproduce a row of a paper.

  Raises:
    ValueError: as in `gather`.
  """
  by_table: dict[tuple[str, str], list[runs_lib.Record]] = {}
  for record in of_rows:
    assert record.paper is not None
    for table in record.paper.tables:
      _check_reference(record.run, record.paper, table)
      by_table.setdefault((record.paper.name, table), []).append(record)
  return tuple(
    _paper_section(papers.load(name), table, by_table[name, table])
    for name in papers.names()
    for table in papers.load(name).tables
    if (name, table) in by_table
  )


def _check_reference(
  run: runs_lib.Run, paper: runs_lib.PaperReference, number: str
) -> None:
  try:
    papers.load(paper.name).find(number, paper.row, run.game)
  except ValueError as error:
    raise ValueError(f"{run.files.config}: paper: {error}") from error


def _paper_section(
  paper: papers.Paper, number: str, of_table: Sequence[runs_lib.Record]
) -> Section:
  """Compares trials with one table; several runs of a row have an entry each."""
  table = paper.tables[number]
  ran = {record.run.game for record in of_table}
  # Either all columns of a table are for some game, or none is.
  games: list[str | None] = [game for game in table.games if game in ran]
  games = games or [None]
  entries: list[Entry] = []
  for row, game in itertools.product(table.rows, games):
    entries += _entries(table, row, game, of_table)
  columns = {
    name: column for name, column in table.columns.items() if column.game in games
  }
  drawings = [
    RowsDrawing(
      name=f"{paper.name}_figure_{key}",
      title=f"Figure {key}. {figure.title}",
      plot=figure.plot,
      entries=tuple(entry for entry in entries if entry.game == figure.game),
      columns=columns,
    )
    for key, figure in paper.figures.items()
    if figure.table == number and figure.game in games
  ]
  return Section(
    title=f"Table {number}. {table.title}",
    paper=paper,
    table=number,
    columns=columns,
    entries=tuple(entries),
    drawings=tuple(drawings),
  )


def _entries(
  table: papers.Table, row: str, game: str | None, of_table: Sequence[runs_lib.Record]
) -> Iterator[Entry]:
  """Yields the entries of one row for one game.

  A row that was not run has an entry without trials if the paper has numbers for it.
  """
  label = table.rows[row]
  found = [
    record
    for record in of_table
    if record.paper is not None
    and record.paper.row == row
    and game in (None, record.run.game)
  ]
  for record in found:
    full_label = label if len(found) == 1 else f"{label} ({record.label})"
    found_deviations = deviations.find(record, table, row)
    cells = _cells(record, table, row, game, is_comparable=not found_deviations)
    yield Entry(row, full_label, game, record, found_deviations, cells)
  if not found and table.values.get(row):
    yield Entry(row, label, game, None, (), _cells(None, table, row, game))


def _plain_section(game: str, of_game: Sequence[runs_lib.Record]) -> Section:
  """Returns a section for trials of one game without a paper."""
  table = papers.Table(
    title=f"Runs of {game}",
    trials=1,
    rows={record.label: record.label for record in of_game},
    columns=PLAIN_COLUMNS,
    values={},
  )
  entries = [
    Entry(label, label, None, record, (), _cells(record, table, label, None))
    for record, label in zip(of_game, table.rows, strict=True)
  ]
  drawings = [
    RowsDrawing(
      # Markdown links to the file, so its name must not need escapes.
      name="curve_" + re.sub(r"[^\w.-]", "_", entry.label),
      title=f"{game}: {entry.label}",
      plot=PLAIN_PLOT,
      entries=(entry,),
      columns=PLAIN_COLUMNS,
    )
    for entry in entries
  ]
  return Section(
    title=table.title,
    paper=None,
    table=None,
    columns=PLAIN_COLUMNS,
    entries=tuple(entries),
    drawings=tuple(drawings),
  )


def _cells(
  record: runs_lib.Record | None,
  table: papers.Table,
  row: str,
  game: str | None,
  *,
  is_comparable: bool = True,
) -> dict[str, Cell]:
  """Returns the cells of a row in the columns for a game."""
  cells = {}
  for name, column in table.columns.items():
    if column.game != game:
      continue
    ours, is_complete = _measure(record, column)
    paper = table.value(row, name)
    theirs = statistics.Summary(
      mean=paper.mean if paper else None,
      sd=paper.sd if paper else None,
      n=table.trials,
    )
    against_paper, has_paper_inside = statistics.compare(ours, theirs), None
    if not is_comparable:
      against_paper = dataclasses.replace(against_paper, p=None, reason=DEVIATES)
    elif paper is not None:
      has_paper_inside = statistics.contains(ours, paper.mean, digits=column.digits)
    cells[name] = Cell(ours, is_complete, paper, against_paper, has_paper_inside)
  return cells


def _measure(
  record: runs_lib.Record | None, column: papers.Column
) -> tuple[statistics.Summary, bool]:
  """Summarizes a statistic over trials; also returns whether it is complete."""
  curves = record.curves(column.metric) if record is not None else {}
  statistic_fn = statistics.STATISTICS[column.statistic]
  measurements = [statistic_fn(curve) for curve in curves.values()]
  summary = statistics.summarize([column.scale * m.value for m in measurements])
  is_complete = bool(measurements) and all(m.is_complete for m in measurements)
  return summary, is_complete
