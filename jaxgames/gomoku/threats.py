"""What a stone would make of a line: a five, an open four, and so on down.

Described for lines of five: `O` is the new stone, `X` are older ones, and `#` is what
the side cannot have (the edge or the other's stone). A class is named by how many stones
are still missing from the nearest line through the new stone, and by whether that line
is open:

    missing  open                        not open
    0        a five       # O X X X X #
    1        open four    . O X X X .    four    # O X X X .     X X O . X
    2        open three   . . O X X .    three   # O X X . .   # . O X X . #
    3        open two     . . O X . .    two     # O X . . .     O . . . X
    4        open one     . . . O . . .  one     # O . . . .
    5                                    none    # . . O . #

Open with one missing means that two cells complete a line, so that no single stone of
the other side stops it; open with more missing means that one stone more can make an
open line that misses one less. So an open three becomes an open four unless it is answered.
"""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames.gomoku import windows

__all__ = ["MAX_LENGTH", "Table", "table"]

# Tables have `9 ** (length - 1)` rows.
MAX_LENGTH = 6


class Table(NamedTuple):
  """What a new stone makes, by the number of its surroundings; read-only.

  The numbers are those of `windows.around` with a reach of `length - 1`.

  Attributes:
    missing: `[num_rows]` int8, stones that the nearest line through the new stone still
      needs; `length` if no line through it can be completed any more.
    is_open: `[num_rows]` bool, with one missing: two cells complete a line; with more:
      a next stone makes an open line that misses one less. A full line is open.
  """

  missing: np.ndarray
  is_open: np.ndarray


@functools.lru_cache
def table(length: int) -> Table:
  """Returns the classes for lines of a length.

  Raises:
    ValueError: if the table would be too large.
  """
  if not 2 <= length <= MAX_LENGTH:
    raise ValueError(
      f"lines of 2 to {MAX_LENGTH} are looked up in a table, not of {length}"
    )
  cells = windows.digits(2 * (length - 1))
  missing = _missing(cells, length)
  # The rows reached by one stone more, cell by cell; a taken cell leads nowhere.
  here = np.arange(len(cells))[:, None]
  after = np.where(cells == windows.EMPTY, here + 3 ** np.arange(cells.shape[1]), here)
  num_completing = (missing[after] == 0).sum(axis=1)
  is_open = (missing == 0) | ((missing == 1) & (num_completing >= 2))
  for num_missing in range(2, length):
    leads_on = (is_open & (missing == num_missing - 1))[after].any(axis=1)
    is_open |= (missing == num_missing) & leads_on
  missing.flags.writeable = is_open.flags.writeable = False
  return Table(missing, is_open)


def _missing(cells: np.ndarray, length: int) -> np.ndarray:
  """Returns `[num_rows]` int8, what the nearest line through the middle still needs."""
  middle = np.full((len(cells), 1), windows.OWN, np.int8)
  row = np.concatenate([cells[:, : length - 1], middle, cells[:, length - 1 :]], axis=1)
  lines = np.lib.stride_tricks.sliding_window_view(row, length, axis=1)
  is_possible = (lines != windows.TAKEN).all(axis=2)
  num_empty = (lines == windows.EMPTY).sum(axis=2)
  return np.where(is_possible, num_empty, length).min(axis=1).astype(np.int8)
