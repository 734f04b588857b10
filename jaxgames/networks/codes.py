"""How networks of patterns see cells: each is a digit, and a pattern is a number.

A cell is seen in one of four ways: empty and out of reach (under gravity, with nothing
to stand on), an own stone, the other's, or empty and playable now. A code is the number
of a row in a table: a weighted sum of the digits of some cells.
"""

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib

__all__ = [
  "NUM_DIGITS",
  "OTHER",
  "OUT_OF_REACH",
  "OWN",
  "PLAYABLE",
  "changes",
  "encode",
  "number_by_counts",
]

OUT_OF_REACH, OWN, OTHER, PLAYABLE = range(4)
NUM_DIGITS = 4


def encode(
  game: game_lib.LineGame, boards: jax.Array, weights: chex.Array, offsets: chex.Array
) -> jax.Array:
  """Returns the codes of boards, `[B, n]` int32: weighted sums of their digits.

  Args:
    game: whose boards these are.
    boards: `[B, num_cells]` int8.
    weights: `[num_cells, n]` float32.
    offsets: `[1, n]` int32, added to the sums.
  """
  chex.assert_shape(boards, (None, game.num_cells))
  chex.assert_shape(weights, (game.num_cells, None))
  digits = _read(game, boards).astype(jnp.float32)
  # Small whole numbers, exact as floats; and a matrix product is the quickest way.
  found = jnp.dot(digits, weights, precision=jax.lax.Precision.HIGHEST)
  return found.astype(jnp.int32) + offsets


def changes(game: game_lib.LineGame, weights: np.ndarray) -> np.ndarray:
  """Returns `[num_cells, n]` int32, what an own stone in a playable cell adds to codes.

  The stone changes its own cell, and the cell above, which becomes playable: by the
  same numbers on any board.
  """
  weights = weights.astype(np.int32)
  found = (OWN - PLAYABLE) * weights
  if game.gravity:
    above = weights[game.num_actions :]
    found[: -game.num_actions] += (PLAYABLE - OUT_OF_REACH) * above
  return found


def number_by_counts(length: int) -> np.ndarray:
  """Returns `[4^length]` int, a number for each pattern, whatever its order."""
  digits = np.indices([NUM_DIGITS] * length).reshape(length, -1)
  bases = NUM_DIGITS ** np.arange(length)[::-1]
  in_order = (np.sort(digits, axis=0) * bases[:, None]).sum(axis=0)
  return np.unique(in_order, return_inverse=True)[1]


def _read(game: game_lib.LineGame, boards: jax.Array) -> jax.Array:
  """Returns `[B, num_cells]` int32, how each cell is seen."""
  is_empty = boards == 0
  has_floor = jnp.ones_like(is_empty)
  if game.gravity:
    below = ~is_empty[:, : -game.num_actions]
    has_floor = has_floor.at[:, game.num_actions :].set(below)
  digits = jnp.where(boards < 0, OTHER, boards.astype(jnp.int32))
  return jnp.where(is_empty & has_floor, PLAYABLE, digits)
