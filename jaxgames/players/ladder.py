"""A ladder of players for Gomoku and similar games, each level stronger than the last.

Level 1 sees lines that lack one stone. Level 2 sees what every stone would make of its
lines: fours, threes and twos, open or not. Level 3 tries its best cells, lets level 2
continue for both sides from each, and takes the one with the best end.
"""

from collections.abc import Callable

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames.gomoku import threats
from jaxgames.gomoku import urgency as urgency_lib
from jaxgames.gomoku import windows
from jaxgames.players import base
from jaxgames.players import lookahead

__all__ = ["LEVELS", "Beginner", "Dilettante", "make", "plays"]

# How far from a stone, in a king's moves, a beginner looks for a cell.
NEAR = 2


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

  def rate_actions(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns how much it prefers each move; see `lookahead.Rater`."""
    urgency = urgency_lib.read(self.game, self.game.observe(state)).urgency
    is_legal = self.game.legal_actions(state)
    return jnp.where(is_legal, urgency.astype(jnp.float32) + ties, -jnp.inf)

  def evaluate(self, state: game_lib.State) -> jax.Array:
    """Returns the balance of shapes, which counts for less than any end of a game."""
    return urgency_lib.read(self.game, self.game.observe(state)).balance


LEVELS: dict[int, Callable[[game_lib.LineGame], base.Player]] = {
  1: Beginner,
  2: Dilettante,
  3: lambda game: lookahead.Lookahead(Dilettante(game), width=8, depth=16),
}


def plays(game: game_lib.LineGame) -> bool:
  """Returns whether the ladder has players for a game."""
  is_flat = len(game.shape) == 2 and not game.gravity
  return is_flat and game.length <= threats.MAX_LENGTH


def make(game: game_lib.LineGame, *, level: int) -> base.Player:
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
