"""The files of a run: their names, the lock on them, and atomic writes."""

from collections.abc import Iterator, Mapping, Sequence
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
from typing import Any, TextIO

from train.config import regular
from train.run import durable

__all__ = [
  "Metrics",
  "RunDirectory",
  "TakenError",
  "find_lines",
  "find_runs",
  "paths_below",
]


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
      status = json.loads(regular.read_bytes(self.status))
    except (OSError, ValueError, RecursionError):
      return {}
    return status if isinstance(status, dict) else {}

  def write_status(self, status: Mapping[str, Any]) -> None:
    """Replaces run.json."""
    self._replace(self.status, json.dumps(status, indent=2, allow_nan=False) + "\n")

  def write_config(self, text: str) -> None:
    """Writes the run's config."""
    self._replace(self.config, text)

  def set_aside(self, file: pathlib.Path, keep: bytes | None = None) -> pathlib.Path:
    """Gives a file that is not as the run has written it another name.

    Args:
      file: one of the run's.
      keep: what is left under its name; if not given, nothing.

    Returns:
      Where it is now.
    """
    target = file.with_name(f"{file.name}.damaged")
    while target.exists():
      target = target.with_name(f"{target.name}_again")
    with self.errors_explained():
      if keep is None:
        file.rename(target)
      else:
        os.link(file, target)
        durable.replace(file, keep)
    return target

  @contextlib.contextmanager
  def errors_explained(self, verb: str = "write into") -> Iterator[None]:
    """Turns file system errors into a `ValueError` of one sentence."""
    try:
      yield
    except OSError as error:
      reason = error.strerror or error
      raise ValueError(
        f"cannot {verb} {self.path}: {reason}; what was written so far is kept"
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
    with self.errors_explained():
      durable.replace(file, text.encode())


def find_runs(directory: pathlib.Path) -> Iterator[RunDirectory]:
  """Yields a directory if it is a run's, else all runs below it, sorted."""
  os.listdir(directory)  # To be read at all; below it, what cannot be is left out.
  for parent, names, _ in os.walk(directory):
    files = RunDirectory(pathlib.Path(parent))
    if files.holds_run:
      names.clear()
      yield files
    else:
      names[:] = sorted(name for name in names if not name.startswith("."))


def paths_below(directory: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields all that is below a directory, while others may write and remove some."""
  for parent, folders, files in os.walk(directory):
    yield from (pathlib.Path(parent, name) for name in (*folders, *files))


class Metrics:
  """Appends to metrics.jsonl. The same run writes the same bytes.

  Attributes:
    checksum: the sha256 of all lines so far.
  """

  def __init__(self, directory: RunDirectory, lines: bytes):
    """Opens the file and drops what was written after the checkpoint.

    Args:
      directory: the run's directory.
      lines: what the file begins with: the tests of the checkpoint.
    """
    self._directory = directory
    self._digest = hashlib.sha256(lines)
    with directory.errors_explained():
      directory.metrics.touch()
      durable.sync(directory.path)
      self._stream: TextIO = directory.metrics.open("a", encoding="utf-8")
      self._stream.truncate(len(lines))

  @property
  def checksum(self) -> str:
    return self._digest.hexdigest()

  def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
    """Appends lines; they are on disk when this returns."""
    with self._directory.errors_explained():
      for line in lines:
        text = json.dumps(line, allow_nan=False) + "\n"
        self._stream.write(text)
        self._stream.flush()
        self._digest.update(text.encode())
      os.fsync(self._stream.fileno())

  def close(self) -> None:
    with self._directory.errors_explained():
      self._stream.close()


def find_lines(
  directory: RunDirectory, *, num_tests: int, num_lines: int, checksum: str
) -> bytes | None:
  """Returns the lines of metrics.jsonl that were there when a checkpoint was saved.

  Args:
    directory: the run's directory.
    num_tests: the tests of each trial by then.
    num_lines: the lines by then.
    checksum: their sha256; empty in checkpoints from before there was one, whose lines
      are counted.

  Returns:
    None if they are not as they were written.

  Raises:
    ValueError: if the file cannot be read.
  """
  with directory.errors_explained("read"):
    exists = directory.metrics.exists()
    contents = directory.metrics.read_bytes() if exists else b""
  if not checksum:
    lines = _lines_of_tests(contents, num_tests)
    return b"".join(lines) if len(lines) == num_lines else None
  lines = contents.splitlines(keepends=True)[:num_lines]
  found = b"".join(lines)
  return found if hashlib.sha256(found).hexdigest() == checksum else None


def _lines_of_tests(contents: bytes, num_tests: int) -> list[bytes]:
  """Returns the whole lines of the first tests with which a file begins."""
  kept = []
  for line in contents.splitlines(keepends=True):
    try:
      is_kept = line.endswith(b"\n") and json.loads(line)["test"] <= num_tests
    except (ValueError, KeyError, TypeError, RecursionError):
      is_kept = False
    if not is_kept:
      break
    kept.append(line)
  return kept
