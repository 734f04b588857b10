"""The player that plays any legal move."""

import dataclasses
import functools

import chex
import jax

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Random"]


@functools.partial(
  jax.tree_util.register_dataclass, data_fields=[], meta_fields=["game"]
)
@dataclasses.dataclass(frozen=True)
class Random(base.Memoryless):
  """Plays every legal move with the same probability."""

  game: game_lib.LineGame

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    return base.choose_uniformly(self.game, self.game.playable_cells(state), key)
