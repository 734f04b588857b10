"""Many small steps on the same transitions, equations 6 to 14 of the gomoku paper.

The paper trains each transition 50 times. A step changes a hidden unit's weights by a
multiple of the transition's inputs, so all that the next step needs of them is how much
this adds to the unit's sum: the product of the inputs with themselves, or, if several
games share the network, with those of the others. That is computed once. The 50 steps
then only see hidden units, and the weights of the inputs are changed once at the end.
The result is that of 50 steps of gradient descent, up to rounding.

In the shapes, `B` is the number of transitions, `n` that of inputs and `m` of hidden
units.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

__all__ = ["Transitions", "descend", "empty", "with_fixed_targets"]


class Transitions(NamedTuple):
  """Positions, and those that follow.

  Attributes:
    inputs: `[B, n]` float32, the positions whose values are updated.
    next_inputs: `[B, n]` float32, the positions that follow.
    rewards: `[B]` float32.
    discounts: `[B]` float32, 0 if nothing follows.
    weights: `[B]` float32, 1, or 0 where there is no transition.
  """

  inputs: chex.Array
  next_inputs: chex.Array
  rewards: chex.Array
  discounts: chex.Array
  weights: chex.Array


class _Layer(NamedTuple):
  """What changes from step to step.

  Attributes:
    outer: `[m]` float32, the hidden units' weights.
    pushes: `[B, m]` float32, what to multiply the inputs with in the end.
  """

  outer: chex.Array
  pushes: chex.Array


def empty(num_transitions: int, num_inputs: int) -> Transitions:
  """Returns room for transitions, with none in it."""
  inputs = jnp.zeros((num_transitions, num_inputs), jnp.float32)
  zeros = jnp.zeros(num_transitions, jnp.float32)
  return Transitions(inputs, inputs, zeros, zeros, zeros)


def descend(
  params: chex.ArrayTree,
  transitions: Transitions,
  rate: chex.Numeric,
  *,
  steps: int,
  is_fresh: bool,
) -> tuple[chex.ArrayTree, jax.Array]:
  """Takes steps of gradient descent on half the sum of squared errors.

  Args:
    params: of a `networks.Critic`.
    transitions: `[B]`.
    rate: `[]` what a step is multiplied by.
    steps: how many.
    is_fresh: whether the values of what follows are computed at each step anew.

  Returns:
    The parameters after the steps, and `[B]` float32, the errors before the first.
  """
  inner, outer = params["params"]["inner"], params["params"]["outer"]
  inputs = transitions.inputs
  chex.assert_shape([inputs, transitions.next_inputs], (None, inner.shape[0]))
  chex.assert_equal_shape([transitions.rewards, transitions.weights])
  sums, next_sums = inputs @ inner, transitions.next_inputs @ inner
  # How much a push on one transition moves the sums of another.
  overlap, next_overlap = inputs @ inputs.T, transitions.next_inputs @ inputs.T
  first_targets = _targets(transitions, next_sums, outer)

  def step(layer: _Layer, _: None) -> tuple[_Layer, None]:
    # The sums are not carried along but made of all pushes so far: then each addition
    # is a part of what comes before or after it, not a pass over memory of its own.
    units = jax.nn.sigmoid(sums + overlap @ layer.pushes)
    values = jax.nn.sigmoid(units @ layer.outer)
    targets = first_targets
    if is_fresh:
      pushed = next_sums + next_overlap @ layer.pushes
      targets = _targets(transitions, pushed, layer.outer)
    errors = transitions.weights * (targets - values)
    push = rate * errors * values * (1.0 - values)
    pushes = push[:, None] * layer.outer[None] * units * (1.0 - units)
    return _Layer(layer.outer + push @ units, layer.pushes + pushes), None

  begin = _Layer(outer, jnp.zeros_like(sums))
  end, _ = jax.lax.scan(step, begin, None, length=steps)
  values = jax.nn.sigmoid(jax.nn.sigmoid(sums) @ outer)
  errors = transitions.weights * (first_targets - values)
  changed = {"inner": inner + inputs.T @ end.pushes, "outer": end.outer}
  return {"params": changed}, errors


def with_fixed_targets(params: chex.ArrayTree, transitions: Transitions) -> Transitions:
  """Returns transitions whose targets, now computed, no longer follow the parameters."""
  inner, outer = params["params"]["inner"], params["params"]["outer"]
  units = jax.nn.sigmoid(transitions.next_inputs @ inner)
  values = jax.nn.sigmoid(units @ outer)
  targets = transitions.rewards + transitions.discounts * values
  return transitions._replace(
    rewards=targets, discounts=jnp.zeros_like(transitions.discounts)
  )


def _targets(
  transitions: Transitions, next_sums: jax.Array, outer: jax.Array
) -> jax.Array:
  """Returns `[B]` float32, the targets of the positions.

  Args:
    transitions: `[B]`.
    next_sums: `[B, m]` float32, of the hidden units for the positions that follow.
    outer: `[m]` float32, the hidden units' weights.
  """
  values = jax.nn.sigmoid(jax.nn.sigmoid(next_sums) @ outer)
  return transitions.rewards + transitions.discounts * values
