"""A ladder of players for Gomoku and its like, each level above the one below.

Level 1 sees lines that lack one stone. Level 2 sees what every stone would make of its
lines: fours, threes and twos, open or not. Level 3 tries its best cells, lets level 2
play on for both sides from each, and takes the one that comes out best.
"""

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import threats
from jaxgames import urgency as urgency_lib
from jaxgames import windows
from jaxgames.players import base

__all__ = ["LEVELS", "Beginner", "Candidate", "Dilettante", "make", "plays"]

# How far from a stone, in a king's moves, a beginner looks for a cell.
NEAR = 2

# Room below a cell's urgency for a random number that settles ties.
TIE_BITS = 8

# By how much less a win counts for every ply that it takes.
DISCOUNT = 0.99


@struct.dataclass
class Beginner(base.Chooser):
  """Completes a line, else stops one, else plays anywhere near the stones.

  Attributes:
    game: the game played, on two axes and without gravity.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    empty = self.game.empty_cells(state)
    near = windows.near_stones(self.game, state, NEAR)
    chosen = bits.pack(near, self.game.num_words)
    for stones in (state.other, state.own):
      cells = bits.intersection(empty, self.game.winning_cells(stones))
      chosen = bits.select(bits.contains_any(cells), cells, chosen)
    return chosen


@struct.dataclass
class Dilettante(base.Chooser):
  """Plays the most urgent cell by what a stone there makes for either side.

  In this order: a five; the cell of the other's five; an open four, two fours or a four
  with an open three; the other's cell for such; two open threes; the other's cell for
  those. Else, and among several such cells, the highest sum of both sides' shapes.

  Attributes:
    game: the game played, on two axes and without gravity.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    urgency, _ = urgency_lib.read(self.game, self.game.observe(state))
    best = bits.pack(urgency == urgency.max(), self.game.num_words)
    # Of a full board every cell is among the best.
    return bits.intersection(best, self.game.empty_cells(state))


@struct.dataclass
class Candidate(base.Memoryless):
  """Tries its most urgent cells by playing on as level 2 for both sides.

  A line of play is worth 1 if it wins, -1 if it loses, both a little less the longer it
  takes, and otherwise the balance of shapes at its end, which is much less.

  Attributes:
    game: the game played, on two axes and without gravity.
    width: how many cells it tries.
    depth: how many plies it plays on after each.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  width: int = struct.field(pytree_node=False, default=8)
  depth: int = struct.field(pytree_node=False, default=16)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    board = self.game.observe(state)
    ties = jax.random.bits(key, (self.game.num_cells,), jnp.uint8).astype(jnp.int32)
    order = self._order(urgency_lib.read(self.game, board), ties)
    order, cells = jax.lax.top_k(order, min(self.width, self.game.num_cells))

    def try_cell(cell: jax.Array) -> jax.Array:
      return -DISCOUNT * self._play_on(-_put(board, cell), ties)

    values = jnp.where(order < 0, -jnp.inf, jax.vmap(try_cell)(cells))
    # A line that is complete is not seen any more by those who play on.
    wins = urgency_lib.rank(order[0] >> TIE_BITS) == urgency_lib.FIVE
    return cells[jnp.where(wins, 0, jnp.argmax(values))]

  def _order(self, reading: urgency_lib.Reading, ties: jax.Array) -> jax.Array:
    """Returns `[num_cells]` int32, the higher the sooner to be tried; below 0 never."""
    return (reading.urgency << TIE_BITS) + ties

  def _play_on(self, board: jax.Array, ties: jax.Array) -> jax.Array:
    """Returns `[]` float32, how level 2 on both sides ends for the side to move.

    Args:
      board: `[*shape]` int8, seen by the side to move.
      ties: `[num_cells]` int32, settle which of equally urgent cells is played.
    """

    def ply(
      _: jax.Array, carry: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
      board, value, weight = carry
      order = self._order(urgency_lib.read(self.game, board), ties)
      cell = jnp.argmax(order)
      wins = urgency_lib.rank(order[cell] >> TIE_BITS) == urgency_lib.FIVE
      value = jnp.where(wins & (value == 0), weight, value)
      return -_put(board, cell), value, -DISCOUNT * weight

    start = (board, jnp.float32(0), jnp.float32(1))
    board, value, weight = jax.lax.fori_loop(0, self.depth, ply, start)
    balance = urgency_lib.read(self.game, board).balance
    return jnp.where(value == 0, weight * balance, value)


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
      "the ladder plays on two axes, without gravity, for lines of at most "
      f"{threats.MAX_LENGTH}, not {game}"
    )
  return LEVELS[level](game)


def _put(board: jax.Array, cell: jax.Array) -> jax.Array:
  """Returns a board with a stone of side 1 on a cell, if that is empty."""
  cells = np.arange(board.size, dtype=np.int32).reshape(board.shape)
  return jnp.where((cells == cell) & (board == 0), jnp.int8(1), board)
