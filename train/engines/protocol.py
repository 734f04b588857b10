"""The lines of the Gomocup protocol, for managers and engines.

A manager and an engine ("brain") exchange lines of text. Cells are written `x,y`: the
column, then the row, both from 0.
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

# First words of lines that a brain may print at any time for people to read.
REMARKS = ("MESSAGE", "DEBUG")

# The longest line; a longer one is cut.
MOST_LINE_BYTES = 4096

# The number of milliseconds that means no limit.
UNLIMITED = 2**31 - 1

_CELL = re.compile(r"([0-9]{1,4})\s*,\s*([0-9]{1,4})")
_STONE = re.compile(r"([0-9]{1,4}\s*,\s*[0-9]{1,4})\s*,\s*([12])")
_NUMBER = re.compile(r"[0-9]{1,18}")


class Command(NamedTuple):
  """A line from a manager.

  Attributes:
    name: the first word, in upper case.
    rest: the rest of the line.
  """

  name: str
  rest: str


def clean(line: str | bytes) -> str:
  """Returns a line as stripped text; invalid UTF-8 becomes replacement characters."""
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
  """Returns the row-major index of a cell written `x,y`.

  >>> parse_cell("3,1", size=15)
  18

  Raises:
    ValueError: if it is not a cell of this board.
  """
  match = _CELL.fullmatch(text.strip())
  if match is None:
    raise ValueError(f"{quote(text)} is not a cell x,y")
  x, y = int(match[1]), int(match[2])
  if not (x < size and y < size):
    raise ValueError(
      f"{x},{y} is not on the board: cells are 0,0 to {size - 1},{size - 1}"
    )
  return y * size + x


def parse_stone(line: str, size: int) -> tuple[int, bool]:
  """Parses a line of BOARD into a cell and whether its stone is the brain's own.

  Raises:
    ValueError: if it is not of the form `x,y,1` or `x,y,2`.
  """
  match = _STONE.fullmatch(clean(line))
  if match is None:
    raise ValueError(f"{quote(line)} is not a stone x,y,1 or x,y,2")
  return parse_cell(match[1], size), match[2] == "1"


def parse_number(text: str) -> int | None:
  """Returns a non-negative integer, or None if the text is not one."""
  return int(text) if _NUMBER.fullmatch(text.strip()) else None


def write_cell(cell: int, size: int) -> str:
  """Returns a cell as `x,y`.

  >>> write_cell(18, size=15)
  '3,1'
  """
  y, x = divmod(cell, size)
  return f"{x},{y}"


def quote(text: str) -> str:
  """Quotes the beginning of the other side's text on one line of ASCII."""
  text = clean(text)
  return ascii(text if len(text) <= 40 else text[:40] + "...")


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
  """Yields the lines of a stream; long lines are cut."""
  while line := stream.readline(MOST_LINE_BYTES):
    piece = line
    while piece and not piece.endswith(b"\n"):
      piece = stream.readline(MOST_LINE_BYTES)
    yield line
