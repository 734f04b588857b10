"""Sets runs beside the rows of papers' tables."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import itertools
import re

from train.report import papers
from train.report import runs as records
from train.report import statistics

__all__ = ["Cell", "Drawing", "Entry", "Section", "gather", "of_papers"]

# What is said of runs that stand for no paper's row.
PLAIN_COLUMNS = {
  "peak": papers.Column(title="Peak score %", statistic="peak", scale=100),
  "end": papers.Column(title="End score %", statistic="end", scale=100),
}

PLAIN_PLOT = papers.Curve(y_label="Score %", scale=100, bounds=(0, 100))


@dataclasses.dataclass(frozen=True)
class Cell:
  """One of a run's numbers beside the paper's.

  Attributes:
    ours: the summary over the run's trials.
    is_complete: whether more training can no longer change it.
    paper: the paper's number, if it has one.
    against_paper: whether the two differ.
    has_paper_inside: whether the paper's mean lies in our interval; none if one of
      them is missing.
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
    label: what it is called in tables and figures.
    game: whose columns it has, if the table has columns for several games.
    record: the trials that stand for it; none if there are none yet.
    cells: its numbers, by column.
  """

  row: str
  label: str
  game: str | None
  record: records.Record | None
  cells: dict[str, Cell]


@dataclasses.dataclass(frozen=True)
class Drawing:
  """A figure of some rows.

  Attributes:
    name: its file's name without the ending.
    title: its heading.
    plot: what is drawn.
    entries: whose numbers, in the order of their colours.
    columns: those of the table, which a plot may name.
  """

  name: str
  title: str
  plot: papers.Plot
  entries: tuple[Entry, ...]
  columns: dict[str, papers.Column]


@dataclasses.dataclass(frozen=True)
class Section:
  """A table of a paper with our runs beside it, or runs that have no paper.

  Attributes:
    title: what it shows.
    paper: the paper; none for runs without.
    table: the table's number in the paper; none for runs without.
    columns: what is computed, of the games that were run.
    entries: the rows, in the paper's order.
    drawings: the figures of its runs.
  """

  title: str
  paper: papers.Paper | None
  table: str | None
  columns: dict[str, papers.Column]
  entries: tuple[Entry, ...]
  drawings: tuple[Drawing, ...]

  @property
  def has_numbers(self) -> bool:
    """Whether the paper has any number to set ours beside."""
    cells = [cell for entry in self.entries for cell in entry.cells.values()]
    return any(cell.paper is not None for cell in cells)

  def comparisons(
    self, column: str
  ) -> Iterator[tuple[int, int, statistics.Comparison]]:
    """Yields Welch's t-test of one column for each pair of rows that were run."""
    ran = [
      (number, entry.cells[column].ours)
      for number, entry in enumerate(self.entries)
      if entry.record is not None and column in entry.cells
    ]
    for (first, ours), (second, others) in itertools.combinations(ran, 2):
      yield first, second, statistics.compare(ours, others)


def gather(runs: Sequence[records.Run]) -> tuple[Section, ...]:
  """Returns the sections of all runs but those in one of several readings.

  Raises:
    ValueError: if a run names a paper, table, row or metric that does not exist.
  """
  of_rows: list[records.Record] = []
  by_game: dict[str, list[records.Record]] = {}
  for record in itertools.chain.from_iterable(run.records for run in runs):
    if record.paper is None:
      by_game.setdefault(record.run.game, []).append(record)
    elif record.paper.reading is None:
      of_rows.append(record)
  plain = [_plain_section(game, of_game) for game, of_game in by_game.items()]
  return (*of_papers(of_rows), *plain)


def of_papers(of_rows: Iterable[records.Record]) -> tuple[Section, ...]:
  """Returns a section for each table of a paper that some trials stand for.

  Args:
    of_rows: trials that stand for a row of a paper.

  Raises:
    ValueError: as in `gather`.
  """
  by_table: dict[tuple[str, str], list[records.Record]] = {}
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
  run: records.Run, paper: records.PaperReference, number: str
) -> None:
  try:
    papers.load(paper.name).find(number, paper.row, run.game)
  except ValueError as error:
    raise ValueError(f"{run.files.config}: paper: {error}") from error


def _paper_section(
  paper: papers.Paper, number: str, of_table: Sequence[records.Record]
) -> Section:
  """Sets trials beside one table; several runs of the same row each get a line."""
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
    Drawing(
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
  table: papers.Table, row: str, game: str | None, of_table: Sequence[records.Record]
) -> Iterator[Entry]:
  """Yields the lines of one row for one game.

  If nobody ran it there is one without trials, unless the row is only ours.
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
    yield Entry(row, full_label, game, record, _cells(record, table, row, game))
  if not found and table.values.get(row):
    yield Entry(row, label, game, None, _cells(None, table, row, game))


def _plain_section(game: str, of_game: Sequence[records.Record]) -> Section:
  """Says of trials of one game what can be said without a paper."""
  table = papers.Table(
    title=f"Runs of {game}",
    trials=1,
    rows={record.label: record.label for record in of_game},
    columns=PLAIN_COLUMNS,
    values={},
  )
  entries = [
    Entry(label, label, None, record, _cells(record, table, label, None))
    for record, label in zip(of_game, table.rows, strict=True)
  ]
  drawings = [
    Drawing(
      # Markdown links to the file, so nothing in its name may need an escape.
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
  record: records.Record | None, table: papers.Table, row: str, game: str | None
) -> dict[str, Cell]:
  """Computes those columns of a table that are for a game."""
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
    has_paper_inside = (
      statistics.contains(ours, paper.mean, digits=column.digits) if paper else None
    )
    against_paper = statistics.compare(ours, theirs)
    cells[name] = Cell(ours, is_complete, paper, against_paper, has_paper_inside)
  return cells


def _measure(
  record: records.Record | None, column: papers.Column
) -> tuple[statistics.Summary, bool]:
  """Summarizes one statistic over trials, and says whether it is complete."""
  curves = record.curves(column.metric) if record is not None else {}
  statistic_fn = statistics.STATISTICS[column.statistic]
  measurements = [statistic_fn(curve) for curve in curves.values()]
  summary = statistics.summarize([column.scale * m.value for m in measurements])
  is_complete = bool(measurements) and all(m.is_complete for m in measurements)
  return summary, is_complete
