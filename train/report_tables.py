"""Which tables a report has: ours beside the papers', pairs of rows, and runs."""

from collections.abc import Iterator, Sequence
import datetime

from train import comparison
from train import papers
from train import records
from train import statistics
from train import tables

__all__ = ["of_pairs", "of_runs", "of_section"]

NOTHING = "–"  # noqa: RUF001 - an en dash: a hyphen looks like a minus
UNFINISHED = "*"


def of_section(section: comparison.Section) -> tables.Table:
  """Returns the table with ours beside the paper's."""
  has_paper = section.paper is not None
  columns = ("", "ours", "n", "95 % interval")
  groups = [
    tables.Group(column.title, tuple(_cell_rows(section, name, column)))
    for name, column in section.columns.items()
  ]
  return tables.Table(
    title=section.title,
    columns=columns + (("paper", "diff.", "p") if has_paper else ()),
    groups=tuple(groups),
    notes=tuple(_section_notes(section)),
  )


def of_pairs(section: comparison.Section) -> tables.Table | None:
  """Returns Welch's t-test for all pairs of rows, or none if there is no pair."""
  numbers = {
    place: str(number)
    for number, place in enumerate(
      (place for place, entry in enumerate(section.entries) if entry.run), start=1
    )
  }
  if len(numbers) < 2:
    return None
  groups, reasons = [], set()
  for name, column in section.columns.items():
    cells = {}
    for first, second, test in section.comparisons(name):
      cells[second, first] = _format_p(test.p)
      reasons.add(test.reason)
    rows = tuple(
      (
        f"{number} {section.entries[place].label}",
        *(cells.get((place, other), "") for other in list(numbers)[:-1]),
      )
      for place, number in numbers.items()
    )
    groups.append(tables.Group(column.title, rows))
  return tables.Table(
    title="Do the rows differ? p of Welch's t-test between ours",
    columns=("", *list(numbers.values())[:-1]),
    groups=tuple(groups),
    notes=(
      "Each pair is tested by itself: p is not corrected for their number.",
      *_reason_notes(reasons),
    ),
  )


def of_runs(runs: Sequence[records.Record]) -> tables.Table:
  """Returns how far each run is."""
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
      "Games are of each trial; where trials differ, of the one that has fewest.",
      *_divergence_notes(runs),
      *_origin_notes(runs),
    ),
  )


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
    row = [
      entry.label + (UNFINISHED if is_unfinished else ""),
      _format_spread(ours, column.digits),
      str(ours.n) if ours.n else NOTHING,
      _format_interval(ours.interval, column.digits),
    ]
    if section.paper is not None:
      row += [
        _format_spread(cell.paper, column.digits),
        _format_difference(cell.against_paper.difference, column.digits),
        _format_p(cell.against_paper.p),
      ]
    yield tuple(row)


def _section_notes(section: comparison.Section) -> Iterator[str]:
  """Yields what a reader must know to read the numbers rightly."""
  yield "Mean ± standard deviation of n trials; bootstrap interval of the mean."
  if section.paper is not None:
    yield "p: Welch's t-test of ours against the paper's mean, deviation and n."
  unfinished = [
    entry.run
    for entry in section.entries
    if entry.run and any(not cell.is_complete for cell in entry.cells.values())
  ]
  if unfinished:
    far = ", ".join(f"{run.label} has {_progress(run)}" for run in unfinished)
    yield f"{UNFINISHED} Not all tests are there yet, so numbers will change: {far}."
  for entry in section.entries:
    if entry.run and entry.run.status.diverged:
      trials = _trials(entry.run.status.diverged)
      yield f"{entry.label}: {trials} diverged and left out."
  tests = [
    cell.against_paper
    for entry in section.entries
    if entry.run
    for cell in entry.cells.values()
    if cell.paper is not None
  ]
  yield from _reason_notes({test.reason for test in tests})


def _divergence_notes(runs: Sequence[records.Record]) -> Iterator[str]:
  for run in runs:
    if run.status.diverged:
      yield f"{run.label}: {_trials(run.status.diverged)} diverged and stopped."


def _origin_notes(runs: Sequence[records.Record]) -> Iterator[str]:
  """Yields each machine with its versions once, with the runs made there."""
  origins: dict[str, list[str]] = {}
  for run in runs:
    parts = [*run.status.machine.items(), *run.status.versions.items()]
    text = ", ".join(f"{key} {value}" for key, value in parts)
    origins.setdefault(text, []).append(run.label)
  for text, labels in origins.items():
    who = "" if len(origins) == 1 else f" by {', '.join(labels)}"
    yield f"Made{who} with {text}."


def _reason_notes(reasons: set[str | None]) -> list[str]:
  said = sorted(reason for reason in reasons if reason is not None)
  return [f"{NOTHING} for p: no test, since {' or '.join(said)}."] if said else []


def _progress(run: records.Record) -> str:
  tests = [max(run.lines[trial]) for trial in run.trials]
  return f"{min(tests, default=0)} of {run.num_planned}"


def _trials(numbers: Sequence[int]) -> str:
  listed = ", ".join(map(str, numbers))
  return f"trial {listed}" if len(numbers) == 1 else f"trials {listed}"


def _format_spread(value: statistics.Summary | papers.Value | None, digits: int) -> str:
  if value is None or value.mean is None:
    return NOTHING
  mean = f"{value.mean:,.{digits}f}"
  return mean if value.sd is None else f"{mean} ± {value.sd:,.{digits}f}"


def _format_interval(interval: tuple[float, float] | None, digits: int) -> str:
  if interval is None:
    return NOTHING
  return " to ".join(f"{bound:,.{digits}f}" for bound in interval)


def _format_difference(difference: float | None, digits: int) -> str:
  return NOTHING if difference is None else f"{difference:+,.{digits}f}"


def _format_p(p: float | None) -> str:
  if p is None:
    return NOTHING
  return "<0.001" if p < 0.001 else f"{p:.3f}"
