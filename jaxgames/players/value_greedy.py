"""The player that trusts a value network."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import networks
from jaxgames.players import base

__all__ = ["Greedy", "afterstate_values"]


@struct.dataclass
class Greedy(base.Memoryless):
  """Plays the move whose afterstate has the highest value.

  Attributes:
    network: judges boards.
    params: the network's parameters.
    tables: `network.apply(params, method="tables")`.
    counts_wins: whether a move that wins at once is worth 1, whatever the network
      says.
  """

  network: networks.ValueNetwork = struct.field(pytree_node=False)
  params: chex.ArrayTree
  tables: chex.ArrayTree
  counts_wins: bool = struct.field(pytree_node=False)

  @property
  def game(self) -> game_lib.LineGame:
    return self.network.game

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory, key
    return jnp.argmax(self._preferences(state)).astype(jnp.int32)

  def rate(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns how much it likes each move; see `ahead.Rater`."""
    return self._preferences(state) + 1e-6 * ties

  def judge(self, state: game_lib.State) -> jax.Array:
    """Returns how good a position is for who is to move; see `ahead.Rater`."""
    # The network speaks for the player who has just moved.
    board = -self.game.observe(state).reshape(1, -1)
    return -jnp.asarray(self.network.apply(self.params, board))[0]

  def _preferences(self, state: game_lib.State) -> jax.Array:
    """Returns `[num_actions]` float32, -inf for what is no move."""
    states = jax.tree.map(lambda x: x[None], state)
    values = afterstate_values(self.network, self.params, self.tables, states)[0]
    if self.counts_wins:
      values = jnp.where(winning_actions(self.game, state), 1.0, values)
    return jnp.where(self.game.legal_actions(state), values, -jnp.inf)


def afterstate_values(
  network: networks.ValueNetwork,
  params: chex.ArrayTree,
  tables: chex.ArrayTree,
  states: game_lib.State,
) -> jax.Array:
  """Returns `[B, num_actions]`, the values of what each action leads to."""
  boards = jax.vmap(network.game.observe)(states)
  cells = jax.vmap(network.game.landing_cells)(states)
  # Of a full column: any cell, its value is not used.
  cells = jnp.minimum(cells, network.game.num_cells - 1)
  boards = boards.reshape(len(boards), -1)
  values = network.apply(params, tables, boards, cells, method="afterstates")
  return jnp.asarray(values)


def winning_actions(game: game_lib.LineGame, state: game_lib.State) -> jax.Array:
  """Returns `[num_actions]` bool, whether an action wins at once."""
  cells = bits.intersection(game.winning_cells(state.own), game.playable_cells(state))
  is_winning = bits.unpack(cells, game.num_cells)
  return is_winning.reshape(-1, game.num_actions).any(axis=0)
