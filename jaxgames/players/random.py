"""The player that plays any legal move."""

import chex
from flax import struct
import jax

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Random"]


@struct.dataclass
class Random(base.Memoryless):
  """Plays every legal move with the same probability."""

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    return base.choose_uniformly(self.game, self.game.playable_cells(state), key)
