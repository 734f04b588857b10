"""Many small steps on the same lessons, equations 6 to 14 of the gomoku paper.

The paper trains each transition 50 times. A step changes a hidden unit's weights by a
multiple of the lesson's inputs, so all that the next step needs of them is how much this
adds to the unit's sum: the product of the inputs with themselves, or, if several games
share the network, with those of the others. That is computed once. The 50 steps then
only see hidden units, and the weights of the inputs are changed once at the end. The
result is that of 50 steps of gradient descent, up to rounding.

In the shapes, `B` is the number of lessons, `n` that of inputs and `m` of hidden units.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

__all__ = ["Lessons", "descend", "none"]


class Lessons(NamedTuple):
  """Positions, and what follows on them.

  Attributes:
    inputs: `[B, n]` float32, what is taught.
    next_inputs: `[B, n]` float32, the position that follows.
    rewards: `[B]` float32.
    discounts: `[B]` float32, 0 if nothing follows.
    weights: `[B]` float32, 1, or 0 where there is no lesson.
  """

  inputs: chex.Array
  next_inputs: chex.Array
  rewards: chex.Array
  discounts: chex.Array
  weights: chex.Array


class _Layer(NamedTuple):
  """What changes from step to step.

  Attributes:
    sums: `[B, m]` float32, of the hidden units for the lessons' positions.
    next_sums: `[B, m]` float32, for those that follow.
    outer: `[m]` float32, the hidden units' weights.
    pushes: `[B, m]` float32, what to multiply the inputs with in the end.
  """

  sums: chex.Array
  next_sums: chex.Array
  outer: chex.Array
  pushes: chex.Array


def none(num_lessons: int, num_inputs: int) -> Lessons:
  """Returns a place for lessons that holds none."""
  empty = jnp.zeros((num_lessons, num_inputs), jnp.float32)
  zeros = jnp.zeros(num_lessons, jnp.float32)
  return Lessons(empty, empty, zeros, zeros, zeros)


def descend(
  params: chex.ArrayTree,
  lessons: Lessons,
  rate: chex.Numeric,
  *,
  steps: int,
  is_fresh: bool,
) -> tuple[chex.ArrayTree, jax.Array]:
  """Takes steps of gradient descent on half the sum of squared errors.

  Args:
    params: of a `networks.Critic`.
    lessons: `[B]`.
    rate: `[]` what a step is multiplied by.
    steps: how many.
    is_fresh: whether the values of what follows are computed at each step anew.

  Returns:
    The parameters after the steps, and `[B]` float32, the errors before the first.
  """
  inner, outer = params["params"]["inner"], params["params"]["outer"]
  inputs = lessons.inputs
  now = _Layer(
    inputs @ inner, lessons.next_inputs @ inner, outer, jnp.zeros_like(inputs @ inner)
  )
  # How much a push on one lesson moves the sums of another.
  overlap, next_overlap = inputs @ inputs.T, lessons.next_inputs @ inputs.T
  first_targets = _targets(lessons, now)

  def step(layer: _Layer, _: None) -> tuple[_Layer, None]:
    targets = _targets(lessons, layer) if is_fresh else first_targets
    units = jax.nn.sigmoid(layer.sums)
    values = jax.nn.sigmoid(units @ layer.outer)
    errors = lessons.weights * (targets - values)
    push = rate * errors * values * (1.0 - values)
    pushes = push[:, None] * layer.outer[None] * units * (1.0 - units)
    next_sums = layer.next_sums
    if is_fresh:
      next_sums = next_sums + next_overlap @ pushes
    return _Layer(
      sums=layer.sums + overlap @ pushes,
      next_sums=next_sums,
      outer=layer.outer + push @ units,
      pushes=layer.pushes + pushes,
    ), None

  end, _ = jax.lax.scan(step, now, None, length=steps)
  values = jax.nn.sigmoid(jax.nn.sigmoid(now.sums) @ outer)
  errors = lessons.weights * (first_targets - values)
  changed = {"inner": inner + inputs.T @ end.pushes, "outer": end.outer}
  return {"params": changed}, errors


def _targets(lessons: Lessons, layer: _Layer) -> jax.Array:
  """Returns `[B]` float32, what the positions are taught."""
  values = jax.nn.sigmoid(jax.nn.sigmoid(layer.next_sums) @ layer.outer)
  return lessons.rewards + lessons.discounts * values
