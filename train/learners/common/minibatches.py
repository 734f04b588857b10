"""Updates of many games in minibatches, one step of gradient descent after the other.

All games that share a network move by the same weights. One joint step on the updates
of all of them learns less from each game the more games there are; steps on minibatches,
each with the weights that the one before has left, do not.
"""

from collections.abc import Callable
from typing import TypeVar

import chex
import jax

__all__ = ["check_size", "scan"]

Carry = TypeVar("Carry")
Batch = TypeVar("Batch")


def check_size(minibatch: int | None, parallel_games: int) -> int:
  """Returns how many games share a step.

  Args:
    minibatch: the setting; all games if none is given.
    parallel_games: how many games there are.

  Raises:
    ValueError: if minibatches of that size do not make up all games.
  """
  if minibatch is None:
    return parallel_games
  if parallel_games % minibatch:
    raise ValueError(
      f"learner.minibatch is {minibatch}, but must divide parallel_games, which is "
      f"{parallel_games}"
    )
  return minibatch


def scan(
  step_fn: Callable[[Carry, Batch], Carry], carry: Carry, batch: Batch, size: int
) -> Carry:
  """Takes a step on each minibatch of a batch, in the order of its rows.

  Args:
    step_fn: takes one step.
    carry: what a step changes: weights, optimizer, sums.
    batch: a tree of `[B, ...]` arrays.
    size: rows of a minibatch; it divides `B`.
  """
  chex.assert_equal_shape_prefix(jax.tree.leaves(batch), 1)
  num_rows = jax.tree.leaves(batch)[0].shape[0]
  if size == num_rows:
    # Without a loop: to the bit what one joint step is.
    return step_fn(carry, batch)
  parts = jax.tree.map(lambda rows: rows.reshape(-1, size, *rows.shape[1:]), batch)
  return jax.lax.scan(lambda now, part: (step_fn(now, part), None), carry, parts)[0]
