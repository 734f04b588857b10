"""How urgent every empty cell is: what a stone there would make for either side.

Described for lines of five; shorter and longer lines are treated alike.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames.gomoku import threats
from jaxgames.gomoku import windows

__all__ = [
  "FIVE",
  "FORK",
  "FOUR",
  "QUIET",
  "SCORE_BITS",
  "STOP_FIVE",
  "STOP_FORK",
  "STOP_FOUR",
  "Reading",
  "rank",
  "read",
]

# What a cell is good for, the most urgent last. A `FOUR` is an open four, two fours or
# a four with an open three; a `FORK` is two open threes. Either wins unless the other
# side is faster, so the same cell is worth taking from the other side: `STOP`.
QUIET, STOP_FORK, FORK, STOP_FOUR, FOUR, STOP_FIVE, FIVE = range(7)

# What a stone makes of all directions through a cell is one number, the sum of one for
# each: shape scores in the lowest bits, then a count for each of these classes, given
# by how many stones are missing and whether it is open.
CLASSES = {
  "five": (0, True),
  "open four": (1, True),
  "four": (1, False),
  "open three": (2, True),
}
# Shapes are worth at most `2 ** threats.MAX_LENGTH` in each of four directions, and
# the scores of both sides are added up; four directions fit into a count.
SCORE_BITS = 10
COUNT_BITS = 3


class Reading(NamedTuple):
  """What the side to move sees on a board.

  Attributes:
    urgency: `[num_cells]` int32, -1 where there is a stone; else the rank of what the
      cell is good for, above `SCORE_BITS` bits for the sum of both sides' shapes.
    balance: `[]` float32 between -1 and 1, by how much the own shapes are worth more.
  """

  urgency: jax.Array
  balance: jax.Array


def read(game: game_lib.LineGame, board: jax.Array) -> Reading:
  """Returns what the side to move sees on a board.

  Args:
    game: the board's game; of two axes and without gravity.
    board: `[*shape]` int8, 1 a stone of the side to move, -1 the other's.
  """
  chex.assert_shape(board, game.shape)
  own, other = _sum_of_directions(game, board), _sum_of_directions(game, -board)
  ranks = jnp.full_like(own, QUIET)
  for is_found, rank_found in (
    (_makes_fork(other), STOP_FORK),
    (_makes_fork(own), FORK),
    (_makes_four(other), STOP_FOUR),
    (_makes_four(own), FOUR),
    (_count(other, "five") > 0, STOP_FIVE),
    (_count(own, "five") > 0, FIVE),
  ):
    ranks = jnp.maximum(ranks, jnp.where(is_found, rank_found, QUIET))
  is_empty = board.reshape(-1) == 0
  urgency = (ranks << SCORE_BITS) + _score(own) + _score(other)
  lead = jnp.where(is_empty, _score(own) - _score(other), 0).sum(dtype=jnp.int32)
  scale = game.num_cells << SCORE_BITS
  return Reading(
    urgency=jnp.where(is_empty, urgency, -1), balance=lead.astype(jnp.float32) / scale
  )


def rank(urgency: jax.Array) -> jax.Array:
  """Returns what cells are good for; below `QUIET` where there is a stone."""
  return urgency >> SCORE_BITS


def _sum_of_directions(game: game_lib.LineGame, board: jax.Array) -> jax.Array:
  """Returns `[num_cells]` int32, what a stone of side 1 would make of each cell."""
  numbers = windows.around(game, board, game.length - 1)
  rows = jnp.asarray(_rows(game.length))
  return rows.at[numbers].get(mode="promise_in_bounds").sum(axis=1, dtype=jnp.int32)


@functools.lru_cache
def _rows(length: int) -> np.ndarray:
  """Returns `[num_rows]` int32, score and counts of one direction by its number."""
  missing, is_open = threats.table(length)
  # Every stone doubles the worth of a line, 1 with one stone, and so does being open.
  doublings = length - missing.astype(np.int32) + is_open
  rows = (np.int32(1) << doublings) >> 1
  for name, (num_missing, must_be_open) in CLASSES.items():
    is_found = (missing == num_missing) & (is_open == must_be_open)
    rows += is_found.astype(np.int32) << _place(name)
  rows.flags.writeable = False
  return rows


def _place(name: str) -> int:
  """Returns the lowest bit of a class's count."""
  return SCORE_BITS + COUNT_BITS * list(CLASSES).index(name)


def _score(sums: jax.Array) -> jax.Array:
  return sums & (2**SCORE_BITS - 1)


def _count(sums: jax.Array, name: str) -> jax.Array:
  return (sums >> _place(name)) & (2**COUNT_BITS - 1)


def _makes_four(sums: jax.Array) -> jax.Array:
  fours, open_threes = _count(sums, "four"), _count(sums, "open three")
  is_double = (fours > 1) | ((fours > 0) & (open_threes > 0))
  return (_count(sums, "open four") > 0) | is_double


def _makes_fork(sums: jax.Array) -> jax.Array:
  return _count(sums, "open three") > 1
