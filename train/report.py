"""The one report for all papers: gathered, printed, written, and as JSON."""

from collections.abc import Iterable, Iterator
import itertools
import json
import pathlib
from typing import Any

import rich.console
import rich.text

from train import comparison
from train import figures
from train import records
from train import report_tables
from train import tables

__all__ = ["Report", "as_json", "make", "print_to", "write"]

Report = comparison.Report


def make(directories: Iterable[pathlib.Path | str]) -> Report:
  """Gathers a report on runs, finished or not.

  Args:
    directories: each a run's, or one with runs anywhere below.

  Raises:
    ValueError: if there is no run, or a file is missing or cannot be understood; one
      sentence that names it.
  """
  return comparison.gather(records.read_all(directories))


def print_to(console: rich.console.Console, report: Report) -> None:
  """Prints a report's tables."""
  for title, sections in _by_paper(report):
    console.print(rich.text.Text(title, style="italic"), end="\n\n")
    for section in sections:
      for table in _section_tables(section):
        console.print(table)
        console.print()
  console.print(report_tables.of_runs(report.runs))


def write(report: Report, directory: pathlib.Path | str) -> list[pathlib.Path]:
  """Writes a report: report.md, summary.json, and each figure as PNG and SVG.

  Args:
    report: from `make`.
    directory: where to; made if it is not there. Files of the same names are replaced.

  Returns:
    The files, report.md first.

  Raises:
    ValueError: if they cannot be written.
  """
  directory = pathlib.Path(directory)
  summary = json.dumps(as_json(report), indent=2, allow_nan=False) + "\n"
  files = {
    "report.md": _as_markdown(report).encode(),
    "summary.json": summary.encode(),
  }
  for section in report.sections:
    for drawing in section.drawings:
      for ending, contents in figures.draw(drawing).items():
        files[f"{drawing.name}.{ending}"] = contents
  try:
    directory.mkdir(parents=True, exist_ok=True)
    for name, contents in files.items():
      (directory / name).write_bytes(contents)
  except OSError as error:
    reason = error.strerror or error
    raise ValueError(f"cannot write the report into {directory}: {reason}") from error
  return [directory / name for name in files]


def as_json(report: Report) -> dict[str, Any]:
  """Returns what `jaxgames report --json` prints and summary.json holds.

  `rows` has the numbers that stand beside a paper's, `plain_rows` those of runs without
  a paper, `runs` what is known of each run. What is not known is null.
  """
  rows: list[dict[str, Any]] = []
  plain_rows: list[dict[str, Any]] = []
  for section in report.sections:
    (rows if section.paper else plain_rows).extend(_json_rows(section))
  runs = [_json_run(run) for run in report.runs]
  return {"rows": rows, "plain_rows": plain_rows, "runs": runs}


def _by_paper(report: Report) -> Iterator[tuple[str, list[comparison.Section]]]:
  """Yields the sections of each paper under its title, then the other ones."""

  def title(section: comparison.Section) -> str:
    return section.paper.title if section.paper is not None else "Runs without a paper"

  for heading, sections in itertools.groupby(report.sections, title):
    yield heading, list(sections)


def _section_tables(section: comparison.Section) -> Iterator[tables.Table]:
  yield report_tables.of_section(section)
  pairs = report_tables.of_pairs(section)
  if pairs is not None:
    yield pairs


def _json_rows(section: comparison.Section) -> Iterator[dict[str, Any]]:
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
        "paper_name": section.paper.name if section.paper is not None else None,
        "run": entry.record.label,
      }


def _json_run(run: records.Run) -> dict[str, Any]:
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
  """Returns a page with all tables, and the figures as files beside it."""
  parts = ["# Report"]
  for title, sections in _by_paper(report):
    parts.append(f"## {title}")
    for section in sections:
      parts += [table.as_markdown() for table in _section_tables(section)]
      parts += [
        f"[![{drawing.title}]({drawing.name}.png)]({drawing.name}.svg)"
        for drawing in section.drawings
      ]
  parts.append(report_tables.of_runs(report.runs).as_markdown("##"))
  return "\n\n".join(parts) + "\n"
