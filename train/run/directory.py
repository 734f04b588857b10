"""The files of a run: their names, the lock on them, and atomic writes."""

from collections.abc import Iterator, Mapping, Sequence
import contextlib
import fcntl
import json
import os
import pathlib
from typing import Any, TextIO

__all__ = ["Metrics", "RunDirectory", "TakenError", "find_runs"]


class TakenError(ValueError):
  """A run is in the directory already, or another process trains there."""


class RunDirectory:
  """The directory of a run.

  Attributes:
    path: the directory.
    config: the run's config, with all defaults and overrides written out.
    metrics: a line for every test of every trial.
    status: the run's progress, machine and versions.
    states: the checkpoints.
    tensorboard: the TensorBoard log.
  """

  def __init__(self, path: pathlib.Path | str):
    """Names the files; neither reads nor writes any."""
    self.path = pathlib.Path(path)
    self.config = self.path / "config.yaml"
    self.metrics = self.path / "metrics.jsonl"
    self.status = self.path / "run.json"
    self.states = self.path / "state"
    self.tensorboard = self.path / "tensorboard"
    self._lock = self.path / ".lock"

  @property
  def name(self) -> str:
    """The directory's own name."""
    return self.path.resolve().name

  @property
  def holds_run(self) -> bool:
    """Whether a run was started here."""
    files = (self.config, self.metrics, self.status, self.states)
    return any(file.exists() for file in files)

  def read_status(self) -> dict[str, Any]:
    """Returns the contents of run.json; empty if it cannot be read."""
    try:
      return json.loads(self.status.read_text(encoding="utf-8"))
    except (OSError, ValueError):
      return {}

  def write_status(self, status: Mapping[str, Any]) -> None:
    """Replaces run.json."""
    self._replace(self.status, json.dumps(status, indent=2, allow_nan=False) + "\n")

  def write_config(self, text: str) -> None:
    """Writes the run's config."""
    self._replace(self.config, text)

  @contextlib.contextmanager
  def errors_explained(self) -> Iterator[None]:
    """Turns file system errors into a `ValueError` of one sentence."""
    try:
      yield
    except OSError as error:
      reason = error.strerror or error
      raise ValueError(
        f"cannot write into {self.path}: {reason}; what was written so far is kept"
      ) from error

  @contextlib.contextmanager
  def locked(self) -> Iterator[None]:
    """Creates the directory if needed, and locks it against other processes.

    Raises:
      TakenError: if another process trains in it.
      ValueError: if it cannot be written.
    """
    with self.errors_explained():
      self.path.mkdir(parents=True, exist_ok=True)
      file = self._lock.open("a+", encoding="utf-8")
    with file:
      try:
        # The system releases the lock when the process ends, however it ends.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
      except BlockingIOError:
        file.seek(0)
        owner = file.read().strip()
        who = f"process {owner}" if owner else "another process"
        raise TakenError(
          f"{self.path} is being trained by {who}; wait for it or stop it"
        ) from None
      with self.errors_explained():
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
      yield

  def _replace(self, file: pathlib.Path, text: str) -> None:
    """Replaces a file atomically."""
    new = file.with_name(f".{file.name}.new")
    with self.errors_explained():
      with new.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
      new.replace(file)


def find_runs(directory: pathlib.Path) -> Iterator[RunDirectory]:
  """Yields a directory if it is a run's, else all runs below it, sorted."""
  files = RunDirectory(directory)
  if files.holds_run:
    yield files
    return
  for child in sorted(directory.iterdir()):
    if child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
      yield from find_runs(child)


class Metrics:
  """Appends to metrics.jsonl. The same run writes the same bytes."""

  def __init__(self, directory: RunDirectory, *, num_tests: int, num_lines: int):
    """Opens the file and drops the lines of tests after the checkpoint.

    Args:
      directory: the run's directory.
      num_tests: the number of tests of each trial to keep.
      num_lines: the number of lines of those tests.

    Raises:
      ValueError: if some of those lines are missing.
    """
    self._directory = directory
    with directory.errors_explained():
      kept, num_bytes = _whole_lines(directory.metrics, num_tests)
      if kept != num_lines:
        raise ValueError(
          f"{directory.metrics} has {kept} lines of the first {num_tests} tests, but "
          f"the checkpoint counts {num_lines}; nothing was changed"
        )
      self._stream: TextIO = directory.metrics.open("a", encoding="utf-8")
      self._stream.truncate(num_bytes)

  def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
    """Appends lines; they are on disk when this returns."""
    with self._directory.errors_explained():
      for line in lines:
        self._stream.write(json.dumps(line, allow_nan=False) + "\n")
        self._stream.flush()
      os.fsync(self._stream.fileno())

  def close(self) -> None:
    with self._directory.errors_explained():
      self._stream.close()


def _whole_lines(file: pathlib.Path, num_tests: int) -> tuple[int, int]:
  """Returns how many whole lines of the first tests a file begins with, and bytes."""
  if not file.exists():
    return 0, 0
  num_lines = num_bytes = 0
  for line in file.read_bytes().splitlines(keepends=True):
    try:
      is_kept = line.endswith(b"\n") and json.loads(line)["test"] <= num_tests
    except (ValueError, KeyError, TypeError):
      is_kept = False
    if not is_kept:
      break
    num_lines += 1
    num_bytes += len(line)
  return num_lines, num_bytes
