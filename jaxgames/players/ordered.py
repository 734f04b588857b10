"""A player that prefers moves in the same order throughout a game."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Ordered"]


@struct.dataclass
class Ordered(base.PlayerBase):
  """Plays the first of its choices, in an order that is drawn for each game.

  Attributes:
    player: whose choices these are.
  """

  player: base.Chooser

  @property
  def game(self) -> game_lib.LineGame:
    return self.player.game

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> base.Memory:
    """Returns `[num_actions]` float32: actions with a lower number come first."""
    del game_number
    return jax.random.uniform(key, (self.game.num_actions,))

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del key
    cells = bits.unpack(self.player.choices(state), self.game.num_cells)
    is_choice = cells.reshape(-1, self.game.num_actions).any(axis=0)
    return jnp.argmin(jnp.where(is_choice, memory, 2.0)).astype(jnp.int32)
