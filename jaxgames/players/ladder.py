"""A ladder of players for boards without gravity, each level above the one below.

Level 1 sees lines that lack one stone. Level 2 sees what every stone would make of its
lines: fours, threes and twos, open or not. Level 3 lets level 2 play on for both sides,
from each of its best moves, and takes the move that comes out best.
"""

import functools
import math

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import lines
from jaxgames import threats
from jaxgames import windows
from jaxgames.players import base

__all__ = ["LEVELS", "Beginner", "Candidate", "Dilettante", "make", "plays"]

# How far from a stone, in king's moves, a beginner looks for a cell.
NEAR = 2

# What a cell is good for, the most urgent last; told for lines of five.
NOTHING, QUIET, STOP_FORK, FORK, STOP_OPEN, OPEN, STOP_FIVE, FIVE = range(-1, 7)

# A cell's four directions are summed up in one number: the lowest bits hold the sum of
# shape scores, then come counts of 3 bits each: what is in one direction is at most 1.
SCORE_BITS, COUNT_BITS = 16, 3
COUNTED = ((0, True), (1, True), (1, False), (2, True))

# The highest shape score of one direction: eight of them, in both sides' four, must fit.
MAX_SCORE = 2**SCORE_BITS // 8 - 1

# Room below a score for a random number that settles ties.
TIE_BITS = 8


@struct.dataclass
class Beginner(base.Chooser):
  """Completes a line, else stops one, else plays anywhere near the stones.

  Attributes:
    game: the game played, without gravity.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    empty = self.game.empty_cells(state)
    chosen = bits.intersection(empty, self._near(state))
    for stones in (state.other, state.own):
      cells = bits.intersection(empty, self.game.winning_cells(stones))
      chosen = bits.select(bits.contains_any(cells), cells, chosen)
    return chosen

  def _near(self, state: game_lib.State) -> bits.Words:
    """Returns the cells near stones, or the middle of an empty board."""
    stones = bits.union(state.own, state.other)
    is_stone = bits.unpack(stones, self.game.num_cells).reshape(self.game.shape)
    num_near = is_stone.astype(jnp.int32)
    for axis, size in enumerate(self.game.shape):
      padded = jnp.pad(num_near, [(NEAR, NEAR) if i == axis else (0, 0) for i in (0, 1)])
      shifted = [
        jax.lax.slice_in_dim(padded, i, i + size, axis=axis)
        for i in range(2 * NEAR + 1)
      ]
      num_near = functools.reduce(jnp.maximum, shifted)
    near = bits.pack(num_near.reshape(-1) > 0, self.game.num_words)
    middle = bits.constant(_middle(self.game.shape), self.game.num_words)
    return bits.select(bits.contains_any(stones), near, middle)


@struct.dataclass
class Dilettante(base.Chooser):
  """Plays the most urgent cell by what a stone there makes for either side.

  In this order: a five; the cell of the other's five; an open four, two fours or a four
  with an open three; the other's cell for such; two open threes; the other's cell for
  those; and else, as among several such cells, the highest sum of both sides' shapes.

  Attributes:
    game: the game played, without gravity.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    urgency = assess(self.game, self.game.observe(state)).urgency
    is_best = (urgency == urgency.max()) & (urgency >= 0)
    return bits.intersection(
      bits.pack(is_best, self.game.num_words), self.game.empty_cells(state)
    )


@struct.dataclass
class Candidate(base.Memoryless):
  """Tries its best cells by playing on as level 2 for both sides.

  Attributes:
    game: the game played, without gravity.
    width: how many cells it tries.
    depth: how many plies it plays on after each.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  width: int = struct.field(pytree_node=False, default=8)
  depth: int = struct.field(pytree_node=False, default=12)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    board = self.game.observe(state).reshape(-1)
    ties = jax.random.bits(key, (self.game.num_cells,), jnp.uint8).astype(jnp.int32)
    urgency = assess(self.game, board.reshape(self.game.shape)).urgency
    order = jnp.where(urgency < 0, -1, (urgency << TIE_BITS) + ties)
    order, cells = jax.lax.top_k(order, min(self.width, self.game.num_cells))
    values = jax.vmap(lambda cell: self._value(board, cell, ties))(cells)
    is_forced = order[0] >> (TIE_BITS + SCORE_BITS) >= STOP_FIVE
    values = jnp.where(order < 0, -jnp.inf, values)
    best = jnp.where(is_forced, 0, jnp.argmax(values))
    return cells[best].astype(jnp.int32)

  def _value(self, board: jax.Array, cell: jax.Array, ties: jax.Array) -> jax.Array:
    """Returns how a move comes out for the mover, above 1 if it wins."""

    def ply(i, carry):
      board, value = carry
      seen = assess(self.game, board.reshape(self.game.shape))
      best = jnp.argmax((seen.urgency << TIE_BITS) + ties)
      sign = jnp.where(i % 2 == 0, -1.0, 1.0)
      wins = seen.urgency[best] >> SCORE_BITS == FIVE
      now = jnp.where(wins, sign * (2.0 * self.depth - i), 0.0)
      value = jnp.where(value == 0, now, value)
      return -_put(board, best), value

    board, value = jax.lax.fori_loop(
      0, self.depth, ply, (-_put(board, cell), jnp.float32(0))
    )
    seen = assess(self.game, board.reshape(self.game.shape))
    sign = 1.0 if self.depth % 2 else -1.0
    return jnp.where(value == 0, sign * seen.balance, value)


LEVELS = {1: Beginner, 2: Dilettante, 3: Candidate}


def plays(game: game_lib.LineGame) -> bool:
  """Returns whether the ladder has players for a game."""
  is_flat = len(game.shape) == 2 and not game.gravity
  return is_flat and game.length <= threats.MAX_LENGTH


def make(game: game_lib.LineGame, level: int = 1) -> base.Player:
  """Returns the player of a level.

  Raises:
    ValueError: if there is no such level, or none for this game.
  """
  if level not in LEVELS:
    raise ValueError(f"level must be one of {', '.join(map(str, LEVELS))}, not {level}")
  if not plays(game):
    raise ValueError(
      "the ladder is for boards of two axes, without gravity and with lines of at most "
      f"{threats.MAX_LENGTH}, not for {game}"
    )
  return LEVELS[level](game)


@struct.dataclass
class Assessment:
  urgency: jax.Array
  balance: jax.Array


def assess(game: game_lib.LineGame, board: jax.Array) -> Assessment:
  is_empty = board.reshape(-1) == 0
  own, other = (_shapes(game, seen) for seen in (board, -board))
  score = (own & (2**SCORE_BITS - 1)) + (other & (2**SCORE_BITS - 1))
  rank = jnp.full_like(score, QUIET)
  for is_it, what in (
    (_makes_fork(other), STOP_FORK),
    (_makes_fork(own), FORK),
    (_makes_open(other), STOP_OPEN),
    (_makes_open(own), OPEN),
    (_count(other, 0) > 0, STOP_FIVE),
    (_count(own, 0) > 0, FIVE),
  ):
    rank = jnp.where(is_it, what, rank)
  urgency = jnp.where(is_empty, (rank << SCORE_BITS) + score, -1)
  diff = (own & (2**SCORE_BITS - 1)) - (other & (2**SCORE_BITS - 1))
  balance = jnp.where(is_empty, diff, 0).sum().astype(jnp.float32) / 2.0**23
  return Assessment(urgency, balance)


def _shapes(game, board):
  numbers = windows.around(game, board, game.length - 1)
  rows = jnp.asarray(_rows(game.length))
  return rows.at[numbers].get(mode="promise_in_bounds").sum(axis=1, dtype=jnp.int32)


def _count(shapes, kind):
  return (shapes >> (SCORE_BITS + COUNT_BITS * kind)) & (2**COUNT_BITS - 1)


def _makes_open(shapes):
  fours = _count(shapes, 2)
  return (_count(shapes, 1) > 0) | (fours > 1) | ((fours > 0) & (_count(shapes, 3) > 0))


def _makes_fork(shapes):
  return _count(shapes, 3) > 1


@functools.lru_cache
def _rows(length: int) -> np.ndarray:
  missing, is_open = threats.table(length)
  stones = length - missing.astype(np.int32)
  score = np.where(stones > 0, 4 ** np.maximum(stones - 1, 0), 0)
  score = np.where(is_open, 3 * score, score)
  score = np.where((missing == 1) & ~is_open, score // 3, score)
  rows = np.minimum(score, MAX_SCORE)
  for kind, (num_missing, must_be_open) in enumerate(COUNTED):
    is_it = (missing == num_missing) & (is_open == must_be_open)
    rows = rows + (is_it << (SCORE_BITS + COUNT_BITS * kind))
  rows = rows.astype(np.int32)
  rows.flags.writeable = False
  return rows


def _put(board, cell):
  here = np.arange(board.shape[0], dtype=np.int32)
  return jnp.where(here == cell, jnp.int8(1), board)


def _middle(shape: lines.Shape) -> int:
  rows, columns = ({(size - 1) // 2, size // 2} for size in shape)
  return sum(1 << (row * shape[1] + column) for row in rows for column in columns)
