"""Reports as pages show them: tables as plain values, figures as SVG."""

import collections
from collections.abc import Sequence
import itertools
import threading
from typing import Any

from train.report import document
from train.report import figures
from train.report import section_tables
from train.report import tables
from train.serve import catalogue as catalogue_lib

__all__ = ["Reports"]

# Reports, and figures, that are kept.
MOST_REPORTS, MOST_FIGURES = 8, 64


class Reports:
  """Reports on runs of a catalogue; the last few are kept until a run has changed."""

  def __init__(self, catalogue: catalogue_lib.Catalogue):
    """Makes no report yet."""
    self._catalogue = catalogue
    self._lock = threading.Lock()
    self._made: collections.OrderedDict[Any, document.Report] = (
      collections.OrderedDict()
    )
    self._drawn: collections.OrderedDict[Any, bytes] = collections.OrderedDict()

  def describe(self, run_ids: Sequence[str]) -> dict[str, Any]:
    """Returns the tables of a report and the names of its figures, in plain values.

    Raises:
      KeyError: if there is no such run.
      ValueError: if a run cannot be read, or none is named.
    """
    _, report = self._make(run_ids)
    parts = itertools.groupby(document.in_parts(report), lambda part: part.heading)
    return {
      "parts": [
        {"heading": heading, "sections": [_describe_part(part) for part in of_heading]}
        for heading, of_heading in parts
      ],
      "runs": _describe_table(section_tables.of_runs(report.runs)),
    }

  def draw(self, run_ids: Sequence[str], name: str) -> bytes:
    """Returns a figure of a report as SVG.

    Raises:
      KeyError: if there is no such run, or no such figure.
      ValueError: if a run cannot be read.
    """
    key, report = self._make(run_ids)
    drawings = itertools.chain.from_iterable(
      p.drawings for p in document.in_parts(report)
    )
    drawing = {drawing.name: drawing for drawing in drawings}[name]
    with self._lock:  # One at a time: matplotlib is not made for threads.
      if (key, name) not in self._drawn:
        self._drawn[key, name] = figures.draw(drawing)["svg"]
        _drop_oldest(self._drawn, MOST_FIGURES)
      return self._drawn[key, name]

  def _make(self, run_ids: Sequence[str]) -> tuple[Any, document.Report]:
    found = [self._catalogue.find_run(run_id) for run_id in dict.fromkeys(run_ids)]
    if not found:
      raise ValueError("a report is on at least one run")
    key = tuple((run.id, _written(run)) for run in found)
    with self._lock:
      if key not in self._made:
        self._made[key] = document.make([run.path for run in found])
        _drop_oldest(self._made, MOST_REPORTS)
      return key, self._made[key]


def _written(run: catalogue_lib.Found) -> tuple[int, ...]:
  names = ("config.yaml", "metrics.jsonl", "metrics.jsonl.gz", "run.json")
  files = [run.path / name for name in names]
  return tuple(file.stat().st_mtime_ns for file in files if file.exists())


def _describe_part(part: document.Part) -> dict[str, Any]:
  return {
    "tables": [_describe_table(table) for table in part.tables],
    "figures": [
      {"name": drawing.name, "title": drawing.title} for drawing in part.drawings
    ],
  }


def _describe_table(table: tables.Table) -> dict[str, Any]:
  return {
    "title": table.title,
    "columns": list(table.columns),
    "groups": [
      {"title": group.title, "rows": [list(row) for row in group.rows]}
      for group in table.groups
    ],
    "notes": list(table.notes),
  }


def _drop_oldest(kept: collections.OrderedDict[Any, Any], most: int) -> None:
  while len(kept) > most:
    kept.popitem(last=False)
