"""Reads the files of runs, finished or not."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import gzip
import json
import pathlib
from typing import Any
import zlib

import numpy as np
import pydantic

from train import config as config_lib
from train.config import migrations
from train.config import plan
from train.config import regular
from train.config import yaml_text
from train.report import statistics
from train.run import directory as run_directory

__all__ = [
  "PAPER_FIELDS",
  "PaperReference",
  "Record",
  "Run",
  "read",
  "read_all",
  "read_references",
  "shortest_unique_ends",
]


class _Model(pydantic.BaseModel):
  # Fields that a report does not need may change without breaking it.
  model_config = pydantic.ConfigDict(
    extra="ignore", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
  )


@dataclasses.dataclass(frozen=True)
class PaperReference:
  """The row of a paper that some trials reproduce.

  Attributes:
    name: the paper's name.
    tables: the tables that have the row.
    row: the row's name, the same in all of them.
    reading: the name of the reading, where several readings of the paper are tried.
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


# What a config may say under `paper`.
PAPER_FIELDS = tuple(_PaperSettings.model_fields)


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
        f"paper.row is {self.paper.row!r}, but must be left out: with several "
        "opponents each opponent is a row"
      )
    if not self.opponents and self.paper.row is None:
      raise ValueError("paper.row is missing")
    return self

  @property
  def opponents(self) -> tuple[str, ...]:
    """The opponents' names if there are several, else empty."""
    return () if isinstance(self.opponent, str) else tuple(self.opponent)

  @property
  def planned(self) -> tuple[int, ...]:
    """The numbers of games after which trials are tested."""
    return plan.planned_tests(self.games, self.test.every, self.test.also_at)


class _Status(_Model):
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
  """A test of one trial; all other fields are metrics."""

  model_config = pydantic.ConfigDict(extra="allow", frozen=True)
  test: int
  trial: int
  games: int


@dataclasses.dataclass(frozen=True)
class Run:
  """A run, read from its directory.

  Attributes:
    files: its directory.
    label: the shortest end of that path that is unique in the report.
    game: the game's name.
    opponents: the opponents' names if there are several, else empty.
    settings: the whole config, laid out as configs are now.
    paper: the config's `paper`, if any.
    planned: the numbers of games after which trials are tested.
    num_planned: the number of tests of a trial that does not end early.
    status: the contents of run.json.
    lines: the lines of metrics.jsonl, by trial and by the test's number.
  """

  files: run_directory.RunDirectory
  label: str
  game: str
  opponents: tuple[str, ...]
  settings: Mapping[str, Any]
  paper: _PaperSettings | None
  planned: tuple[int, ...]
  num_planned: int
  status: _Status
  lines: dict[int, dict[int, _Line]]

  @property
  def records(self) -> list["Record"]:
    """Its trials, grouped by opponent."""
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
    """The fewest games of any active trial.

    Trials that ended early or diverged count only if there are no others.
    """
    games = self.status.games
    active = [
      count for trial, count in enumerate(games) if trial not in self._ended_trials
    ]
    return min(active) if active else max(games, default=0)

  @property
  def num_tests(self) -> int:
    """The fewest tests of any active trial."""
    tests = [
      max(lines)
      for trial, lines in self.lines.items()
      if trial not in self._ended_trials
    ]
    return min(tests, default=0)

  @property
  def _ended_trials(self) -> set[int]:
    return {*self.status.diverged, *self.status.finished}

  def _reference(self, row: str | None) -> PaperReference | None:
    if self.paper is None or row is None:
      return None
    return self.paper.reference(row)


@dataclasses.dataclass(frozen=True)
class Record:
  """The trials of a run against one opponent, which make one row of a table.

  Attributes:
    run: the run.
    label: the run's label, with the opponent's name if there are several.
    paper: the row of a paper that they reproduce, if any.
    numbers: the trials' numbers in the run.
  """

  run: Run
  label: str
  paper: PaperReference | None
  numbers: range

  @property
  def trials(self) -> list[int]:
    """The trials with at least one test that did not diverge."""
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
    """The trials that ended early, as they had nothing left to learn."""
    return [trial for trial in self.run.status.finished if trial in self.numbers]

  @property
  def is_finished(self) -> bool:
    """Whether no trial is active."""
    num_ended = len({*self.diverged, *self.finished})
    return self.run.status.is_finished or num_ended == len(self.numbers) > 0

  def curves(self, metric: str) -> dict[int, statistics.Curve]:
    """Returns one metric's curve for each of `trials` that has a finite value.

    Args:
      metric: a field of metrics.jsonl; or `seconds`, the run's training time divided
        among all trials in proportion to their games.

    Raises:
      ValueError: if a line lacks the field, or its value is not a number.
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
    if value is None:  # NaN, which strict JSON cannot express.
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
    directories: directories of runs, or directories with runs anywhere below.

  Raises:
    ValueError: if a directory does not exist or has no run, or a run cannot be read.
  """
  found: dict[pathlib.Path, pathlib.Path] = {}
  for name in directories:
    directory = pathlib.Path(name)
    if not directory.is_dir():
      raise ValueError(f"{directory} is not a directory")
    runs = [files.path for files in run_directory.find_runs(directory)]
    if not runs:
      raise ValueError(f"there is no run in {directory}, nor in any directory below")
    found |= {run.resolve(): run for run in runs}
  labels = shortest_unique_ends(list(found))
  return [
    read(run, label=label) for run, label in zip(found.values(), labels, strict=True)
  ]


def read(directory: pathlib.Path, *, label: str | None = None) -> Run:
  """Reads one run.

  Args:
    directory: the run's directory.
    label: its label in the report; the directory's name if None.

  Raises:
    ValueError: if a file is missing or invalid; the message names the file.
  """
  files = run_directory.RunDirectory(directory)
  config = _parse(files.config, _Config, yaml_text.parse)
  status = _parse(files.status, _Status, json.loads)
  if config.opponents and status.trials != config.trials * len(config.opponents):
    raise ValueError(
      f"{files.status}: trials is {status.trials}, but {files.config.name} has "
      f"{len(config.opponents)} opponents with {config.trials} trials each"
    )
  lines = _read_lines(files.metrics)
  last_test = max((test for tests in lines.values() for test in tests), default=0)
  planned = config.planned
  return Run(
    files=files,
    label=label or files.name,
    game=str(config.game),
    opponents=config.opponents,
    settings=_settings(files.config),
    paper=config.paper,
    planned=planned,
    # A finished run has all of its tests.
    num_planned=last_test if status.is_finished else max(last_test, len(planned)),
    status=status,
    lines=lines,
  )


def read_references(values: Mapping[str, Any]) -> list[PaperReference]:
  """Returns the rows of papers that the trials of a config reproduce.

  Args:
    values: the config's values, as in a file.

  Raises:
    ValueError: if a field is missing or invalid.
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
  """Returns for each path the fewest last parts that no other path ends with."""

  def end(path: pathlib.Path, num_parts: int) -> str:
    return "/".join(path.parts[-num_parts:])

  labels = []
  for path in paths:
    num_parts = 1
    while sum(end(other, num_parts) == end(path, num_parts) for other in paths) > 1:
      num_parts += 1
    labels.append(end(path, num_parts))
  return labels


def _settings(path: pathlib.Path) -> dict[str, Any]:
  """Returns a saved config with present names, and defaults of what it does not say."""
  saved = yaml_text.parse(_read_text(path))
  try:
    return config_lib.to_mapping(config_lib.from_saved(saved, str(path)))
  except ValueError:
    # Of a learner or a player that is no more: a report does not need it.
    return migrations.migrate(saved)


def _parse(path: pathlib.Path, model: Any, parse_fn: Any) -> Any:
  """Reads a file into a model, with errors that name the file and the field."""
  text = _read_text(path)
  try:
    return model.model_validate(parse_fn(text))
  except pydantic.ValidationError as error:
    raise ValueError(f"{path}: {_first_problem(error)}") from error
  except (ValueError, RecursionError) as error:
    reason = " ".join(str(error).split())
    raise ValueError(f"{path} cannot be parsed: {reason}") from error


def _read_text(path: pathlib.Path) -> str:
  try:
    contents = regular.read_bytes(path)
    # Committed results may be compressed.
    if path.suffix == ".gz":
      contents = gzip.decompress(contents)
    return contents.decode("utf-8")
  except FileNotFoundError as error:
    raise ValueError(f"{path} is missing") from error
  except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
    raise ValueError(f"{path} cannot be read: {error}") from error


def _first_problem(error: pydantic.ValidationError) -> str:
  problem = error.errors()[0]
  field = ".".join(map(str, problem["loc"]))
  message = str(problem["msg"]).removeprefix("Value error, ")
  return f"{field}: {message}" if field else message


def _read_lines(path: pathlib.Path) -> dict[int, dict[int, _Line]]:
  """Reads metrics.jsonl or metrics.jsonl.gz; before the first test there is neither."""
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
      if number == len(texts):  # Incomplete, as the run was interrupted.
        break
      raise ValueError(f"{path}, line {number}: {_first_problem(error)}") from error
    lines.setdefault(line.trial, {})[line.test] = line
  return lines
