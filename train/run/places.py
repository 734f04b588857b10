"""Where runs may be written, found out before anything is trained; free of jax."""

from collections.abc import Iterable
import contextlib
import os
import pathlib

from train.run import directory as run_directory

__all__ = ["check_run", "check_sweep"]

# What a run that was stopped in its very first moment may leave behind.
LEFT_BEHIND = {".lock", ".config.yaml.new"}

# As long as the longest path below a run's directory, so that a run does not find out
# at its first checkpoint that a name is too long.
PROBE = f".{'probe':x<160}"

# Where runs are below the directory of sweeps: in it, in a sweep's, in a reading's.
RUNS_BELOW = ("*/config.yaml", "*/*/config.yaml", "*/*/*/config.yaml")


def check_run(path: pathlib.Path) -> None:
  """Checks that a run may be begun in a directory; afterwards all is as before.

  Raises:
    ValueError: if it cannot be written, or has files that are not of a run.
  """
  _try_to_write(path)
  if path.is_dir() and not run_directory.RunDirectory(path).holds_run:
    _refuse_others(path, sorted(set(os.listdir(path)) - LEFT_BEHIND))


def check_sweep(path: pathlib.Path, runs: Iterable[pathlib.Path]) -> None:
  """Checks that the runs of a sweep may be begun; afterwards all is as before.

  Args:
    path: where the sweep's directory is, or is to be, beside those of others.
    runs: the directories of all runs.

  Raises:
    ValueError: if one cannot be written, or has files that are not of a run.
  """
  _try_to_write(path)
  if run_directory.RunDirectory(path).holds_run:
    raise ValueError(f"{path} is a run itself: a sweep needs another directory")
  if path.is_dir() and not any(next(path.glob(p), None) for p in RUNS_BELOW):
    _refuse_others(path, sorted(file.name for file in path.iterdir() if file.is_file()))
  for run in runs:
    check_run(run)


def _refuse_others(path: pathlib.Path, names: list[str]) -> None:
  if names:
    raise ValueError(
      f"{path} has other files in it, such as {names[0]!r}, but no run: choose a new or "
      "an empty directory"
    )


def _try_to_write(path: pathlib.Path) -> None:
  """Writes a file into a directory that may not be there yet, and removes both."""
  made: list[pathlib.Path] = []
  try:
    str(path).encode("utf-8")  # Checkpoints have no other names.
    for place in (*reversed(path.parents), path):
      try:
        place.stat()
      except FileNotFoundError:
        place.mkdir()
        made.append(place)
    probe = path / f"{PROBE}{os.getpid()}"
    probe.write_bytes(b"\n")
    probe.unlink()
  except (OSError, ValueError) as error:
    reason = getattr(error, "strerror", None) or error
    raise ValueError(f"cannot write into {path}: {reason}") from error
  finally:
    for place in reversed(made):
      with contextlib.suppress(OSError):
        place.rmdir()
