"""A report on runs: gathered, printed, written to files, and as JSON."""

from collections.abc import Iterable, Iterator
import dataclasses
import itertools
import json
import pathlib
from typing import Any

import rich.console
import rich.text

from train.report import comparison
from train.report import figures
from train.report import reading_tables
from train.report import readings
from train.report import runs as runs_lib
from train.report import section_tables
from train.report import tables
from train.run import durable

__all__ = ["Part", "Report", "as_json", "in_parts", "make", "print_to", "write"]


@dataclasses.dataclass(frozen=True)
class Report:
  """The contents of a report.

  Attributes:
    runs: the runs in the order found; each is in a section or in a ranking.
    sections: the papers' tables next to our runs.
    rankings: for each paper, the runs that try readings of it.
  """

  runs: tuple[runs_lib.Run, ...]
  sections: tuple[comparison.Section, ...]
  rankings: tuple[readings.Ranking, ...]


@dataclasses.dataclass(frozen=True)
class Part:
  """The tables and figures of a section or a ranking.

  Attributes:
    heading: the title of its paper.
    tables: its tables.
    drawings: its figures.
  """

  heading: str
  tables: tuple[tables.Table, ...]
  drawings: tuple[comparison.Drawing, ...]


def make(directories: Iterable[pathlib.Path | str]) -> Report:
  """Gathers a report on runs, finished or not.

  Args:
    directories: directories of runs, or directories with runs anywhere below.

  Raises:
    ValueError: if there is no run, or a file is missing or invalid; the message is one
      sentence that names the file.
  """
  runs = runs_lib.read_all(directories)
  return Report(
    runs=tuple(runs),
    sections=comparison.gather(runs),
    rankings=readings.gather(runs),
  )


def print_to(console: rich.console.Console, report: Report) -> None:
  """Prints a report's tables."""
  for heading, parts in itertools.groupby(in_parts(report), lambda part: part.heading):
    console.print(rich.text.Text(heading, style="italic"), end="\n\n")
    for table in itertools.chain.from_iterable(part.tables for part in parts):
      console.print(table)
      console.print()
  console.print(section_tables.of_runs(report.runs))


def write(report: Report, directory: pathlib.Path | str) -> list[pathlib.Path]:
  """Writes a report: report.md, summary.json, and each figure as PNG and SVG.

  Args:
    report: from `make`.
    directory: created if needed. Files of the same names are replaced.

  Returns:
    The files, report.md first.

  Raises:
    ValueError: if a file cannot be written.
  """
  directory = pathlib.Path(directory)
  summary = json.dumps(as_json(report), indent=2, allow_nan=False) + "\n"
  files = {
    "report.md": _as_markdown(report).encode(),
    "summary.json": summary.encode(),
  }
  for drawing in itertools.chain.from_iterable(p.drawings for p in in_parts(report)):
    for suffix, contents in figures.draw(drawing).items():
      files[f"{drawing.name}.{suffix}"] = contents
  try:
    directory.mkdir(parents=True, exist_ok=True)
    for name, contents in files.items():
      durable.replace(directory / name, contents)
  except OSError as error:
    reason = error.strerror or error
    raise ValueError(f"cannot write the report into {directory}: {reason}") from error
  return [directory / name for name in files]


def as_json(report: Report) -> dict[str, Any]:
  """Returns the contents of `jaxgames report --json` and of summary.json.

  `rows` has the numbers of papers' rows, `plain_rows` those of runs without a paper,
  `readings` the distance of each reading to its paper, `runs` the status of each run.
  A row with `deviations` was made otherwise than the paper's and has no p against it.
  Unknown values are null.
  """
  rows: list[dict[str, Any]] = []
  plain_rows: list[dict[str, Any]] = []
  for section in report.sections:
    (rows if section.paper else plain_rows).extend(_json_rows(section))
  ranked = [
    (ranking, reading) for ranking in report.rankings for reading in ranking.readings
  ]
  for _, reading in ranked:
    for section in reading.sections:
      rows.extend(_json_rows(section, reading.name))
  return {
    "rows": rows,
    "plain_rows": plain_rows,
    "readings": [_json_reading(ranking, reading) for ranking, reading in ranked],
    "runs": [_json_run(run) for run in report.runs],
  }


def in_parts(report: Report) -> Iterator[Part]:
  """Yields each paper's sections and then its ranking; last the runs without a paper."""
  rankings = {ranking.paper.name: ranking for ranking in report.rankings}
  sections: dict[str, list[comparison.Section]] = {name: [] for name in rankings}
  for section in report.sections:
    if section.paper is not None:
      sections.setdefault(section.paper.name, []).append(section)
  for name in sorted(sections):
    yield from map(_section_part, sections[name])
    if name in rankings:
      ranking = rankings[name]
      shown = tuple(reading_tables.of_ranking(ranking))
      yield Part(ranking.paper.title, shown, (ranking.drawing,))
  for section in report.sections:
    if section.paper is None:
      yield _section_part(section)


def _section_part(section: comparison.Section) -> Part:
  heading = section.paper.title if section.paper else "Runs without a paper"
  pairs = section_tables.of_pairs(section)
  shown = section_tables.of_section(section), *([pairs] if pairs else [])
  return Part(heading, shown, section.drawings)


def _json_rows(
  section: comparison.Section, reading: str | None = None
) -> Iterator[dict[str, Any]]:
  for entry in section.entries:
    if entry.record is None:
      continue
    for column, cell in entry.cells.items():
      ours, paper, test = cell.ours, cell.paper, cell.against_paper
      yield {
        "table": section.table,
        "row": entry.row,
        "column": column,
        "ours": {"mean": ours.mean, "sd": ours.sd, "n": ours.n},
        "paper": {"mean": paper.mean, "sd": paper.sd} if paper is not None else None,
        "interval": list(ours.interval) if ours.interval is not None else None,
        "difference": test.difference,
        "p": test.p,
        "paper_in_interval": cell.has_paper_inside,
        "is_finished": cell.is_complete,
        "deviations": list(entry.deviations),
        "paper_name": section.paper.name if section.paper is not None else None,
        "run": entry.record.label,
        "reading": reading,
      }


def _json_reading(
  ranking: readings.Ranking, reading: readings.Reading
) -> dict[str, Any]:
  return {
    "paper_name": ranking.paper.name,
    "reading": reading.name,
    "distance": reading.distance,
    "by_table": reading.by_table,
    "numbers": len(reading.differences),
    "tested": reading.num_tested,
    "agreeing": reading.num_agreeing,
    "is_finished": reading.is_complete,
  }


def _json_run(run: runs_lib.Run) -> dict[str, Any]:
  status = run.status
  return {
    "directory": run.label,
    "game": run.game,
    "opponents": list(run.opponents),
    "trials": status.trials,
    "games": list(status.games),
    "games_wanted": status.games_wanted,
    "seconds": status.seconds,
    "machine": status.machine,
    "versions": status.versions,
    "fingerprints": list(status.fingerprints),
    "is_finished": status.is_finished,
    "diverged": list(status.diverged),
    "finished": list(status.finished),
  }


def _as_markdown(report: Report) -> str:
  """Returns a page with all tables, and links to the figures."""
  page = ["# Report"]
  for heading, parts in itertools.groupby(in_parts(report), lambda part: part.heading):
    page.append(f"## {heading}")
    for part in parts:
      page += [table.as_markdown() for table in part.tables]
      page += [
        f"[![{drawing.title}]({drawing.name}.png)]({drawing.name}.svg)"
        for drawing in part.drawings
      ]
  page.append(section_tables.of_runs(report.runs).as_markdown("##"))
  return "\n\n".join(page) + "\n"
