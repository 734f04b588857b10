"""Reads files that others name: never waits for a pipe, nor reads a device forever."""

import pathlib
import stat

__all__ = ["check", "read_bytes"]

# Of a file that has no bound of its own.
MOST_BYTES = 1 << 32


def read_bytes(path: pathlib.Path, *, most_bytes: int = MOST_BYTES) -> bytes:
  """Returns what a regular file holds.

  Args:
    path: of the file.
    most_bytes: the largest file that is read.

  Raises:
    FileNotFoundError: if there is no such file.
    ValueError: if it cannot be read, is no regular file or is too large; one sentence.
  """
  check(path)
  try:
    with path.open("rb") as file:
      contents = file.read(most_bytes + 1)
  except FileNotFoundError:
    raise
  except OSError as error:
    raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
  if len(contents) > most_bytes:
    raise ValueError(f"cannot read {path}: it has more than {most_bytes:,} bytes")
  return contents


def check(path: pathlib.Path) -> None:
  """Refuses what is no regular file; to open a pipe would wait for its other end.

  Raises:
    FileNotFoundError: if there is no such file.
    ValueError: if it is something else or cannot be looked at; one sentence.
  """
  if "\0" in str(path):
    raise ValueError(f"cannot read {str(path)!r}: no file has a NUL in its name")
  try:
    mode = path.stat().st_mode
  except FileNotFoundError:
    raise
  except OSError as error:
    raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
  if not stat.S_ISREG(mode):
    kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
    raise ValueError(f"cannot read {path}: it is {kind}")
