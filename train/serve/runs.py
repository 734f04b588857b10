"""Runs as pages show them: read from their files alone, and never written to."""

from collections.abc import Iterator
import dataclasses
import gzip
import json
import math
import os
import pathlib
import threading
import time
from typing import Any

from train.config import yaml_text
from train.report import papers
from train.report import runs as report_runs
from train.run import directory as run_directory
from train.run import listing
from train.serve import catalogue as catalogue_lib

__all__ = ["Chunk", "Runs", "read_metrics"]

# A run that was written to within these seconds, and is not finished, is being trained.
LIVE_SECONDS = 120.0

# Of metrics in one answer; the rest follows in the next.
MOST_BYTES = 1_000_000

# What the lines of metrics.jsonl have beside metrics.
_FIELDS = ("test", "trial", "games")


@dataclasses.dataclass(frozen=True)
class Chunk:
  """Some lines of a run's metrics.

  Attributes:
    columns: the fields' names.
    rows: a list of values for each line.
    offset: where the next chunk begins, in bytes.
    is_restarted: whether these are the first lines again, since the file is another.
    has_more: whether there is more now.
  """

  columns: list[str]
  rows: list[list[Any]]
  offset: int
  is_restarted: bool
  has_more: bool

  def as_json(self) -> dict[str, Any]:
    """Returns plain values."""
    return dataclasses.asdict(self)


class Runs:
  """The runs of a catalogue, read again when their files change."""

  def __init__(self, catalogue: catalogue_lib.Catalogue):
    """Reads nothing yet."""
    self._catalogue = catalogue
    self._rows: dict[str, tuple[Any, dict[str, Any]]] = {}
    self._lock = threading.Lock()

  def describe_all(self) -> list[dict[str, Any]]:
    """Returns a row for each run, in plain values."""
    return [self.describe(run) for run in self._catalogue.runs.values()]

  def describe(self, run: catalogue_lib.Found) -> dict[str, Any]:
    """Returns how far a run is, in plain values."""
    files = run_directory.RunDirectory(run.path)
    stamp, newest = _stamp(files)
    with self._lock:
      before, row = self._rows.get(run.id, (None, {}))
    if before != stamp:
      row = _read_row(run, files)
      with self._lock:
        self._rows[run.id] = stamp, row
    age = time.time() - newest
    is_live = row["state"] == "unfinished" and age < LIVE_SECONDS
    return {**row, "age": age, "is_live": is_live}

  def metrics(self, run_id: str, offset: int) -> Chunk:
    """Returns what a run has logged after some bytes.

    Raises:
      KeyError: if there is no such run.
      ValueError: if its metrics cannot be read.
    """
    files = run_directory.RunDirectory(self._catalogue.find_run(run_id).path)
    return read_metrics(files.metrics, offset)

  def papers(self, run_id: str) -> list[dict[str, Any]]:
    """Returns the papers' numbers that a run is to be compared with.

    Raises:
      KeyError: if there is no such run.
      ValueError: if its config is missing or invalid.
    """
    files = run_directory.RunDirectory(self._catalogue.find_run(run_id).path)
    # Of the config alone: a run that has just begun has no tests to read yet.
    config = yaml_text.parse(yaml_text.read_text(files.config))
    return [
      number
      for reference in report_runs.read_references(config)
      for table in reference.tables
      for number in _paper_numbers(reference, table, str(config["game"]))
    ]


def _paper_numbers(
  reference: report_runs.PaperReference, table: str, game: str
) -> Iterator[dict[str, Any]]:
  """Yields a paper's numbers in a row, on the scales of the metrics."""
  found = papers.load(reference.name).tables[table]
  for name, column in found.columns.items():
    value = found.value(reference.row, name)
    if value is not None and column.game in (None, game):
      yield {
        "table": f"Table {table}. {found.title}",
        "row": found.rows[reference.row],
        "column": column.title,
        "metric": column.metric,
        "statistic": column.statistic,
        "mean": value.mean / column.scale,
        "sd": None if value.sd is None else value.sd / column.scale,
      }


def read_metrics(path: pathlib.Path, offset: int, most: int = MOST_BYTES) -> Chunk:
  """Returns whole lines of metrics from a place in the file on.

  Args:
    path: metrics.jsonl; if there is none, it may be compressed beside.
    offset: 0, or as returned with the chunk before.
    most: how many bytes at most.

  Raises:
    ValueError: if the file cannot be read.
  """
  try:
    contents, is_restarted, size = _read_after(path, offset, most)
  except (OSError, EOFError) as error:
    raise ValueError(f"{path.name} cannot be read") from error
  begin = 0 if is_restarted else offset
  whole = contents[: contents.rfind(b"\n") + 1]
  lines = [line for line in map(_parse, whole.splitlines()) if line is not None]
  columns = list(dict.fromkeys([*_FIELDS, *(key for line in lines for key in line)]))
  return Chunk(
    columns=columns,
    rows=[[line.get(column) for column in columns] for line in lines],
    offset=begin + len(whole),
    is_restarted=is_restarted and offset > 0,
    has_more=begin + len(whole) < size and bool(whole),
  )


def _read_after(path: pathlib.Path, offset: int, most: int) -> tuple[bytes, bool, int]:
  """Returns bytes after a place, whether it was the wrong file, and the file's size."""
  if path.exists():
    with path.open("rb") as file:
      size = os.fstat(file.fileno()).st_size
      is_restarted = not _is_end_of_line(file, offset, size)
      file.seek(0 if is_restarted else offset)
      return file.read(most), is_restarted, size
  packed = path.with_name(f"{path.name}.gz")
  if not packed.exists():
    return b"", offset > 0, 0
  contents = gzip.decompress(packed.read_bytes())
  is_restarted = offset > len(contents)
  begin = 0 if is_restarted else offset
  return contents[begin : begin + most], is_restarted, len(contents)


def _is_end_of_line(file: Any, offset: int, size: int) -> bool:
  """Returns whether a line ends before a place: a resumed run may have cut it off."""
  if offset == 0:
    return True
  if offset > size:
    return False
  file.seek(offset - 1)
  return file.read(1) == b"\n"


def _parse(line: bytes) -> dict[str, Any] | None:
  try:
    values = json.loads(line)
  except ValueError:
    return None
  if not isinstance(values, dict) or not all(field in values for field in _FIELDS):
    return None
  return {key: value for key, value in values.items() if _is_number(value)}


def _is_number(value: Any) -> bool:
  is_number = isinstance(value, int | float) and not isinstance(value, bool)
  return value is None or (is_number and math.isfinite(value))


def _read_row(
  run: catalogue_lib.Found, files: run_directory.RunDirectory
) -> dict[str, Any]:
  (row,) = listing.list_runs(run.path)
  status = files.read_status()
  seconds = sum(_number(status, f"{kind}seconds") for kind in ("", "test_"))
  games = status.get("games")
  total = sum(games) if isinstance(games, list) else 0
  speed = total / seconds if seconds > 0 else None
  wanted = (row.games_wanted or 0) * (row.trials or 0)
  left = (wanted - total) / speed if speed and row.state == "unfinished" else None
  return {
    **row.as_json(),
    "id": run.id,
    "label": run.label,
    "seconds": seconds,
    "speed": speed,
    "seconds_left": left,
  }


def _number(status: dict[str, Any], field: str) -> float:
  value = status.get(field, 0.0)
  return float(value) if _is_number(value) and value is not None else 0.0


def _stamp(files: run_directory.RunDirectory) -> tuple[Any, float]:
  """Returns what differs if a run was written to, and when that was."""
  packed = files.metrics.with_name(f"{files.metrics.name}.gz")
  stamp, newest = [], 0.0
  for path in (files.config, files.metrics, packed, files.status, files.states):
    try:
      about = path.stat()
    except OSError:
      continue
    stamp.append((path.name, about.st_mtime_ns, about.st_size))
    newest = max(newest, about.st_mtime)
  return tuple(stamp), newest
