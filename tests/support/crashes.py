"""Processes that die before their n-th file operation, and a power loss with it.

Run as a program it is a server of such processes: imports are made once, and each
process is a fork from before jax has any device.
"""

from collections.abc import Callable
import contextlib
import io
import json
import os
import pathlib
import shutil
import signal
import sys
import traceback
from typing import Any

import rich.console

from tests.support import runs
from tests.support import toy_learner
from train.report import document
from train.run import loop

# What Python tells of before it is done. Storage writes by itself, in C++, but only
# into a checkpoint that has not got its name yet.
CHANGES = {
  "os.link",
  "os.mkdir",
  "os.remove",
  "os.rename",
  "os.rmdir",
  "os.truncate",
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# A number of an operation that is never reached.
NEVER = 10**9


class Crash:
  """Kills this process before one of its file operations below a directory."""

  def __init__(self, directory: pathlib.Path, at: int, *, has_power_loss: bool):
    """Begins to count.

    Args:
      directory: whose operations are counted.
      at: the operation before which the process dies; the first is 1.
      has_power_loss: whether files that were not synced since they were last written
        lose their contents.
    """
    self._directory = os.path.realpath(directory)
    self._at = at
    self._has_power_loss = has_power_loss
    # What is there from before is on disk.
    files = [path.stat() for path in directory.rglob("*")]
    self._synced = {about.st_ino: about.st_mtime_ns for about in files}
    self._fsync = os.fsync
    self.count = 0
    os.fsync = self._sync  # type: ignore[assignment]
    sys.addaudithook(self._hear)

  def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
    is_write = event == "open" and bool((arguments[2] or 0) & WRITES)
    if is_write or event in CHANGES:
      self._reach(arguments[0])

  def _sync(self, descriptor: int) -> None:
    self._reach(os.readlink(f"/proc/self/fd/{descriptor}"))
    self._fsync(descriptor)
    about = os.fstat(descriptor)
    self._synced[about.st_ino] = about.st_mtime_ns

  def _reach(self, path: Any) -> None:
    if isinstance(path, int) or not os.fspath(path).startswith(self._directory):
      return
    self.count += 1
    if self.count == self._at:
      if self._has_power_loss:
        self._lose()
      os.kill(os.getpid(), signal.SIGKILL)

  def _lose(self) -> None:
    for path in pathlib.Path(self._directory).rglob("*"):
      with contextlib.suppress(OSError):  # Others still write.
        about = path.lstat()
        if path.is_file() and self._synced.get(about.st_ino) != about.st_mtime_ns:
          os.truncate(path, 0)


def train(directory: pathlib.Path) -> None:
  """Starts or resumes a run with two tests, which keeps one checkpoint."""
  console = rich.console.Console(file=io.StringIO())
  if (directory / "config.yaml").exists():
    loop.resume(directory, console)
  else:
    config = toy_learner.make_config(trials=1, games=50, checkpoint={"keep": 1})
    loop.start(config, directory, console)


def report(directory: pathlib.Path) -> None:
  """Writes the report of a run."""
  document.write(document.make([directory]), directory / "report")


def results(directory: pathlib.Path) -> Any:
  """Returns all that must be as if nothing had happened."""
  written = {
    path.name: path.read_bytes()
    for path in (directory / "report").glob("*")
    if path.suffix in {".md", ".json"}
  }
  return runs.results(directory), written


def survives(
  work_fn: Callable[[pathlib.Path], None],
  root: pathlib.Path,
  at: int,
  *,
  has_power_loss: bool,
) -> bool | None:
  """Dies at an operation, works again, and compares.

  Args:
    work_fn: what is done.
    root: has in `whole/run` what comes of it, and perhaps in `template` what it begins
      with.
    at: the operation.
    has_power_loss: see `Crash`.

  Returns:
    Whether the results are those of unbroken work; None if there are not so many
    operations.
  """
  directory = root / "cut" / "run"  # Of the same name as the whole one, for reports.
  shutil.rmtree(directory, ignore_errors=True)
  if (root / "template").exists():
    shutil.copytree(root / "template", directory)

  def work_and_die() -> None:
    Crash(directory, at, has_power_loss=has_power_loss)
    work_fn(directory)

  if _fork(work_and_die) != -signal.SIGKILL:
    return None
  if _fork(lambda: work_fn(directory)) != 0:
    return False
  return results(directory) == results(root / "whole" / "run")


def _fork(call_fn: Callable[[], None]) -> int:
  """Calls a function in a process of its own; returns its exit code."""
  child = os.fork()
  if child:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
  code = 1
  try:
    with toy_learner.registered():
      call_fn()
    code = 0
  except BaseException:
    traceback.print_exc()
  finally:
    os._exit(code)


def main() -> None:
  """Tries every n-th operation: train|report DIR N."""
  scenario, place, step = sys.argv[1:]
  root = pathlib.Path(place)
  work_fn = {"train": train, "report": report}[scenario]
  if scenario == "report":
    _fork(lambda: train(root / "template"))
    shutil.copytree(root / "template", root / "whole" / "run")
  _fork(lambda: work_fn(root / "whole" / "run"))
  tried: list[int] = []
  broken = []
  for at in range(1, NEVER, int(step)):
    # Both, if every operation is tried.
    for has_power_loss in (False, True) if step == "1" else (at % 2 == 0,):
      outcome = survives(work_fn, root, at, has_power_loss=has_power_loss)
      if outcome is False:
        broken.append([at, has_power_loss])
    if outcome is None:
      break
    tried.append(at)
  print(json.dumps({"tried": tried, "broken": broken}))


if __name__ == "__main__":
  main()
