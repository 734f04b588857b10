"""Steps down a gradient, the shorter the further a trial is."""

from typing import Literal

import chex
import jax
import optax

from train.learners.common import schedule

__all__ = ["Descent", "Optimizer"]

Optimizer = Literal["sgd", "adam"]

# Steps of length one: how long they are depends on how far the trial is.
OPTIMIZERS = {"sgd": optax.sgd(1.0), "adam": optax.adam(1.0)}


class Descent:
  """An optimizer whose learning rate falls in a straight line."""

  def __init__(
    self,
    optimizer: Optimizer,
    learning_rate: float,
    final_learning_rate: float | None,
    num_games: int,
  ):
    """Prepares the steps of a trial.

    Args:
      optimizer: its name.
      learning_rate: at the beginning.
      final_learning_rate: after all games; as at the beginning if none is given.
      num_games: of the whole trial.
    """
    self._optimizer = OPTIMIZERS[optimizer]
    self._rates = (learning_rate, final_learning_rate)
    self._num_games = num_games

  def init(self, params: chex.ArrayTree) -> chex.ArrayTree:
    """Returns the optimizer's state at the beginning."""
    return self._optimizer.init(params)

  def step(
    self,
    gradient: chex.ArrayTree,
    state: chex.ArrayTree,
    params: chex.ArrayTree,
    num_games: chex.Array,
  ) -> tuple[chex.ArrayTree, chex.ArrayTree]:
    """Returns the parameters and the optimizer's state after a step.

    Args:
      gradient: of what is to become less.
      state: of the optimizer.
      params: before the step.
      num_games: `[]` int32, games done.
    """
    # The library's adam mixes dtypes, which our tests otherwise forbid.
    with jax.numpy_dtype_promotion("standard"):
      updates, state = self._optimizer.update(gradient, state, params)
    rate = schedule.linear(*self._rates, num_games, self._num_games)
    updates = jax.tree.map(lambda step: rate * step, updates)
    return optax.apply_updates(params, updates), state
