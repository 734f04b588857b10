"""Gradient descent on remembered transitions, with a target network: equation 2.

In the shapes, `N` is the number of transitions and `A` that of actions.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import batching
from jaxgames import networks
from train.learners.common import descent
from train.learners.dqn import replay as replay_lib
from train.learners.dqn import settings as dqn_settings

__all__ = ["Online", "QUpdates", "legal_actions", "transform"]


class Online(NamedTuple):
  """What a step of gradient descent changes.

  Attributes:
    params: of the online network.
    target_params: of the target network.
    optimizer: its state.
    num_updates: `[]` int32, steps since the target network was last copied.
  """

  params: chex.ArrayTree
  target_params: chex.ArrayTree
  optimizer: chex.ArrayTree
  num_updates: chex.Array


class QUpdates:
  """Steps of gradient descent on batches of transitions."""

  def __init__(
    self,
    network: networks.QNetwork,
    settings: dqn_settings.Settings,
    the_descent: descent.Descent,
  ):
    """Prepares the steps of a trial."""
    self._network = network
    self._settings = settings
    self._descent = the_descent

  def init(self, params: chex.ArrayTree) -> Online:
    """Returns the start of a trial; the target network begins as a copy."""
    return Online(
      params=params,
      # Another buffer: states are donated, and nothing may be donated twice.
      target_params=jax.tree.map(jnp.copy, params),
      optimizer=self._descent.init(params),
      num_updates=jnp.int32(0),
    )

  def step(
    self, online: Online, batch: replay_lib.Transitions, num_games: chex.Array
  ) -> tuple[Online, jax.Array]:
    """Takes one step on a batch, and copies the network in its time.

    Args:
      online: before the step.
      batch: `[N]` transitions.
      num_games: `[]` int32, games done.

    Returns:
      What is after the step, and `[]` float32 the batch's mean squared error.
    """
    chex.assert_equal_shape([batch.actions, batch.rewards, batch.discounts])
    targets = self.targets(online, batch)

    def loss(params: chex.ArrayTree) -> jax.Array:
      outputs = self._outputs(params, batch.boards)
      return ((targets - batching.pick(outputs, batch.actions)) ** 2).mean()

    error, gradient = jax.value_and_grad(loss)(online.params)
    params, optimizer = self._descent.step(
      gradient, online.optimizer, online.params, num_games
    )
    is_time = online.num_updates + 1 == self._settings.target_every
    after = Online(
      params=params,
      target_params=jax.tree.map(
        lambda new, old: jnp.where(is_time, new, old), params, online.target_params
      ),
      optimizer=optimizer,
      num_updates=jnp.where(is_time, 0, online.num_updates + 1),
    )
    return after, error

  def targets(self, online: Online, batch: replay_lib.Transitions) -> jax.Array:
    """Returns `[N]` float32, the targets of the moves that were made."""
    is_allowed = legal_actions(self._network.game, batch.next_boards)
    if self._settings.target_moves == "all":
      is_allowed = jnp.ones_like(is_allowed)
    values = self._outputs(online.target_params, batch.next_boards)
    chooser = values
    if self._settings.double:
      chooser = self._outputs(online.params, batch.next_boards)
    best = jnp.argmax(jnp.where(is_allowed, chooser, -jnp.inf), axis=1)
    return batch.rewards + batch.discounts * batching.pick(values, best)

  def _outputs(self, params: chex.ArrayTree, boards: jax.Array) -> jax.Array:
    """Returns the network's outputs, `[N, A]` float32."""
    is_legal = legal_actions(self._network.game, boards)
    return jnp.asarray(self._network.apply(params, boards, is_legal))


def legal_actions(game: jaxgames.LineGame, boards: chex.Array) -> jax.Array:
  """Returns the actions that have room, `[..., A]` bool, even if a game is over."""
  return boards[..., game.num_cells - game.num_actions :] == 0


def transform(
  game: jaxgames.LineGame, batch: replay_lib.Transitions, key: chex.PRNGKey
) -> replay_lib.Transitions:
  """Returns each transition under a symmetry of the board, drawn at random.

  Args:
    game: whose boards these are.
    batch: `[N]` transitions.
    key: consumed.
  """
  cells = jnp.asarray(game.symmetries)
  # Where each action goes, the inverse of where the action that gets there was.
  actions = jnp.asarray(np.argsort(game.action_symmetries, axis=1), jnp.int32)
  drawn = jax.random.randint(key, batch.actions.shape, 0, cells.shape[0])

  def permute(boards: jax.Array) -> jax.Array:
    return jnp.take_along_axis(boards, cells[drawn], axis=1)

  return batch._replace(
    boards=permute(batch.boards),
    actions=actions[drawn, batch.actions],
    next_boards=permute(batch.next_boards),
  )
