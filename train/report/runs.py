"""Reads back what runs left in their directories, finished or not."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import gzip
import json
import pathlib
from typing import Any

import numpy as np
import pydantic
import yaml

from train.config import plan
from train.report import statistics
from train.run import directory as run_directory

__all__ = [
  "PaperReference",
  "Record",
  "Run",
  "read",
  "read_all",
  "read_references",
  "shortest_unique_ends",
]


class _Model(pydantic.BaseModel):
  # What a report does not need may change without breaking it.
  model_config = pydantic.ConfigDict(
    extra="ignore", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
  )


@dataclasses.dataclass(frozen=True)
class PaperReference:
  """Which row of which paper some trials stand for.

  Attributes:
    name: the paper.
    tables: its tables that have the row.
    row: the row, of the same name in all of them.
    reading: the way in which what the paper leaves open is filled in, where several
      are tried.
  """

  name: str
  tables: tuple[str, ...]
  row: str
  reading: str | None = None


class _PaperSettings(_Model):
  name: str
  table: str | tuple[str, ...]
  row: str | None = None
  reading: str | None = None

  def reference(self, row: str) -> PaperReference:
    tables = (self.table,) if isinstance(self.table, str) else self.table
    return PaperReference(self.name, tables, row, self.reading)


class _TestPlan(_Model):
  every: int = pydantic.Field(ge=1)
  also_at: tuple[int, ...] = ()


class _Config(_Model):
  game: Any
  games: int = pydantic.Field(ge=0)
  opponent: str | dict[str, Any] = "self"
  trials: int = pydantic.Field(default=1, ge=1)
  test: _TestPlan
  paper: _PaperSettings | None = None

  @pydantic.model_validator(mode="after")
  def _each_row_has_one_name(self) -> "_Config":
    if self.paper is None:
      return self
    if self.opponents and self.paper.row is not None:
      raise ValueError(
        f"paper.row is {self.paper.row!r}, but each of several opponents is a row"
      )
    if not self.opponents and self.paper.row is None:
      raise ValueError("paper.row is missing")
    return self

  @property
  def opponents(self) -> tuple[str, ...]:
    """The names of several opponents; none if there is but one."""
    return () if isinstance(self.opponent, str) else tuple(self.opponent)

  @property
  def planned(self) -> tuple[int, ...]:
    """The numbers of games after which a trial is tested."""
    return plan.planned_tests(self.games, self.test.every, self.test.also_at)


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
  finished: tuple[int, ...] = ()


class _Line(pydantic.BaseModel):
  """A test of one trial; the metrics are what remains."""

  model_config = pydantic.ConfigDict(extra="allow", frozen=True)
  test: int
  trial: int
  games: int


@dataclasses.dataclass(frozen=True)
class Run:
  """A run as its directory tells it.

  Attributes:
    files: where it is.
    label: the shortest end of that path which no other run of the report has.
    game: the game's name.
    opponents: the names of several opponents; none if there is but one.
    paper: what of a paper it stands for, if any.
    planned: the numbers of games after which a trial is tested.
    num_planned: how many tests a trial has that goes on to the end of the run.
    status: the contents of run.json.
    lines: the lines of metrics.jsonl, by trial and by the test's number.
  """

  files: run_directory.RunDirectory
  label: str
  game: str
  opponents: tuple[str, ...]
  paper: _PaperSettings | None
  planned: tuple[int, ...]
  num_planned: int
  status: _Status
  lines: dict[int, dict[int, _Line]]

  @property
  def records(self) -> list["Record"]:
    """Its trials, set apart by opponent."""
    trials = range(self.status.trials)
    if not self.opponents:
      row = self.paper.row if self.paper is not None else None
      return [Record(self, self.label, self._reference(row), trials)]
    num_each = len(trials) // len(self.opponents)
    return [
      Record(
        self,
        f"{self.label}/{opponent}",
        self._reference(opponent),
        trials[place * num_each : (place + 1) * num_each],
      )
      for place, opponent in enumerate(self.opponents)
    ]

  @property
  def games_done(self) -> int:
    """The games of the trial that has fewest, of those that still train.

    Those that ended early or diverged count only if there are no others.
    """
    ended = {*self.status.diverged, *self.status.finished}
    games = self.status.games
    going = [count for trial, count in enumerate(games) if trial not in ended]
    return min(going) if going else max(games, default=0)

  @property
  def num_tests(self) -> int:
    """The tests of the trial that has fewest, of those that still train."""
    ended = {*self.status.diverged, *self.status.finished}
    tests = [max(self.lines[trial]) for trial in self.lines if trial not in ended]
    return min(tests, default=0)

  def _reference(self, row: str | None) -> PaperReference | None:
    if self.paper is None or row is None:
      return None
    return self.paper.reference(row)


@dataclasses.dataclass(frozen=True)
class Record:
  """The trials of a run against one opponent: what a row of a table comes from.

  Attributes:
    run: the run.
    label: the run's, with the opponent's name if there are several.
    paper: the row of a paper they stand for, if any.
    numbers: the numbers that the trials have in the run.
  """

  run: Run
  label: str
  paper: PaperReference | None
  numbers: range

  @property
  def trials(self) -> list[int]:
    """The trials that have a test and did not diverge."""
    diverged = self.diverged
    return [
      trial
      for trial in self.numbers
      if trial in self.run.lines and trial not in diverged
    ]

  @property
  def diverged(self) -> list[int]:
    """The trials that diverged."""
    return [trial for trial in self.run.status.diverged if trial in self.numbers]

  @property
  def finished(self) -> list[int]:
    """The trials that ended before the run, as they had nothing left to learn."""
    return [trial for trial in self.run.status.finished if trial in self.numbers]

  @property
  def is_finished(self) -> bool:
    """Whether no trial goes on."""
    num_ended = len({*self.diverged, *self.finished})
    return self.run.status.is_finished or num_ended == len(self.numbers) > 0

  def curves(self, metric: str) -> dict[int, statistics.Curve]:
    """Returns one metric's curve for each of `trials` that has a finite value.

    Args:
      metric: a field of metrics.jsonl; or `seconds`, the trial's share of the time
        that all trials trained together, by its share of their games.

    Raises:
      ValueError: if a line has no such field, or no number there.
    """
    curves = {}
    finished = set(self.finished)
    for trial in self.trials:
      lines = self.run.lines[trial]
      points = []
      for number in sorted(lines):
        value = self._value(lines[number], metric)
        if np.isfinite(value):
          points.append((number, lines[number].games, value))
      if points:
        tests, games, values = map(np.asarray, zip(*points, strict=True))
        has_finished = trial in finished
        num_planned = max(lines) if has_finished else self.run.num_planned
        curves[trial] = statistics.Curve(
          tests, games, values, num_planned, has_finished=has_finished
        )
    return curves

  def _value(self, line: _Line, metric: str) -> float:
    if metric == "seconds":
      status = self.run.status
      return status.seconds * line.games / max(1, sum(status.games))
    values = {"games": line.games, **(line.model_extra or {})}
    if metric not in values:
      known = ", ".join(sorted(values))
      raise ValueError(
        f"{self.run.files.metrics}: test {line.test} of trial {line.trial} has no "
        f"{metric!r}, only {known}"
      )
    value = values[metric]
    if value is None:  # How strict JSON writes what is not a number.
      return float("nan")
    if not isinstance(value, int | float):
      raise ValueError(
        f"{self.run.files.metrics}: the {metric} of test {line.test} of trial "
        f"{line.trial} is {value!r}, not a number"
      )
    return float(value)


def read_all(directories: Iterable[pathlib.Path | str]) -> list[Run]:
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
    runs = [files.path for files in run_directory.find_runs(directory)]
    if not runs:
      raise ValueError(f"{directory} has no run in it, nor has any directory below")
    found |= {run.resolve(): run for run in runs}
  labels = shortest_unique_ends(list(found))
  return [
    read(run, label=label) for run, label in zip(found.values(), labels, strict=True)
  ]


def read(directory: pathlib.Path, *, label: str | None = None) -> Run:
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
  if config.opponents and status.trials != config.trials * len(config.opponents):
    raise ValueError(
      f"{files.status}: trials is {status.trials}, but {files.config.name} has "
      f"{len(config.opponents)} opponents with {config.trials} each"
    )
  lines = _read_lines(files.metrics)
  last_test = max((test for tests in lines.values() for test in tests), default=0)
  planned = config.planned
  return Run(
    files=files,
    label=label or files.name,
    game=str(config.game),
    opponents=config.opponents,
    paper=config.paper,
    planned=planned,
    # Once finished, what is there is what was planned.
    num_planned=last_test if status.is_finished else max(last_test, len(planned)),
    status=status,
    lines=lines,
  )


def read_references(values: Mapping[str, Any]) -> list[PaperReference]:
  """Returns the rows of papers that the trials of a config will stand for.

  Args:
    values: of a config, laid out as in a file.

  Raises:
    ValueError: if it does not say which.
  """
  try:
    config = _Config.model_validate(values)
  except pydantic.ValidationError as error:
    raise ValueError(_first_problem(error)) from error
  if config.paper is None:
    return []
  rows = config.opponents or (config.paper.row,)
  return [config.paper.reference(row) for row in rows if row is not None]


def shortest_unique_ends(paths: Sequence[pathlib.Path]) -> list[str]:
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
    # What is kept for long may be compressed.
    if path.suffix == ".gz":
      return gzip.decompress(path.read_bytes()).decode("utf-8")
    return path.read_text(encoding="utf-8")
  except FileNotFoundError as error:
    raise ValueError(f"{path} is missing") from error
  except (OSError, UnicodeDecodeError) as error:
    raise ValueError(f"{path} cannot be read: {error}") from error


def _first_problem(error: pydantic.ValidationError) -> str:
  problem = error.errors()[0]
  field = ".".join(map(str, problem["loc"]))
  message = str(problem["msg"]).removeprefix("Value error, ")
  return f"{field}: {message}" if field else message


def _read_lines(path: pathlib.Path) -> dict[int, dict[int, _Line]]:
  """Reads metrics.jsonl, or metrics.jsonl.gz; without a test there need be none."""
  if not path.exists():
    path = path.with_name(f"{path.name}.gz")
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
