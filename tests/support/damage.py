"""Damage that disks, people and crashes do to files, drawn by hypothesis."""

import pathlib
from typing import Any

from hypothesis import strategies as st

# More bytes than a small file has, so that positions are taken modulo its size.
MOST = 2**20


def files(directory: pathlib.Path) -> list[pathlib.Path]:
  """Returns all files below a directory, as paths relative to it, in a fixed order."""
  found = (path for path in directory.rglob("*") if path.is_file())
  # What orbax names by chance comes in the order of sizes.
  return sorted(
    (path.relative_to(directory) for path in found),
    key=lambda path: (path.parent, (directory / path).stat().st_size, path),
  )


@st.composite
def damages(draw: Any) -> tuple[Any, ...]:
  """Draws what is done to a file: a name, which file, and two numbers."""
  kind = draw(st.sampled_from([flip, zero, cut, grow, remove, empty, swap]))
  return kind, *(draw(st.integers(0, MOST)) for _ in range(3))


def apply(directory: pathlib.Path, damage: tuple[Any, ...]) -> str:
  """Damages one file below a directory; returns what was done."""
  kind, which, first, second = damage
  candidates = files(directory)
  # Most files are small: every other damage goes to one of the largest.
  if which % 2:
    candidates.sort(key=lambda path: (directory / path).stat().st_size)
    candidates = candidates[-3:]
  path = directory / candidates[which // 2 % len(candidates)]
  if kind is swap:
    kind(path, directory / candidates[first % len(candidates)])
  else:
    kind(path, first, second)
  return f"{kind.__name__} {path.relative_to(directory)} ({first}, {second})"


def flip(path: pathlib.Path, byte: int, bit: int) -> None:
  data = bytearray(path.read_bytes())
  if data:
    data[byte % len(data)] ^= 1 << bit % 8
  path.write_bytes(bytes(data))


def zero(path: pathlib.Path, start: int, length: int) -> None:
  data = bytearray(path.read_bytes())
  if data:
    start %= len(data)
    end = min(start + 1 + length % 512, len(data))
    data[start:end] = bytes(end - start)
  path.write_bytes(bytes(data))


def cut(path: pathlib.Path, length: int, _: int) -> None:
  data = path.read_bytes()
  path.write_bytes(data[: length % (len(data) + 1)])


def grow(path: pathlib.Path, byte: int, count: int) -> None:
  path.write_bytes(path.read_bytes() + bytes([byte % 256]) * (1 + count % 64))


def remove(path: pathlib.Path, *_: int) -> None:
  path.unlink()


def empty(path: pathlib.Path, *_: int) -> None:
  path.write_bytes(b"")


def swap(path: pathlib.Path, other: pathlib.Path) -> None:
  """Exchanges the contents of two files."""
  mine, theirs = path.read_bytes(), other.read_bytes()
  path.write_bytes(theirs)
  other.write_bytes(mine)
