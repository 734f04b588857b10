"""Reads back what runs left in their directories, finished or not."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pydantic
import yaml

from train import run_directory
from train import statistics

__all__ = ["PaperReference", "Record", "read", "read_all"]


class _Model(pydantic.BaseModel):
  # What a report does not need may change without breaking it.
  model_config = pydantic.ConfigDict(
    extra="ignore", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
  )


class PaperReference(_Model):
  """Which row of which paper a run stands for.

  Attributes:
    name: the paper.
    table: its table; a run may fill rows of several.
    row: the row, of the same name in all of them.
  """

  name: str
  table: str | tuple[str, ...]
  row: str

  @property
  def tables(self) -> tuple[str, ...]:
    """The names of all its tables."""
    return (self.table,) if isinstance(self.table, str) else self.table


class _TestPlan(_Model):
  every: int = pydantic.Field(ge=1)


class _Config(_Model):
  game: Any
  games: int = pydantic.Field(ge=0)
  test: _TestPlan
  paper: PaperReference | None = None


class _Status(_Model):
  name: str
  trials: int = pydantic.Field(ge=0)
  games: tuple[int, ...]
  games_wanted: int = pydantic.Field(ge=0)
  seconds: float
  machine: dict[str, Any]
  versions: dict[str, Any]
  fingerprints: tuple[str | None, ...] = ()
  is_finished: bool
  diverged: tuple[int, ...] = ()


class _Line(pydantic.BaseModel):
  """A test of one trial; the metrics are what remains."""

  model_config = pydantic.ConfigDict(extra="allow", frozen=True)
  test: int
  trial: int
  games: int


@dataclasses.dataclass(frozen=True)
class Record:
  """A run as its directory tells it.

  Attributes:
    files: where it is.
    label: the shortest end of that path which no other run of the report has.
    game: the game's name.
    paper: the row of a paper it stands for, if any.
    num_planned: how many tests a trial has when the run is finished.
    status: the contents of run.json.
    lines: the lines of metrics.jsonl, by trial and by the test's number.
  """

  files: run_directory.RunDirectory
  label: str
  game: str
  paper: PaperReference | None
  num_planned: int
  status: _Status
  lines: dict[int, dict[int, _Line]]

  @property
  def trials(self) -> list[int]:
    """The trials that have a test and did not diverge."""
    return [trial for trial in sorted(self.lines) if trial not in self.status.diverged]

  @property
  def games_done(self) -> int:
    """The games of the trial that has fewest, of those that did not diverge."""
    games = [
      count
      for trial, count in enumerate(self.status.games)
      if trial not in self.status.diverged
    ]
    return min(games or self.status.games, default=0)

  def curves(self, metric: str) -> dict[int, statistics.Curve]:
    """Returns one metric's curve for each of `trials` that has a finite value.

    Args:
      metric: a field of metrics.jsonl.

    Raises:
      ValueError: if a line has no such field, or no number there.
    """
    curves = {}
    for trial in self.trials:
      points = []
      for number, line in sorted(self.lines[trial].items()):
        value = self._value(line, metric)
        if np.isfinite(value):
          points.append((number, line.games, value))
      if points:
        tests, games, values = map(np.asarray, zip(*points, strict=True))
        curves[trial] = statistics.Curve(tests, games, values, self.num_planned)
    return curves

  def _value(self, line: _Line, metric: str) -> float:
    values = {"games": line.games, **(line.model_extra or {})}
    if metric not in values:
      known = ", ".join(sorted(values))
      raise ValueError(
        f"{self.files.metrics}: test {line.test} of trial {line.trial} has no "
        f"{metric!r}, only {known}"
      )
    value = values[metric]
    if value is None:  # How strict JSON writes what is not a number.
      return float("nan")
    if not isinstance(value, int | float):
      raise ValueError(
        f"{self.files.metrics}: the {metric} of test {line.test} of trial "
        f"{line.trial} is {value!r}, not a number"
      )
    return float(value)


def read_all(directories: Iterable[pathlib.Path | str]) -> list[Record]:
  """Reads all runs in some directories.

  Args:
    directories: each a run's, or one with runs anywhere below.

  Raises:
    ValueError: if one is not there, has no run, or has one that cannot be read.
  """
  found: dict[pathlib.Path, pathlib.Path] = {}
  for name in directories:
    directory = pathlib.Path(name)
    if not directory.is_dir():
      raise ValueError(f"{directory} is not a directory")
    runs = list(_find_runs(directory))
    if not runs:
      raise ValueError(f"{directory} has no run in it, nor has any directory below")
    found |= {run.resolve(): run for run in runs}
  labels = _shortest_unique_ends(list(found))
  return [
    read(run, label=label) for run, label in zip(found.values(), labels, strict=True)
  ]


def read(directory: pathlib.Path, *, label: str | None = None) -> Record:
  """Reads one run.

  Args:
    directory: the run's.
    label: what the report calls it; the directory's name if none is given.

  Raises:
    ValueError: if a file is missing or cannot be understood; it names the file.
  """
  files = run_directory.RunDirectory(directory)
  config = _parse(files.config, _Config, yaml.safe_load)
  status = _parse(files.status, _Status, json.loads)
  lines = _read_lines(files.metrics)
  last_test = max((test for tests in lines.values() for test in tests), default=0)
  # Rounded up: it is better to wait for a test that never comes than to call a run
  # complete before its last one. Once finished, what is there is what was planned.
  num_planned = -(-config.games // config.test.every)
  return Record(
    files=files,
    label=label or files.name,
    game=str(config.game),
    paper=config.paper,
    num_planned=last_test if status.is_finished else max(last_test, num_planned, 1),
    status=status,
    lines=lines,
  )


def _find_runs(directory: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields the directory if it is a run's, else all runs below it, by name."""
  if run_directory.RunDirectory(directory).holds_run:
    yield directory
    return
  for child in sorted(directory.iterdir()):
    if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
      yield from _find_runs(child)


def _shortest_unique_ends(paths: Sequence[pathlib.Path]) -> list[str]:
  """Returns for each path as few of its last parts as no other path ends with."""

  def end(path: pathlib.Path, num_parts: int) -> str:
    return "/".join(path.parts[-num_parts:])

  labels = []
  for path in paths:
    num_parts = 1
    while sum(end(other, num_parts) == end(path, num_parts) for other in paths) > 1:
      num_parts += 1
    labels.append(end(path, num_parts))
  return labels


def _parse(path: pathlib.Path, model: Any, parse_fn: Any) -> Any:
  """Reads a file into a model, with errors that name the file and the field."""
  try:
    return model.model_validate(parse_fn(_read_text(path)))
  except pydantic.ValidationError as error:
    raise ValueError(f"{path}: {_first_problem(error)}") from error
  except (json.JSONDecodeError, yaml.YAMLError) as error:
    reason = " ".join(str(error).split())
    raise ValueError(f"{path} cannot be understood: {reason}") from error


def _read_text(path: pathlib.Path) -> str:
  try:
    return path.read_text(encoding="utf-8")
  except FileNotFoundError as error:
    raise ValueError(f"{path} is missing") from error
  except (OSError, UnicodeDecodeError) as error:
    raise ValueError(f"{path} cannot be read: {error}") from error


def _first_problem(error: pydantic.ValidationError) -> str:
  problem = error.errors()[0]
  field = ".".join(map(str, problem["loc"]))
  return f"{field}: {problem['msg']}" if field else problem["msg"]


def _read_lines(path: pathlib.Path) -> dict[int, dict[int, _Line]]:
  """Reads metrics.jsonl; a run that has not been tested yet need not have it."""
  if not path.exists():
    return {}
  lines: dict[int, dict[int, _Line]] = {}
  texts = _read_text(path).removesuffix("\n").split("\n")
  for number, text in enumerate(texts, start=1):
    try:
      line = _Line.model_validate_json(text)
    except pydantic.ValidationError as error:
      if number == len(texts):  # Cut off when the run was.
        break
      raise ValueError(f"{path}, line {number}: {_first_problem(error)}") from error
    lines.setdefault(line.trial, {})[line.test] = line
  return lines
