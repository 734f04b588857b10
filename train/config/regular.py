"""Reads files that others name: never waits for a pipe, nor reads a device forever."""

import pathlib
import stat

__all__ = ["check", "read_bytes"]


def read_bytes(path: pathlib.Path, *, most_bytes: int | None = None) -> bytes:
  """Returns what a regular file holds.

  Args:
    path: of the file.
    most_bytes: the largest file that is read; any, if not given.

  Raises:
    FileNotFoundError: if there is no such file.
    ValueError: if it cannot be read, is no regular file or is too large; one sentence.
  """
  check(path, most_bytes=most_bytes)
  try:
    return path.read_bytes()
  except FileNotFoundError:
    raise
  except OSError as error:
    raise ValueError(f"cannot read {path}: {error.strerror or error}") from error


def check(path: pathlib.Path, *, most_bytes: int | None = None) -> None:
  """Refuses what is no regular file; to open a pipe would wait for its other end.

  Args:
    path: of the file.
    most_bytes: its greatest size; any, if not given.

  Raises:
    FileNotFoundError: if there is no such file.
    ValueError: if it is something else, too large or not to be looked at; one sentence.
  """
  if "\0" in str(path):
    raise ValueError(f"cannot read {str(path)!r}: no file has a NUL in its name")
  try:
    about = path.stat()
  except FileNotFoundError:
    raise
  except OSError as error:
    raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
  if not stat.S_ISREG(about.st_mode):
    kind = "a directory" if stat.S_ISDIR(about.st_mode) else "not a regular file"
    raise ValueError(f"cannot read {path}: it is {kind}")
  if most_bytes is not None and about.st_size > most_bytes:
    raise ValueError(f"cannot read {path}: it has more than {most_bytes:,} bytes")
