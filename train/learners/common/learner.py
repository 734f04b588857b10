"""What learners of a shared network have in common; each adds its paper's algorithm."""

from collections.abc import Collection
from typing import Any, TypeVar

import chex
import jax
import jax.numpy as jnp

from train.learners import base

__all__ = ["NetworkLearner", "select"]

State = TypeVar("State", bound=tuple)


class NetworkLearner:
  """Answers the loop's questions for a state with `params`, `games` and `counts`.

  A trial has nothing to stop it early, and its counts are cleared by a report.
  """

  def step(self, state: Any, is_active: chex.Array) -> Any:
    return select(is_active, self._step(state), state)

  def num_games(self, state: Any) -> jax.Array:
    return state.games.num_games

  def is_done(self, state: Any) -> jax.Array:
    del state
    return jnp.bool_(False)

  def report(self, state: Any) -> tuple[Any, base.Metrics]:
    cleared = jax.tree.map(jnp.zeros_like, state.counts)
    return state._replace(counts=cleared), self._metrics(state)

  def parameters(self, state: Any) -> chex.ArrayTree:
    return state.params

  def _step(self, state: Any) -> Any:
    """Returns the trial after one step of training."""
    raise NotImplementedError

  def _metrics(self, state: Any) -> base.Metrics:
    """Returns averages since the last report."""
    raise NotImplementedError


def select(
  condition: chex.Array, new: State, old: State, keep: Collection[str] = ()
) -> State:
  """Returns the new state if a condition holds, else the old one.

  Args:
    condition: `[]` bool.
    new: a `NamedTuple`.
    old: likewise.
    keep: fields of the new state that are returned as they are: those too large to
      copy, which the caller has left unchanged where the condition does not hold.
  """
  chosen = {
    name: jax.tree.map(
      lambda a, b: jnp.where(condition, a, b), getattr(new, name), getattr(old, name)
    )
    for name in new._fields  # type: ignore[attr-defined]
    if name not in keep
  }
  return new._replace(**chosen)  # type: ignore[attr-defined]
