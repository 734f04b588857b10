"""Boards with what they are to be taught, one for each of many games.

In the shapes, `B` is the number of games.
"""

from collections.abc import Sequence
from typing import NamedTuple

import chex
import jax.numpy as jnp

from jaxgames import lanes

__all__ = ["Lessons", "by_side", "none", "put_by_side", "take_first"]


class Lessons(NamedTuple):
  """Boards and target values.

  Attributes:
    boards: `[B, num_cells]` int8, 1 the stones of the player who has just moved.
    targets: `[B]` float32.
    weights: `[B]` float32, 1, or 0 where there is no lesson.
  """

  boards: chex.Array
  targets: chex.Array
  weights: chex.Array


def none(num_lanes: int, num_cells: int) -> Lessons:
  """Returns a place for lessons that holds none."""
  return Lessons(
    boards=jnp.zeros((num_lanes, num_cells), jnp.int8),
    targets=jnp.zeros(num_lanes, jnp.float32),
    weights=jnp.zeros(num_lanes, jnp.float32),
  )


def by_side(sides: Sequence[Lessons], side: chex.Array) -> Lessons:
  """Returns each game's lesson of a side, `[B]` indices into `sides`."""
  return sides[0] if len(sides) == 1 else lanes.where(side == 0, sides[0], sides[1])


def put_by_side(
  sides: Sequence[Lessons], side: chex.Array, condition: chex.Array, new: Lessons
) -> tuple[Lessons, ...]:
  """Returns the sides with a new lesson for one of them, where the condition holds."""
  return tuple(
    lanes.where(condition & (side == i), new, old) for i, old in enumerate(sides)
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
    is_next = condition & (taken.weights == 0) & (lessons.weights > 0)
    taken = lanes.where(is_next, lessons, taken)
    rest.append(lessons._replace(weights=jnp.where(is_next, 0.0, lessons.weights)))
  return taken, tuple(rest)
