"""The player that trusts a Q network."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import networks
from jaxgames.players import base

__all__ = ["QGreedy", "best_actions"]


@struct.dataclass
class QGreedy(base.Chooser):
  """Plays the move with the highest output, any of them if there are several.

  Attributes:
    network: judges moves.
    params: the network's parameters.
  """

  network: networks.QNetwork = struct.field(pytree_node=False)
  params: chex.ArrayTree

  @property
  def game(self) -> game_lib.LineGame:  # type: ignore[override]
    return self.network.game

  def choices(self, state: game_lib.State) -> bits.Words:
    game = self.game
    boards = game.observe(state).reshape(1, -1)
    is_legal = game.legal_actions(state)
    values = self.network.apply(self.params, boards, is_legal[None])
    is_best = best_actions(jnp.asarray(values)[0], is_legal)
    cells = base.unfold(game, bits.pack(is_best, game.num_words))
    return bits.intersection(cells, game.playable_cells(state))


def best_actions(
  values: chex.Array, is_legal: chex.Array, margin: float = 0.0
) -> jax.Array:
  """Returns the legal actions that are worth most, `[num_actions]` bool.

  Args:
    values: `[num_actions]` float32.
    is_legal: `[num_actions]` bool.
    margin: how much less than the most is as good.
  """
  best = jnp.where(is_legal, values, -jnp.inf).max()
  return is_legal & (values >= best - margin)
