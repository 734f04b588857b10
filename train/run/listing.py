"""The runs below a directory, as their files tell; free of jax, and only reads."""

from collections.abc import Iterable, Mapping
import dataclasses
import datetime
import gzip
import json
import pathlib
from typing import Any, Literal

from train.config import plan
from train.config import regular
from train.config import yaml_text
from train.run import directory as run_directory

__all__ = ["Row", "State", "list_runs"]

# A run's status has a line or two for each trial.
MOST_BYTES = 100_000_000

State = Literal["finished", "unfinished", "diverged", "damaged"]


@dataclasses.dataclass(frozen=True)
class Row:
  """What is to be said of a run; what its files do not tell is None.

  Attributes:
    name: its directory, relative to the one that was asked for.
    state: `diverged` if no trial came to its end, `damaged` if a file cannot be read.
    game: the game's name.
    learner: the learner's kind.
    trials: how many, against all opponents.
    games: of the trial that has fewest, of those that still train.
    games_wanted: of each trial.
    tests: made of each trial.
    tests_wanted: how many are planned.
    score: mean over the trials of the score in the last test of each.
    num_bytes: on disk, checkpoints and all.
    written: when a file of it was last written.
    problem: what cannot be read, if anything.
  """

  name: str
  state: State
  game: str | None = None
  learner: str | None = None
  trials: int | None = None
  games: int | None = None
  games_wanted: int | None = None
  tests: int | None = None
  tests_wanted: int | None = None
  score: float | None = None
  num_bytes: int = 0
  written: datetime.datetime | None = None
  problem: str | None = None

  def as_json(self) -> dict[str, Any]:
    """Returns plain values; the time is in UTC, as ISO 8601."""
    written = self.written and self.written.isoformat(timespec="seconds")
    return {**dataclasses.asdict(self), "written": written}


def list_runs(directory: pathlib.Path | str) -> list[Row]:
  """Lists the runs below a directory by name; what is damaged has a row that says so.

  Raises:
    ValueError: if there is no such directory.
  """
  directory = pathlib.Path(directory)
  if not directory.is_dir():
    raise ValueError(f"there is no directory {directory}")
  try:
    found = list(run_directory.find_runs(directory))
  except OSError as error:
    raise ValueError(f"cannot read {error.filename}: {error.strerror}") from error
  return [_describe(files, directory) for files in found]


def _describe(files: run_directory.RunDirectory, below: pathlib.Path) -> Row:
  name = files.name if files.path == below else str(files.path.relative_to(below))
  num_bytes, written = _measure(files.path)
  common: dict[str, Any] = {"num_bytes": num_bytes, "written": written}
  try:
    return Row(name, **_read(files), **common)
  # A foreign file may hold anything of any type in any place.
  except (ValueError, TypeError, KeyError, AttributeError, EOFError) as error:
    problem = " ".join(str(error).split()) or type(error).__name__
    return Row(name, "damaged", problem=problem, **common)


def _read(files: run_directory.RunDirectory) -> dict[str, Any]:
  config = _parse(files.config, yaml_text.parse)
  opponent, trials = config.get("opponent", "self"), int(config.get("trials", 1))
  trials *= 1 if isinstance(opponent, str) else len(opponent)
  test = config["test"]
  points = plan.planned_tests(
    int(config["games"]), int(test["every"]), tuple(test.get("also_at") or ())
  )
  # Before its first test, and before its first checkpoint, a run has less to tell.
  status = _parse(files.status, json.loads) if files.status.exists() else {}
  done = [int(games) for games in status.get("games", [0] * trials)]
  diverged, ended = set(status.get("diverged", ())), set(status.get("finished", ()))
  training = [n for trial, n in enumerate(done) if trial not in diverged | ended]
  lines = _last_lines(files.metrics, trials)
  return {
    "state": _state(bool(status.get("is_finished")), len(diverged), trials),
    "game": str(config["game"]),
    "learner": str(config["learner"]["kind"]),
    "trials": trials,
    "games": min(training) if training else max(done, default=0),
    "games_wanted": points[-1],
    "tests": max((int(line["test"]) for line in lines), default=0),
    "tests_wanted": len(points),
    "score": _mean(float(line["score"]) for line in lines),
  }


def _state(is_finished: bool, num_diverged: int, trials: int) -> State:
  if num_diverged >= trials:
    return "diverged"
  return "finished" if is_finished else "unfinished"


def _mean(values: Iterable[float]) -> float | None:
  values = list(values)
  return sum(values) / len(values) if values else None


def _parse(path: pathlib.Path, parse_fn: Any) -> Mapping[str, Any]:
  """Returns the mapping that a file holds."""
  try:
    values = parse_fn(regular.read_bytes(path, most_bytes=MOST_BYTES).decode("utf-8"))
  except FileNotFoundError:
    raise ValueError(f"it has no {path.name}") from None
  except (ValueError, RecursionError) as error:
    raise ValueError(f"{path.name} cannot be read") from error
  if not isinstance(values, dict):
    raise ValueError(f"{path.name} holds no fields")
  return values


def _last_lines(path: pathlib.Path, trials: int) -> list[Mapping[str, Any]]:
  """Returns the last line of metrics.jsonl for each trial."""
  try:
    if path.exists():
      contents = regular.read_bytes(path)
    else:  # What is kept for long may be compressed.
      compressed = path.with_name(f"{path.name}.gz")
      contents = gzip.decompress(regular.read_bytes(compressed))
  except FileNotFoundError:
    return []  # Nothing was tested yet.
  except (OSError, EOFError, ValueError) as error:
    raise ValueError(f"{path.name} cannot be read") from error
  found: dict[int, Mapping[str, Any]] = {}
  for number, text in enumerate(reversed(contents.split(b"\n"))):
    if len(found) == trials:
      break
    if number == 0:
      continue  # After the last end of a line there is nothing, or half of one.
    try:
      line = json.loads(text)
      found.setdefault(int(line["trial"]), line)
    except (ValueError, KeyError, TypeError) as error:
      raise ValueError(f"{path.name} has a line that is no test") from error
  return list(found.values())


def _measure(path: pathlib.Path) -> tuple[int, datetime.datetime | None]:
  """Returns the bytes of all files, and when the newest was written."""
  num_bytes, newest = 0, 0.0
  for file in run_directory.paths_below(path):
    try:
      about = file.lstat()
    except OSError:
      continue  # Removed since: the run is being trained.
    if not file.is_dir():
      num_bytes += about.st_size
      newest = max(newest, about.st_mtime)
  if not newest:
    return num_bytes, None
  return num_bytes, datetime.datetime.fromtimestamp(newest, datetime.UTC)
