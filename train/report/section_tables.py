"""The tables of a section, of its pairs of rows, and of runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import datetime

from train.report import comparison
from train.report import papers
from train.report import runs as runs_lib
from train.report import statistics
from train.report import tables

__all__ = [
  "DEVIATING",
  "NOTHING",
  "UNFINISHED",
  "deviation_notes",
  "format_spread",
  "of_pairs",
  "of_runs",
  "of_section",
  "trial_notes",
]

NOTHING = "–"  # noqa: RUF001 - an en dash: a hyphen looks like a minus
UNFINISHED = "*"
DEVIATING = "†"

# If two true means are equal and have equal standard errors, one estimate is outside
# the other's 95 % interval when their difference, which has sqrt(2) times that error,
# exceeds 1.96 standard errors: in 17 % of cases.
OUTSIDE_BY_CHANCE = (
  "in?: whether the paper's mean lies in our interval; the paper gives no spread to test "
  "with. Its mean has an error too, so about one in six is outside by chance alone."
)


def of_section(section: comparison.Section) -> tables.Table:
  """Returns the table of our numbers next to the paper's."""
  groups = [
    tables.Group(column.title, tuple(_cell_rows(section, name, column)))
    for name, column in section.columns.items()
  ]
  columns = ["", "ours", "n", "95 % interval"]
  if section.has_numbers:
    columns += ["paper", "diff.", "p"] if _has_spread(section) else ["paper", "in?"]
  if not _shows_n(section):
    columns.remove("n")
  return tables.Table(
    title=section.title,
    columns=tuple(columns),
    groups=tuple(groups),
    notes=tuple(_section_notes(section)),
  )


def of_pairs(section: comparison.Section) -> tables.Table | None:
  """Returns Welch's t-test for all pairs of our rows, or None if there is no pair."""
  groups, reasons = [], set()
  for name, column in section.columns.items():
    if column.metric == "seconds":  # Proportional to games, so tests would be too.
      continue
    cells, places = {}, set()
    for first, second, test in section.comparisons(name):
      cells[second, first] = _format_p(test.p)
      places |= {first, second}
      reasons.add(test.reason)
    groups.append((column.title, sorted(places), cells))
  num_rows = max((len(places) for _, places, _ in groups), default=0)
  if num_rows < 2:
    return None
  return tables.Table(
    title="Do our rows differ? p of Welch's t-test",
    columns=("", *map(str, range(1, num_rows))),
    groups=tuple(
      tables.Group(title, tuple(_pair_rows(section, places, cells, num_rows - 1)))
      for title, places, cells in groups
    ),
    notes=(
      "p is corrected for the number of pairs of rows under each heading (Holm).",
      *_reason_notes(reasons),
    ),
  )


def of_runs(runs: Sequence[runs_lib.Run]) -> tables.Table:
  """Returns the table of the runs' progress."""
  rows = []
  for run in runs:
    status = run.status
    done = run.games_done
    share = int(100 * min(1, done / max(1, status.games_wanted)))
    rows.append(
      (
        run.label,
        str(status.trials),
        f"{done:,}",
        f"{status.games_wanted:,}",
        "finished" if status.is_finished else f"{share} %",
        str(datetime.timedelta(seconds=round(status.seconds))),
      )
    )
  return tables.Table(
    title="Runs",
    columns=("", "trials", "games", "wanted", "done", "time"),
    groups=(tables.Group("", tuple(rows)),),
    notes=(
      "Games per trial; if trials differ, the fewest, without trials that ended early.",
      *_early_end_notes(runs),
      *_divergence_notes(runs),
      *_origin_notes(runs),
    ),
  )


def trial_notes(entries: Iterable[tuple[str, comparison.Entry]]) -> Iterator[str]:
  """Yields notes on unfinished runs and on diverged trials.

  Args:
    entries: the rows with their labels.
  """
  ran = [(label, entry, entry.record) for label, entry in entries if entry.record]
  unfinished = {
    record.run.label: record.run
    for _, entry, record in ran
    if any(not cell.is_complete for cell in entry.cells.values())
  }
  if unfinished:
    far = ", ".join(
      f"{label} has {run.num_tests} of {run.num_planned}"
      for label, run in unfinished.items()
    )
    yield f"{UNFINISHED} Not all tests are done yet, so numbers will change: {far}."
  for label, _, record in ran:
    if record.diverged:
      yield f"{label}: without {_trials(record.diverged)}, which diverged."


def deviation_notes(
  entries: Iterable[tuple[str, comparison.Entry]],
) -> Iterator[str]:
  """Yields notes on rows that were made otherwise than the paper's.

  Args:
    entries: the rows with their labels.
  """
  labels: dict[tuple[str, ...], list[str]] = {}
  ran = [(label, entry) for label, entry in entries if entry.record]
  for label, entry in ran:
    labels.setdefault(entry.deviations, []).append(label)
  for number, (found, of_labels) in enumerate(filter(lambda i: i[0], labels.items())):
    is_first, rows = number == 0, ", ".join(dict.fromkeys(of_labels))
    begin = f"{DEVIATING} Not made as the paper's row, so not tested against it. "
    rows = "All rows" if len(labels) == 1 and len(ran) > 1 else rows
    yield f"{begin if is_first else ''}{rows}: {'; '.join(found)}."


def format_spread(value: statistics.Summary | papers.Value | None, digits: int) -> str:
  """Returns a mean with its standard deviation, if they are known."""
  if value is None or value.mean is None:
    return NOTHING
  mean = f"{value.mean:,.{digits}f}"
  return mean if value.sd is None else f"{mean} ± {value.sd:,.{digits}f}"


def _pair_rows(
  section: comparison.Section,
  places: Sequence[int],
  cells: Mapping[tuple[int, int], str],
  num_columns: int,
) -> Iterator[tuple[str, ...]]:
  """Yields the rows of one column's group of pairs, numbered from 1."""
  for number, place in enumerate(places, start=1):
    row = [cells.get((place, other), "") for other in places[:-1]]
    row += [""] * (num_columns - len(row))
    yield (f"{number} {section.entries[place].label}", *row)


def _cell_rows(
  section: comparison.Section, name: str, column: papers.Column
) -> Iterator[tuple[str, ...]]:
  """Yields the rows of one column's group."""
  for entry in section.entries:
    cell = entry.cells.get(name)
    if cell is None:
      continue
    ours = cell.ours
    is_unfinished = ours.n > 0 and not cell.is_complete
    marks = (UNFINISHED if is_unfinished else "") + (DEVIATING * bool(entry.deviations))
    row = [
      entry.label + marks,
      format_spread(ours, column.digits),
      *([str(ours.n) if ours.n else NOTHING] if _shows_n(section) else []),
      _format_interval(ours.interval, column.digits),
    ]
    if section.has_numbers:
      row.append(format_spread(cell.paper, column.digits))
      if _has_spread(section):
        row.append(_format_difference(cell.against_paper.difference, column.digits))
        row.append(_format_p(cell.against_paper.p))
      else:
        row.append(_format_answer(cell.has_paper_inside))
    yield tuple(row)


def _has_spread(section: comparison.Section) -> bool:
  """Returns whether the paper gives a spread anywhere in the table."""
  cells = (cell for entry in section.entries for cell in entry.cells.values())
  return any(cell.paper and cell.paper.sd is not None for cell in cells)


def _counts(section: comparison.Section) -> set[int]:
  """Returns the distinct numbers of trials behind our means."""
  cells = (cell for entry in section.entries for cell in entry.cells.values())
  return {cell.ours.n for cell in cells if cell.ours.n}


def _shows_n(section: comparison.Section) -> bool:
  """Returns whether there is a column for n: if it varies or is part of a test."""
  has_test = section.paper is None or _has_spread(section)
  return has_test or len(_counts(section)) != 1


def _section_notes(section: comparison.Section) -> Iterator[str]:
  """Yields the notes below the table of a section."""
  trials = "n trials" if _shows_n(section) else f"{max(_counts(section))} trials"
  yield f"Mean ± standard deviation of {trials}; bootstrap interval of the mean."
  if section.has_numbers:
    if _has_spread(section):
      yield "p: Welch's t-test of ours against the paper's mean, deviation and n."
    else:
      yield OUTSIDE_BY_CHANCE
  if section.paper is not None and section.table is not None:
    yield from section.paper.tables[section.table].notes
  yield from trial_notes((entry.label, entry) for entry in section.entries)
  yield from deviation_notes((entry.label, entry) for entry in section.entries)
  if _has_spread(section):
    yield from _reason_notes(
      {
        cell.against_paper.reason
        for entry in section.entries
        if entry.record and not entry.deviations
        for cell in entry.cells.values()
        if cell.paper is not None
      }
    )


def _early_end_notes(runs: Sequence[runs_lib.Run]) -> Iterator[str]:
  for run in runs:
    if run.status.finished:
      share = f"{len(run.status.finished)} of {run.status.trials} trials"
      yield f"{run.label}: {share} had nothing left to learn and ended early."


def _divergence_notes(runs: Sequence[runs_lib.Run]) -> Iterator[str]:
  for run in runs:
    if run.status.diverged:
      yield f"{run.label}: {_trials(run.status.diverged)} diverged and stopped."


def _origin_notes(runs: Sequence[runs_lib.Run]) -> Iterator[str]:
  """Yields each machine with its versions once, with the runs computed there."""
  origins: dict[str, list[str]] = {}
  for run in runs:
    parts = [*run.status.machine.items(), *run.status.versions.items()]
    text = ", ".join(f"{key} {value}" for key, value in parts)
    origins.setdefault(text, []).append(run.label)
  for text, labels in origins.items():
    runs_here = "All runs" if len(origins) == 1 else ", ".join(labels)
    yield f"{runs_here}: computed with {text}."


def _reason_notes(reasons: set[str | None]) -> list[str]:
  known = sorted(reason for reason in reasons if reason is not None)
  return [f"{NOTHING} for p: no test, since {' or '.join(known)}."] if known else []


def _trials(numbers: Sequence[int]) -> str:
  listed = ", ".join(map(str, numbers))
  return f"trial {listed}" if len(numbers) == 1 else f"trials {listed}"


def _format_interval(interval: tuple[float, float] | None, digits: int) -> str:
  if interval is None:
    return NOTHING
  return " to ".join(f"{bound:,.{digits}f}" for bound in interval)


def _format_difference(difference: float | None, digits: int) -> str:
  return NOTHING if difference is None else f"{difference:+,.{digits}f}"


def _format_answer(answer: bool | None) -> str:
  return NOTHING if answer is None else "yes" if answer else "no"


def _format_p(p: float | None) -> str:
  if p is None:
    return NOTHING
  return "<0.001" if p < 0.001 else f"{p:.3f}"
