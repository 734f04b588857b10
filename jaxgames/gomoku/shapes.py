"""Shapes of stones on a line, and how many of each a board has.

The gomoku paper describes a position by how often each of 20 shapes stands on the board.
A shape is drawn as it lies on a line: X a stone of the side in question, _ an empty
cell. It and its mirror image are one shape, and every window of a line in which it
stands counts, whether or not others overlap it.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames.gomoku import windows

__all__ = ["SHAPES", "Changes", "changes", "count", "count_differences", "surroundings"]

# The figure with the paper's shapes is missing. It says that there are 20, of five or six
# cells, one of them five in a row; the classical list of Gomoku has as many. Five in a
# row comes first.
SHAPES = (
  "XXXXX",  # five: the game is won
  "_XXXX_",  # open four: the next stone wins, wherever the other side puts its own
  "XXXX_",  # fours: the next stone wins unless its cell is taken
  "XXX_X",
  "XX_XX",
  "_XXX__",  # open threes: the next stone makes an open four
  "_XX_X_",
  "XXX__",  # closed threes: the next stone makes a four
  "XX_X_",
  "X_XX_",
  "XX__X",
  "X_X_X",
  "_XXX_",
  "__XX__",  # open twos: the next stone makes an open three
  "_X_X__",
  "_X__X_",
  "XX___",  # closed twos: the next stone makes a closed three
  "X_X__",
  "X__X_",
  "X___X",
)

# How far from a new stone a shape of six cells may reach.
REACH = 5


class Changes(NamedTuple):
  """By how much a new stone changes the counts of one side, on one line.

  Attributes:
    if_own: `[3 ** 10, num_shapes]` int8, if the stone is the side's own; by the number
      that `windows.around` gives the new stone's place before there is a stone.
    if_other: likewise, if it is the other side's.
  """

  if_own: chex.Array
  if_other: chex.Array


def count(
  game: game_lib.LineGame, drawings: tuple[str, ...], board: chex.Array
) -> jax.Array:
  """Returns how often each shape stands on a board, `[num_shapes]` int32.

  Args:
    game: the board's game.
    drawings: the shapes.
    board: `[*shape]` int8, 1 a stone of the side in question, -1 the other's.
  """
  chex.assert_shape(board, game.shape)
  found = jnp.zeros(len(drawings), jnp.int32)
  for length in sorted({len(drawing) for drawing in drawings}):
    table = jnp.asarray(_shapes_of(drawings, length))
    rows = table[windows.following(game, board, length).reshape(-1)]
    found += rows.sum(axis=0, dtype=jnp.int32)
  return found


def surroundings(game: game_lib.LineGame, board: chex.Array) -> jax.Array:
  """Returns the surroundings of each cell, as `count_differences` takes them.

  Args:
    game: the board's game.
    board: `[*shape]` int8, 1 a stone of the side that moves, -1 the other's.

  Returns:
    `[num_cells, 2, num_directions]` int32, for the side that moves and for the other.
  """
  chex.assert_shape(board, game.shape)
  sides = [windows.around(game, side, REACH) for side in (board, -board)]
  return jnp.stack(sides, axis=1)


def count_differences(drawings: tuple[str, ...], near: chex.Array) -> jax.Array:
  """Returns what a stone on each of some cells adds to the counts.

  Only the lines through the new stone are counted again.

  Args:
    drawings: the shapes.
    near: `[n, 2, num_directions]` int32, the surroundings of the cells.

  Returns:
    `[n, 2, num_shapes]` int32, for the side that moves and for the other.
  """
  chex.assert_shape(near, (None, 2, None))
  # One table for both sides, the other's after the mover's: one look-up instead of two.
  table = np.concatenate(changes(drawings))
  rows = near + np.array([[0], [len(table) // 2]], np.int32)[None]
  return jnp.asarray(table)[rows].sum(axis=2, dtype=jnp.int32)


@functools.lru_cache
def changes(drawings: tuple[str, ...]) -> Changes:
  """Returns the tables of how a new stone changes the counts, on the host."""
  near = windows.digits(2 * REACH)
  before = _count_in_rows(drawings, near, windows.EMPTY)
  tables = []
  for stone in (windows.OWN, windows.TAKEN):
    difference = _count_in_rows(drawings, near, stone) - before
    difference.flags.writeable = False
    tables.append(difference)
  return Changes(*tables)


def _count_in_rows(
  drawings: tuple[str, ...], near: np.ndarray, middle: int
) -> np.ndarray:
  """Returns `[rows, num_shapes]` int8, how many shapes have the middle cell in them.

  Args:
    drawings: the shapes.
    near: `[rows, 2 * REACH]` the cells around the middle.
    middle: what is there.
  """
  centre = np.full((len(near), 1), middle, np.int8)
  rows = np.concatenate([near[:, :REACH], centre, near[:, REACH:]], axis=1)
  found = np.zeros((len(rows), len(drawings)), np.int8)
  for shape, drawing in enumerate(drawings):
    for wanted in _ways(drawing):
      for start in range(REACH - len(wanted) + 1, REACH + 1):
        window = rows[:, start : start + len(wanted)]
        found[:, shape] += (window == np.array(wanted)).all(axis=1)
  return found


@functools.lru_cache
def _shapes_of(drawings: tuple[str, ...], length: int) -> np.ndarray:
  """Returns `[3 ** length, num_shapes]` int8: the shapes that a window is."""
  rows = windows.digits(length)
  table = np.zeros((len(rows), len(drawings)), np.int8)
  for shape, drawing in enumerate(drawings):
    for wanted in _ways(drawing):
      if len(wanted) == length:
        table[:, shape] |= (rows == np.array(wanted)).all(axis=1)
  table.flags.writeable = False
  return table


def _ways(drawing: str) -> set[tuple[int, ...]]:
  """Returns a shape and its mirror image, as digits."""
  digits = {"X": windows.OWN, "_": windows.EMPTY}
  way = tuple(digits[letter] for letter in drawing)
  return {way, way[::-1]}
