"""Parallel games: trees whose arrays have one row for each game, called a lane."""

from typing import TypeVar

import chex
import jax
import jax.numpy as jnp

__all__ = ["pick", "repeat", "where"]

Tree = TypeVar("Tree")


def pick(values: chex.Array, places: chex.Array) -> jax.Array:
  """Returns `[lanes]`: for each game one of its values.

  Args:
    values: `[lanes, n]`.
    places: `[lanes]` int32.
  """
  chex.assert_rank([values, places], [2, 1])
  return jnp.take_along_axis(values, places[:, None], axis=1)[:, 0]


def repeat(tree: Tree, num_lanes: int) -> Tree:
  """Returns a tree of `[num_lanes, ...]` arrays, each row the same."""
  return jax.tree.map(lambda x: jnp.broadcast_to(x, (num_lanes, *x.shape)), tree)


def where(condition: chex.Array, if_true: Tree, if_false: Tree) -> Tree:
  """Returns, for each game, its row of one of two trees.

  Args:
    condition: `[lanes]` bool.
    if_true: a tree of `[lanes, ...]` arrays.
    if_false: likewise.
  """
  chex.assert_rank(condition, 1)

  def choose(a: chex.Array, b: chex.Array) -> jax.Array:
    return jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b)

  return jax.tree.map(choose, if_true, if_false)
