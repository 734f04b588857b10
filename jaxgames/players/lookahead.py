"""Looking ahead along single lines: makes any player that rates moves a stronger one."""

from typing import Protocol, runtime_checkable

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Lookahead", "Rater", "as_rater", "make"]

# By how much less a win counts for every ply that it takes.
DISCOUNT = 0.99


@runtime_checkable
class Rater(base.Player, Protocol):
  """A player that says how much it prefers each move."""

  def rate_actions(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns `[num_actions]` float32, the higher the better, -inf if not legal.

    Args:
      state: a position.
      ties: `[num_actions]` float32 from 0 to 1, which decides between equal moves.
    """
    ...

  def evaluate(self, state: game_lib.State) -> jax.Array:
    """Returns `[]` float32 from -1 to 1, how good a position is for the mover."""
    ...


@struct.dataclass
class Lookahead(base.Memoryless):
  """Tries the best moves of a player by letting it continue for both sides.

  A line of play is worth 1 if it wins, -1 if it loses, both a little less the longer it
  takes, and otherwise the player's evaluation of its end.

  Attributes:
    player: rates moves.
    width: how many moves are tried.
    depth: how many plies are played after each.
  """

  player: Rater
  width: int = struct.field(pytree_node=False, default=8)
  depth: int = struct.field(pytree_node=False, default=16)

  @property
  def game(self) -> game_lib.LineGame:
    return self.player.game

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    ties = jax.random.uniform(key, (self.game.num_actions,))
    actions, values = self._try_best(state, ties)
    return actions[jnp.argmax(values)]

  def values(self, state: game_lib.State) -> jax.Array:
    ties = jnp.zeros(self.game.num_actions)
    actions, values = self._try_best(state, ties)
    return jnp.full(self.game.num_actions, -jnp.inf).at[actions].set(values)

  def _try_best(
    self, state: game_lib.State, ties: jax.Array
  ) -> tuple[jax.Array, jax.Array]:
    """Returns the `[width]` moves that are tried, and how each line of play ends."""
    width = min(self.width, self.game.num_actions)
    ratings, actions = jax.lax.top_k(self.player.rate_actions(state, ties), width)

    def try_action(action: jax.Array) -> jax.Array:
      return -self._play_out(self.game.step(state, action), ties)

    values = jax.vmap(try_action)(actions)
    values = jnp.where(ratings == -jnp.inf, -jnp.inf, values)
    return actions.astype(jnp.int32), values

  def faster(self) -> tuple[base.Player, ...]:
    return (self.player,)

  def _play_out(self, start: game_lib.State, ties: jax.Array) -> jax.Array:
    """Returns `[]` float32, how the line ends for the player to move."""

    def ply(_: jax.Array, state: game_lib.State) -> game_lib.State:
      # A game that is over stays as it is.
      return self.game.step(state, jnp.argmax(self.player.rate_actions(state, ties)))

    end = jax.lax.fori_loop(0, self.depth, ply, start)
    num_plies = end.num_moves - start.num_moves
    mover = jnp.where(start.num_moves % 2 == 0, jnp.int8(1), jnp.int8(-1))
    result = (mover * end.winner).astype(jnp.float32)
    side = jnp.where(num_plies % 2 == 0, 1.0, -1.0)
    evaluated = jnp.where(end.is_over, 0.0, side * self.player.evaluate(end))
    weight = DISCOUNT ** num_plies.astype(jnp.float32)
    return weight * jnp.where(end.winner == 0, evaluated, result)


def make(
  game: game_lib.LineGame, *, player: base.Player, width: int, depth: int
) -> Lookahead:
  """Returns a player that looks ahead.

  Raises:
    ValueError: if the player does not rate moves, or a number is out of range.
  """
  del game
  for name, number in (("width", width), ("depth", depth)):
    if number < 1:
      raise ValueError(f"{name} must be at least 1, not {number}")
  return Lookahead(as_rater(player), width, depth)


def as_rater(player: base.Player) -> Rater:
  """Returns the player itself.

  Raises:
    ValueError: if it does not rate moves.
  """
  if not isinstance(player, Rater):
    raise ValueError(
      "its player must rate moves, as ladder:level=2 or a trained network"
    )
  return player
