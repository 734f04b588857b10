"""The player that follows a Q network."""

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
    network: evaluates moves.
    params: the network's parameters.
  """

  network: networks.QNetwork = struct.field(pytree_node=False)
  params: chex.ArrayTree

  @property
  def game(self) -> game_lib.LineGame:
    return self.network.game

  def choices(self, state: game_lib.State) -> bits.Words:
    game, is_legal = self.game, self.game.legal_actions(state)
    is_best = best_actions(self._outputs(state, is_legal), is_legal)
    cells = base.unfold(game, bits.pack(is_best, game.num_words))
    return bits.intersection(cells, game.playable_cells(state))

  def values(self, state: game_lib.State) -> jax.Array:
    is_legal = self.game.legal_actions(state)
    return jnp.where(is_legal, self._outputs(state, is_legal), -jnp.inf)

  def _outputs(self, state: game_lib.State, is_legal: jax.Array) -> jax.Array:
    """Returns `[num_actions]` float32, the network's output for each action."""
    boards = self.game.observe(state).reshape(1, -1)
    return jnp.asarray(self.network.apply(self.params, boards, is_legal[None]))[0]


def best_actions(
  values: chex.Array, is_legal: chex.Array, margin: float = 0.0
) -> jax.Array:
  """Returns the legal actions that are worth most, `[num_actions]` bool.

  Args:
    values: `[num_actions]` float32.
    is_legal: `[num_actions]` bool.
    margin: how much less than the most is as good.
  """
  chex.assert_rank(values, 1)
  chex.assert_equal_shape([values, is_legal])
  best = jnp.where(is_legal, values, -jnp.inf).max()
  return is_legal & (values >= best - margin)
