"""The player that follows a value network, and the greedy choice for many games.

In the shapes, `B` is the number of games. A learner chooses as the player does:

    values = afterstate_values(network, params, tables, states)
    actions = greedy_actions(preferences(game, values, states, counts_wins=...))
"""

import functools

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import batching
from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import networks
from jaxgames.players import base

__all__ = [
  "ValueGreedy",
  "afterstate_values",
  "greedy_actions",
  "preferences",
  "winning_actions",
]


@struct.dataclass
class ValueGreedy(base.Memoryless):
  """Plays the move whose afterstate has the highest value.

  Attributes:
    network: evaluates boards.
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

  @property
  def is_deterministic(self) -> bool:
    return True

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory, key
    return greedy_actions(self.values(state)[None])[0]

  def values(self, state: game_lib.State) -> jax.Array:
    states = batching.repeat(state, 1)
    values = afterstate_values(self.network, self.params, self.tables, states)
    return preferences(self.game, values, states, counts_wins=self.counts_wins)[0]

  def rate_actions(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns how much it prefers each move; see `lookahead.Rater`."""
    return self.values(state) + 1e-6 * ties

  def evaluate(self, state: game_lib.State) -> jax.Array:
    """Returns how good a position is for the player to move; see `lookahead.Rater`."""
    # The network evaluates a board for the player who has just moved.
    board = -self.game.observe(state).reshape(1, -1)
    return -jnp.asarray(self.network.apply(self.params, board))[0]


def afterstate_values(
  network: networks.ValueNetwork,
  params: chex.ArrayTree,
  tables: chex.ArrayTree,
  states: game_lib.State,
) -> jax.Array:
  """Returns `[B, num_actions]` float32, the values of what each action leads to.

  Args:
    network: evaluates boards.
    params: the network's parameters.
    tables: `network.apply(params, method="tables")`.
    states: `[B]` positions.
  """
  chex.assert_rank(states.num_moves, 1)
  boards = jax.vmap(network.game.observe)(states)
  cells = jax.vmap(network.game.landing_cells)(states)
  # A full column has no cell left: any will do, since its value is not used.
  cells = jnp.minimum(cells, network.game.num_cells - 1)
  boards = boards.reshape(len(boards), -1)
  values = network.apply(params, tables, boards, cells, method="afterstates")
  return jnp.asarray(values)


def preferences(
  game: game_lib.LineGame,
  values: chex.Array,
  states: game_lib.State,
  *,
  counts_wins: bool,
) -> jax.Array:
  """Returns what the greedy choice compares, `[B, num_actions]` float32.

  Args:
    game: the rules.
    values: `[B, num_actions]` float32, from `afterstate_values`.
    states: `[B]` positions.
    counts_wins: whether an action that wins at once is worth 1, whatever its value.

  Returns:
    The values of legal actions, and -inf for others.
  """
  chex.assert_shape(values, (*states.num_moves.shape, game.num_actions))
  if counts_wins:
    wins = jax.vmap(functools.partial(winning_actions, game))(states)
    values = jnp.where(wins, 1.0, values)
  is_legal = jax.vmap(game.legal_actions)(states)
  return jnp.where(is_legal, values, -jnp.inf)


def greedy_actions(preferences: chex.Array) -> jax.Array:
  """Returns the most preferred actions, `[B]` int32; of equal ones, the lowest.

  Args:
    preferences: `[B, num_actions]` float32.
  """
  chex.assert_rank(preferences, 2)
  return jnp.argmax(preferences, axis=1).astype(jnp.int32)


def winning_actions(game: game_lib.LineGame, state: game_lib.State) -> jax.Array:
  """Returns `[num_actions]` bool, whether an action wins at once.

  Args:
    game: the rules.
    state: one position.
  """
  chex.assert_rank(state.num_moves, 0)
  cells = bits.intersection(game.winning_cells(state.own), game.playable_cells(state))
  is_winning = bits.unpack(cells, game.num_cells)
  return is_winning.reshape(-1, game.num_actions).any(axis=0)
