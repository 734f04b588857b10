"""Files that a power loss cannot leave half written."""

import os
import pathlib

__all__ = ["replace", "sync", "sync_tree"]


def replace(path: pathlib.Path, contents: bytes) -> None:
  """Replaces a file: after a crash at any moment it is the old one or the new one.

  Raises:
    OSError: if it cannot be written; the old one is left as it was.
  """
  new = path.with_name(f".{path.name}.new")
  try:
    with new.open("wb") as stream:
      stream.write(contents)
      stream.flush()
      os.fsync(stream.fileno())
    new.replace(path)
  except OSError:
    new.unlink(missing_ok=True)
    raise
  sync(path.parent)


def sync(path: pathlib.Path) -> None:
  """Waits until a file's contents, or the names in a directory, are on disk."""
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)


def sync_tree(path: pathlib.Path) -> None:
  """Waits until everything in a directory is on disk."""
  for parent, _, names in os.walk(path, topdown=False):
    for name in names:
      sync(pathlib.Path(parent, name))
    sync(pathlib.Path(parent))
