"""The table of threats, against plain Python that tries every stone."""

import functools

import numpy as np
import pytest

from jaxgames.gomoku import threats
from jaxgames.gomoku import windows

SIGNS = {".": windows.EMPTY, "X": windows.OWN, "O": windows.OWN, "#": windows.TAKEN}


def number_of(row: str, length: int) -> int:
  """Returns the number of what lies around the stone O; beyond the drawing is taken."""
  reach = length - 1
  padded = "#" * reach + row + "#" * reach
  middle = padded.index("O")
  near = padded[middle - reach : middle] + padded[middle + 1 : middle + reach + 1]
  return sum(3**i * SIGNS[sign] for i, sign in enumerate(near))


def has_line(row: str, length: int) -> bool:
  """Returns whether a line runs through the stone O."""
  middle = row.index("O")
  starts = range(max(0, middle - length + 1), middle + 1)
  windows_of_row = [row[start : start + length] for start in starts]
  return any(len(w) == length and set(w) <= {"X", "O"} for w in windows_of_row)


def next_rows(row: str) -> list[str]:
  """Returns the row after one stone more, in every empty cell."""
  return [row[:i] + "X" + row[i + 1 :] for i, sign in enumerate(row) if sign == "."]


@functools.cache
def classify(row: str, length: int) -> tuple[int, bool]:
  """Returns how many stones are missing, and whether the line is open."""
  if has_line(row, length):
    return 0, True
  after = [classify(following, length) for following in next_rows(row)]
  missing = min([length, *(m + 1 for m, _ in after)])
  if missing == 1:
    return 1, after.count((0, True)) >= 2
  return missing, missing < length and (missing - 1, True) in after


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_every_row_is_what_trying_every_stone_finds(length):
  table = threats.table(length)
  for number, cells in enumerate(windows.digits(2 * (length - 1))):
    signs = ["X" if c == windows.OWN else ".#"[c // 2] for c in cells]
    row = "".join([*signs[: length - 1], "O", *signs[length - 1 :]])
    assert (table.missing[number], table.is_open[number]) == classify(row, length), row


@pytest.mark.parametrize(
  ("row", "missing", "is_open"),
  [
    ("#OXXXX#", 0, True),
    ("XXXXOXX", 0, True),  # more than five win too
    (".OXXX.", 1, True),
    ("X.OXX.X", 1, True),  # two cells complete a five, if not side by side
    ("#OXXX.", 1, False),
    ("XXO.X", 1, False),
    ("..OXX.", 2, True),
    (".X.OX.", 2, True),
    ("#OXX..", 2, False),
    ("#.OXX.#", 2, False),  # no room for an open four
    ("..OX..", 3, True),
    ("#OX...", 3, False),
    ("O...X", 3, False),
    ("...O...", 4, True),
    ("#O....", 4, False),
    ("#..O.#", 5, False),
    ("XX#OXX#XX", 5, False),
  ],
)
def test_the_classes_that_are_drawn(row, missing, is_open):
  number = number_of(row, 5)
  assert threats.table(5).missing[number] == missing
  assert threats.table(5).is_open[number] == is_open


def test_a_row_and_its_mirror_image_are_alike():
  cells = windows.digits(8)
  mirrored = cells[:, ::-1].astype(int) @ 3 ** np.arange(8)
  for column in threats.table(5):
    np.testing.assert_array_equal(column, column[mirrored])
    assert not column.flags.writeable


@pytest.mark.parametrize("length", [1, 7])
def test_tables_that_are_too_large_are_refused(length):
  with pytest.raises(ValueError, match=f"lines of 2 to 6 .* not of {length}"):
    threats.table(length)
