"""The lines of the Gomocup protocol, as both sides read and write them.

A manager and a brain exchange lines of text. Cells are written `x,y`, the column first,
both from 0.
"""

from collections.abc import Iterator
import re
from typing import BinaryIO, NamedTuple

__all__ = [
  "MOST_LINE_BYTES",
  "REMARKS",
  "UNLIMITED",
  "Command",
  "clean",
  "parse_cell",
  "parse_command",
  "parse_number",
  "parse_stone",
  "quote",
  "read_lines",
  "write_cell",
]

# Lines that a brain may print at any time, for people only.
REMARKS = ("MESSAGE", "DEBUG")

# What a line may be long; of a longer one only the beginning is looked at.
MOST_LINE_BYTES = 4096

# The number of milliseconds that stands for no limit.
UNLIMITED = 2**31 - 1

_CELL = re.compile(r"([0-9]{1,4})\s*,\s*([0-9]{1,4})")
_STONE = re.compile(r"([0-9]{1,4}\s*,\s*[0-9]{1,4})\s*,\s*([12])")
_NUMBER = re.compile(r"[0-9]{1,18}")


class Command(NamedTuple):
  """What a manager says.

  Attributes:
    name: its first word, in capitals.
    rest: what follows.
  """

  name: str
  rest: str


def clean(line: str | bytes) -> str:
  """Returns a line as text, without what surrounds it; strange bytes become marks."""
  if isinstance(line, bytes):
    line = line[:MOST_LINE_BYTES].decode("utf-8", errors="replace")
  return line[:MOST_LINE_BYTES].strip(" \t\r\n\v\f\0\ufeff")


def parse_command(line: str | bytes) -> Command:
  r"""Splits a line into its first word and the rest.

  >>> parse_command("  turn 3,4\r\n")
  Command(name='TURN', rest='3,4')
  """
  name, _, rest = clean(line).replace("\t", " ").partition(" ")
  return Command(name.upper(), rest.strip())


def parse_cell(text: str, size: int) -> int:
  """Returns the cell, row-major, that is written `x,y`.

  >>> parse_cell("3,1", size=15)
  18

  Raises:
    ValueError: if it is none of this board's cells.
  """
  match = _CELL.fullmatch(text.strip())
  if match is None:
    raise ValueError(f"{quote(text)} is not a cell x,y")
  x, y = int(match[1]), int(match[2])
  if not (x < size and y < size):
    raise ValueError(
      f"{x},{y} is not on the board, which ends at {size - 1},{size - 1}"
    )
  return y * size + x


def parse_stone(line: str, size: int) -> tuple[int, bool]:
  """Returns a cell and whether its stone is the brain's own, from a line of BOARD.

  Raises:
    ValueError: if it is not of the form `x,y,1` or `x,y,2`.
  """
  match = _STONE.fullmatch(clean(line))
  if match is None:
    raise ValueError(f"{quote(line)} is not a stone x,y,1 or x,y,2")
  return parse_cell(match[1], size), match[2] == "1"


def parse_number(text: str) -> int | None:
  """Returns a whole number that is not negative, or None."""
  return int(text) if _NUMBER.fullmatch(text.strip()) else None


def write_cell(cell: int, size: int) -> str:
  """Returns a cell as `x,y`.

  >>> write_cell(18, size=15)
  '3,1'
  """
  y, x = divmod(cell, size)
  return f"{x},{y}"


def quote(text: str) -> str:
  """Quotes as much as helps of what the other side said, on one line of ASCII."""
  text = clean(text)
  return ascii(text if len(text) <= 40 else text[:40] + "...")


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
  """Yields the lines of a stream; of long ones only the beginning."""
  while line := stream.readline(MOST_LINE_BYTES):
    piece = line
    while piece and not piece.endswith(b"\n"):
      piece = stream.readline(MOST_LINE_BYTES)
    yield line
