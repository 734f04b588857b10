"""The player that follows a table with a number for every position."""

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames.exact import graph as graph_lib
from jaxgames.exact import numbering
from jaxgames.players import base

__all__ = ["TableGreedy", "best_actions"]


@struct.dataclass
class TableGreedy(base.Chooser):
  """Goes to the position that is worth most, any of them if there are several.

  Attributes:
    game: a game with a graph.
    table: `[num_states]` float32, what each position of the graph is worth to `side`.
    side: 1 for the first player, -1 for the second. Moving for the other side, it goes
      to the position that is worth least.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  table: chex.Array
  side: int = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    successors, legal_actions = self._look_up(state)
    actions = best_actions(self._worth(successors, state.num_moves), legal_actions)
    cells = base.unfold(self.game, (actions,))
    return bits.intersection(cells, self.game.playable_cells(state))

  def values(self, state: game_lib.State) -> jax.Array:
    successors, _ = self._look_up(state)
    worth = self._worth(successors, state.num_moves)
    return jnp.where(self.game.legal_actions(state), worth, -jnp.inf)

  def action_sets(self, graph: graph_lib.Graph) -> jax.Array:
    # Looked up in the graph, which saves numbering all positions.
    worth = jax.vmap(self._worth)(graph.successors, graph.states.num_moves)
    return jax.vmap(best_actions)(worth, graph.legal_actions)

  def _look_up(self, state: game_lib.State) -> tuple[jax.Array, jax.Array]:
    """Returns `[num_actions]` int32 successors and a `[]` uint32 set of actions."""
    graph = graph_lib.of(self.game)
    index = jnp.asarray(graph.indices)[numbering.number(self.game, state)]
    successors = jnp.asarray(graph.successors)[index]
    return successors, jnp.asarray(graph.legal_actions)[index]

  def _worth(self, successors: chex.Array, num_moves: chex.Array) -> jax.Array:
    """Returns `[num_actions]` float32, what the successors are worth to the mover."""
    worth = jnp.asarray(self.table)[successors]
    is_mine = (num_moves % 2 == 0) == (self.side == 1)
    return jnp.where(is_mine, worth, -worth)


def best_actions(worth: chex.Array, legal_actions: chex.Array) -> jax.Array:
  """Returns the legal actions that are worth most, as a set.

  Args:
    worth: `[num_actions]` float32.
    legal_actions: `[]` uint32, a set.
  """
  chex.assert_rank([worth, legal_actions], [1, 0])
  actions = np.uint32(1) << np.arange(worth.shape[0], dtype=np.uint32)
  is_legal = (legal_actions & actions) != 0
  best = jnp.where(is_legal, worth, -jnp.inf).max()
  is_best = is_legal & (worth == best)
  return jnp.where(is_best, actions, np.uint32(0)).sum(dtype=jnp.uint32)
