"""The two sides of a game: which one the learner has, and whose result counts how.

In the shapes, `B` is the number of games in parallel.
"""

import chex
import jax
import jax.numpy as jnp

from train.learners.common import fields

__all__ = ["draw", "is_turn", "sign"]


def draw(
  starts: fields.Starts, key: chex.PRNGKey | None, rounds: chex.Array
) -> jax.Array:
  """Returns `[B]` bool, whether the learner begins the next game of every lane.

  Args:
    starts: the rule.
    key: consumed; needed only by the rule `random`.
    rounds: `[B]` int32, games that ended in each lane.
  """
  (num_lanes,) = rounds.shape
  if starts == "random":
    assert key is not None, "random sides need random numbers"
    return jax.random.bernoulli(key, shape=(num_lanes,))
  if starts == "alternate":
    return (jnp.arange(num_lanes, dtype=jnp.int32) + rounds) % 2 == 0
  return jnp.full(num_lanes, starts == "always")


def is_turn(num_moves: chex.Array, is_first: chex.Array) -> jax.Array:
  """Returns `[B]` bool, whether the side that is first or not is to move.

  Args:
    num_moves: `[B]` int32, moves made.
    is_first: `[B]` bool, whether that side moved first.
  """
  chex.assert_equal_shape([num_moves, is_first])
  return (num_moves % 2 == 0) == is_first


def sign(is_first: chex.Array) -> jax.Array:
  """Returns int8, what `State.winner` is if that side wins: 1 first, -1 second."""
  return jnp.where(is_first, jnp.int8(1), jnp.int8(-1))
