"""Sets runs beside the rows of papers' tables: the contents of a report."""

from collections.abc import Iterator, Sequence
import dataclasses
import itertools
import re

from train import papers
from train import records
from train import statistics

__all__ = ["Cell", "Drawing", "Entry", "Report", "Section", "gather"]

# What is said of runs that stand for no paper's row.
PLAIN_COLUMNS = {
  "peak": papers.Column(title="Peak score %", statistic="peak", scale=100),
  "end": papers.Column(title="End score %", statistic="end", scale=100),
}

PLAIN_PLOT = papers.Plot(title="", y_label="Score %", scale=100, bounds=(0, 100))


@dataclasses.dataclass(frozen=True)
class Cell:
  """One of a run's numbers beside the paper's.

  Attributes:
    ours: the summary over the run's trials.
    is_complete: whether more training can no longer change it.
    paper: the paper's number, if it has one.
    against_paper: whether the two differ.
  """

  ours: statistics.Summary
  is_complete: bool
  paper: papers.Value | None
  against_paper: statistics.Comparison


@dataclasses.dataclass(frozen=True)
class Entry:
  """A row of a section.

  Attributes:
    row: the row's name.
    label: what it is called in tables and figures.
    run: the run that stands for it; none if there is none yet.
    cells: its numbers, by column.
  """

  row: str
  label: str
  run: records.Record | None
  cells: dict[str, Cell]


@dataclasses.dataclass(frozen=True)
class Drawing:
  """A figure of some runs.

  Attributes:
    name: its file's name without the ending.
    title: its heading.
    plot: what is drawn.
    entries: whose curves, in the order of their colours.
    reference: the column whose numbers in the paper are marked, if any.
  """

  name: str
  title: str
  plot: papers.Plot
  entries: tuple[Entry, ...]
  reference: papers.Column | None = None


@dataclasses.dataclass(frozen=True)
class Section:
  """A table of a paper with our runs beside it, or runs that have no paper.

  Attributes:
    title: what it shows.
    paper: the paper; none for runs without.
    table: the table's number in the paper; none for runs without.
    columns: what is computed from each run.
    entries: the rows, in the paper's order.
    drawings: the figures of its runs.
  """

  title: str
  paper: papers.Paper | None
  table: str | None
  columns: dict[str, papers.Column]
  entries: tuple[Entry, ...]
  drawings: tuple[Drawing, ...]

  def comparisons(
    self, column: str
  ) -> Iterator[tuple[int, int, statistics.Comparison]]:
    """Yields Welch's t-test of one column for each pair of rows that have a run."""
    ran = [
      (number, entry.cells[column].ours)
      for number, entry in enumerate(self.entries)
      if entry.run is not None and column in entry.cells
    ]
    for (first, ours), (second, others) in itertools.combinations(ran, 2):
      yield first, second, statistics.compare(ours, others)


@dataclasses.dataclass(frozen=True)
class Report:
  """All that a report says.

  Attributes:
    runs: the runs, as they were found.
    sections: what is said of them; every run is in at least one.
  """

  runs: tuple[records.Record, ...]
  sections: tuple[Section, ...]


def gather(runs: Sequence[records.Record]) -> Report:
  """Computes everything that a report says of some runs.

  Raises:
    ValueError: if a run names a paper, table, row or metric that does not exist.
  """
  by_table: dict[tuple[str, str], list[records.Record]] = {}
  by_game: dict[str, list[records.Record]] = {}
  for run in runs:
    if run.paper is None:
      by_game.setdefault(run.game, []).append(run)
      continue
    for table in run.paper.tables:
      _check_reference(run, run.paper.name, table, run.paper.row)
      by_table.setdefault((run.paper.name, table), []).append(run)
  sections = [
    _paper_section(papers.load(name), table, by_table[name, table])
    for name in papers.names()
    for table in papers.load(name).tables
    if (name, table) in by_table
  ]
  sections += [_plain_section(game, of_game) for game, of_game in by_game.items()]
  return Report(runs=tuple(runs), sections=tuple(sections))


def _check_reference(run: records.Record, paper: str, table: str, row: str) -> None:
  try:
    papers.load(paper).find(table, row)
  except ValueError as error:
    raise ValueError(f"{run.files.config}: paper: {error}") from error


def _paper_section(
  paper: papers.Paper, number: str, runs: Sequence[records.Record]
) -> Section:
  """Sets runs beside one table; several for the same row each get a line."""
  table = paper.tables[number]
  entries: list[Entry] = []
  for row, label in table.rows.items():
    of_row = [run for run in runs if run.paper is not None and run.paper.row == row]
    entries += [
      Entry(row, _label(label, run, of_row), run, _cells(run, table, row))
      for run in of_row
    ] or [Entry(row, label, None, _cells(None, table, row))]
  drawings = [
    Drawing(
      name=f"{paper.name}_figure_{key}",
      title=f"Figure {key}. {figure.title}",
      plot=figure,
      entries=tuple(entries),
      reference=table.columns.get(figure.reference or ""),
    )
    for key, figure in paper.figures.items()
    if figure.table == number
  ]
  return Section(
    title=f"Table {number}. {table.title}",
    paper=paper,
    table=number,
    columns=table.columns,
    entries=tuple(entries),
    drawings=tuple(drawings),
  )


def _plain_section(game: str, runs: Sequence[records.Record]) -> Section:
  """Says of runs of one game what can be said without a paper."""
  table = papers.Table(
    title=f"Runs of {game}",
    trials=1,
    rows={run.label: run.label for run in runs},
    columns=PLAIN_COLUMNS,
    values={},
  )
  entries = [Entry(run.label, run.label, run, _cells(run, table)) for run in runs]
  drawings = [
    Drawing(
      # Markdown links to the file, so nothing in its name may need an escape.
      name="curve_" + re.sub(r"[^\w.-]", "_", entry.label),
      title=f"{game}: {entry.label}",
      plot=PLAIN_PLOT,
      entries=(entry,),
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


def _label(label: str, run: records.Record, of_row: Sequence[records.Record]) -> str:
  """Returns a row's label, with the run's if the row alone does not tell it apart."""
  is_clear = sum(other.game == run.game for other in of_row) == 1
  return label if is_clear else f"{label} ({run.label})"


def _cells(
  run: records.Record | None, table: papers.Table, row: str = ""
) -> dict[str, Cell]:
  """Computes those columns of a table that are for the run's game."""
  cells = {}
  for name, column in table.columns.items():
    if run is not None and column.game not in (None, run.game):
      continue
    ours, is_complete = _measure(run, column)
    paper = table.value(row, name)
    theirs = statistics.Summary(
      mean=paper.mean if paper else None,
      sd=paper.sd if paper else None,
      n=table.trials,
    )
    cells[name] = Cell(ours, is_complete, paper, statistics.compare(ours, theirs))
  return cells


def _measure(
  run: records.Record | None, column: papers.Column
) -> tuple[statistics.Summary, bool]:
  """Summarizes one statistic over a run's trials, and says whether it is complete."""
  curves = run.curves(column.metric) if run is not None else {}
  statistic_fn = statistics.STATISTICS[column.statistic]
  measurements = [statistic_fn(curve) for curve in curves.values()]
  summary = statistics.summarize([column.scale * m.value for m in measurements])
  is_complete = bool(measurements) and all(m.is_complete for m in measurements)
  return summary, is_complete
