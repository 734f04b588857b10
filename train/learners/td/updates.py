"""Pending updates: boards and the targets that their values are to be moved to.

The error in the value of a board also updates, in part, the boards before it: the
trace of TD(lambda).

In the shapes, `B` is the number of games and `n` the length of a trace, 1 without one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxgames import batching

__all__ = ["Updates", "empty", "extend_trace", "of_side", "pop_first", "replace_side"]


class Updates(NamedTuple):
  """At most one update for each game.

  Attributes:
    boards: `[B, n, num_cells]` int8, 1 the stones of the player who has just moved; the
      newest board first.
    targets: `[B]` float32, of the newest boards.
    weights: `[B, n]` float32, how much of the newest board's error each board is moved
      by: 1, then less and less; 0 where there is no update.
  """

  boards: chex.Array
  targets: chex.Array
  weights: chex.Array

  @property
  def is_present(self) -> jax.Array:
    """`[B]` bool, whether there is an update."""
    return self.weights[:, 0] > 0

  def only_where(self, condition: chex.Array) -> "Updates":
    """Returns the updates of the games for which a condition `[B]` holds."""
    return self._replace(weights=jnp.where(condition[:, None], self.weights, 0.0))


def empty(num_lanes: int, length: int, num_cells: int) -> Updates:
  """Returns room for updates, with none in it."""
  return Updates(
    boards=jnp.zeros((num_lanes, length, num_cells), jnp.int8),
    targets=jnp.zeros(num_lanes, jnp.float32),
    weights=jnp.zeros((num_lanes, length), jnp.float32),
  )


def extend_trace(before: Updates, boards: chex.Array, decay: chex.Numeric) -> Updates:
  """Returns updates of new boards, with the boards before them as their trace.

  Args:
    before: updates of the boards before, or none.
    boards: `[B, num_cells]` int8, the newest, of weight 1; targets are for the caller
      to set.
    decay: `[B]` or a number, what the weights of older boards are multiplied by.
  """
  chex.assert_shape(boards, (before.boards.shape[0], before.boards.shape[2]))
  newest = jnp.ones_like(before.weights[:, :1])
  decay = jnp.broadcast_to(decay, newest.shape[:1])[:, None]
  return Updates(
    boards=jnp.concatenate([boards[:, None], before.boards[:, :-1]], axis=1),
    targets=before.targets,
    weights=jnp.concatenate([newest, decay * before.weights[:, :-1]], axis=1),
  )


def of_side(sides: Sequence[Updates], side: chex.Array) -> Updates:
  """Returns each game's update of one side, `[B]` indices into `sides`."""
  return sides[0] if len(sides) == 1 else batching.where(side == 0, sides[0], sides[1])


def replace_side(
  sides: Sequence[Updates], side: chex.Array, condition: chex.Array, new: Updates
) -> tuple[Updates, ...]:
  """Returns the sides with a new update for one of them, where the condition holds."""
  return tuple(
    batching.where(condition & (side == i), new, old) for i, old in enumerate(sides)
  )


def pop_first(
  condition: chex.Array, queue: Sequence[Updates]
) -> tuple[Updates, tuple[Updates, ...]]:
  """Takes the first update that a queue has for a game, where the condition holds.

  Returns:
    The updates taken, without weight where there were none, and the rest of the queue.
  """
  taken = queue[0]._replace(weights=jnp.zeros_like(queue[0].weights))
  rest = []
  for updates in queue:
    is_next = condition & ~taken.is_present & updates.is_present
    taken = batching.where(is_next, updates, taken)
    rest.append(updates.only_where(~is_next))
  return taken, tuple(rest)
