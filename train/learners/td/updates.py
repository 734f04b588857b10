"""Boards with what they are to be taught, one lesson for each of many games.

A lesson teaches the error in the value of a board, and in part the boards before it:
the trace of TD(lambda).

In the shapes, `B` is the number of games and `n` the length of a trace, 1 without one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxgames import batching

__all__ = ["Lessons", "by_side", "none", "put_by_side", "remember", "take_first"]


class Lessons(NamedTuple):
  """Boards and target values.

  Attributes:
    boards: `[B, n, num_cells]` int8, 1 the stones of the player who has just moved; the
      newest board first.
    targets: `[B]` float32, of the newest boards.
    weights: `[B, n]` float32, how much of the newest board's error each board is
      taught: 1, then less and less; 0 where there is no lesson.
  """

  boards: chex.Array
  targets: chex.Array
  weights: chex.Array

  @property
  def are_there(self) -> jax.Array:
    """`[B]` bool, whether there is a lesson."""
    return self.weights[:, 0] > 0

  def only_where(self, condition: chex.Array) -> "Lessons":
    """Returns the lessons of some games, `[B]` bool."""
    return self._replace(weights=jnp.where(condition[:, None], self.weights, 0.0))


def none(num_lanes: int, length: int, num_cells: int) -> Lessons:
  """Returns a place for lessons that holds none."""
  return Lessons(
    boards=jnp.zeros((num_lanes, length, num_cells), jnp.int8),
    targets=jnp.zeros(num_lanes, jnp.float32),
    weights=jnp.zeros((num_lanes, length), jnp.float32),
  )


def remember(before: Lessons, boards: chex.Array, decay: chex.Numeric) -> Lessons:
  """Returns lessons on new boards `[B, num_cells]`, with the trace before them.

  Args:
    before: lessons on the boards before, or none.
    boards: the newest, of weight 1; targets are for the caller to set.
    decay: `[B]` or a number, what the weights of older boards are multiplied by.
  """
  newest = jnp.ones_like(before.weights[:, :1])
  decay = jnp.broadcast_to(decay, newest.shape[:1])[:, None]
  return Lessons(
    boards=jnp.concatenate([boards[:, None], before.boards[:, :-1]], axis=1),
    targets=before.targets,
    weights=jnp.concatenate([newest, decay * before.weights[:, :-1]], axis=1),
  )


def by_side(sides: Sequence[Lessons], side: chex.Array) -> Lessons:
  """Returns each game's lesson of a side, `[B]` indices into `sides`."""
  return sides[0] if len(sides) == 1 else batching.where(side == 0, sides[0], sides[1])


def put_by_side(
  sides: Sequence[Lessons], side: chex.Array, condition: chex.Array, new: Lessons
) -> tuple[Lessons, ...]:
  """Returns the sides with a new lesson for one of them, where the condition holds."""
  return tuple(
    batching.where(condition & (side == i), new, old) for i, old in enumerate(sides)
  )


def take_first(
  condition: chex.Array, queue: Sequence[Lessons]
) -> tuple[Lessons, tuple[Lessons, ...]]:
  """Takes the first lesson that a queue has for a game, where the condition holds.

  Returns:
    The lessons taken, without weight where there were none, and the queue without them.
  """
  taken = queue[0]._replace(weights=jnp.zeros_like(queue[0].weights))
  rest = []
  for lessons in queue:
    is_next = condition & ~taken.are_there & lessons.are_there
    taken = batching.where(is_next, lessons, taken)
    rest.append(lessons.only_where(~is_next))
  return taken, tuple(rest)
