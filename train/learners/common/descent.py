"""Gradient descent with a learning rate that depends on how far a trial is."""

from collections.abc import Callable

import chex
import jax
import optax

from train.learners.common import coherence
from train.learners.common import fields
from train.learners.common import schedule

__all__ = ["Descent", "ScaleFn"]

ScaleFn = Callable[[chex.ArrayTree], chex.ArrayTree]

# What Bagheri et al. found best for Connect-4.
EXPONENT = 2.7

# Steps of length one: the learning rate multiplies them afterwards, since it follows the
# number of games, not the optimizer's own count of steps.
OPTIMIZERS = {
  "sgd": optax.sgd(1.0),
  "adam": optax.adam(1.0),
  "coherence": optax.chain(coherence.scale_by_coherence(), optax.sgd(1.0)),
  "coherence_exponential": optax.chain(
    coherence.scale_by_coherence(EXPONENT), optax.sgd(1.0)
  ),
}


class Descent:
  """An optimizer whose learning rate falls linearly with the number of games."""

  def __init__(
    self,
    optimizer: fields.Optimizer,
    learning_rate: float,
    final_learning_rate: float | None,
    num_games: int,
    scale_fn: ScaleFn | None = None,
  ):
    """Prepares the steps of a trial.

    Args:
      optimizer: its name.
      learning_rate: at the beginning.
      final_learning_rate: after all games; as at the beginning if none is given.
      num_games: of the whole trial.
      scale_fn: scales steps before they are made, if they are to have other lengths.
    """
    self._scale_fn = scale_fn
    self._optimizer = OPTIMIZERS[optimizer]
    self._rate_fn = schedule.linear(learning_rate, final_learning_rate, num_games)

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
      gradient: of the loss.
      state: of the optimizer.
      params: before the step.
      num_games: `[]` int32, games done.
    """
    # The library's adam mixes dtypes, which our tests otherwise forbid.
    with jax.numpy_dtype_promotion("standard"):
      updates, state = self._optimizer.update(gradient, state, params)
    if self._scale_fn is not None:
      updates = self._scale_fn(updates)
    rate = self._rate_fn(num_games)
    updates = jax.tree.map(lambda step: rate * step, updates)
    return optax.apply_updates(params, updates), state
