"""Looking ahead by playing on: any player that rates moves becomes a stronger one."""

from typing import Protocol, runtime_checkable

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Ahead", "Rater"]

# By how much less a win counts for every ply that it takes.
DISCOUNT = 0.99


@runtime_checkable
class Rater(Protocol):
  """A player that says how much it likes each move."""

  @property
  def game(self) -> game_lib.LineGame:
    """The game that it plays."""
    ...

  def rate(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns `[num_actions]` float32, the higher the better, -inf for what is no move.

    Args:
      state: a position.
      ties: `[num_actions]` float32 from 0 to 1, to tell equal moves apart.
    """
    ...

  def judge(self, state: game_lib.State) -> jax.Array:
    """Returns `[]` float32 from -1 to 1, how good a position is for who is to move."""
    ...


@struct.dataclass
class Ahead(base.Memoryless):
  """Tries the best moves of a player by letting it play on for both sides.

  A line of play is worth 1 if it wins, -1 if it loses, both a little less the longer it
  takes, and otherwise what the player says of its end.

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
    width = min(self.width, self.game.num_actions)
    ratings, actions = jax.lax.top_k(self.player.rate(state, ties), width)

    def try_action(action: jax.Array) -> jax.Array:
      return -self._play_on(self.game.step(state, action), ties)

    values = jax.vmap(try_action)(actions)
    best = jnp.argmax(jnp.where(ratings == -jnp.inf, -jnp.inf, values))
    return actions[best].astype(jnp.int32)

  def _play_on(self, start: game_lib.State, ties: jax.Array) -> jax.Array:
    """Returns `[]` float32, how the player on both sides ends for who is to move."""

    def ply(_: jax.Array, state: game_lib.State) -> game_lib.State:
      # What is over stays as it is.
      return self.game.step(state, jnp.argmax(self.player.rate(state, ties)))

    end = jax.lax.fori_loop(0, self.depth, ply, start)
    num_plies = end.num_moves - start.num_moves
    mover = jnp.where(start.num_moves % 2 == 0, jnp.int8(1), jnp.int8(-1))
    result = (mover * end.winner).astype(jnp.float32)
    side = jnp.where(num_plies % 2 == 0, 1.0, -1.0)
    judged = jnp.where(end.is_over, 0.0, side * self.player.judge(end))
    weight = DISCOUNT ** num_plies.astype(jnp.float32)
    return weight * jnp.where(end.winner == 0, judged, result)
