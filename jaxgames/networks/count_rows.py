"""What counted shapes add to the sums of a critic's hidden units.

A move changes the counts of few shapes: two or three of forty, on average. So the sums
after it are those before plus some rows of a table that is computed once for all games
that share the weights; a product with all inputs takes ten times as many steps.

In the shapes, `n` is the number of moves, `S` that of shapes of both sides together, and
`K` the most shapes whose counts a move may change here.
"""

import itertools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames.networks import lookup

__all__ = ["NUM_STEPS", "Changes", "CountRows", "find_changes", "make", "sums_after"]

# Counts up to this may add anything; each one above it adds the same.
NUM_STEPS = 4


class CountRows(NamedTuple):
  """What a count adds to the sums.

  Attributes:
    up_to_steps: `[2 * S * (NUM_STEPS + 1), hidden]`, for a count of 0 and so on; by
      whose turn it is (player 1's first), shape and count.
    above_steps: `[S, hidden]`, what each count above adds to that.
  """

  up_to_steps: chex.Array
  above_steps: chex.Array


class Changes(NamedTuple):
  """The counts that moves change.

  Attributes:
    shapes: `[n, K]` int32; any shape where fewer than `K` change.
    before: `[n, K]` int32, the counts before the move.
    after: `[n, K]` int32, those after it; equal to those before where none changes.
    num_changed: `[n]` int32, how many counts change; of more than `K`, the first `K`
      are given.
  """

  shapes: chex.Array
  before: chex.Array
  after: chex.Array
  num_changed: chex.Array


def make(steps: jax.Array, turns: jax.Array, above: jax.Array) -> CountRows:
  """Returns the rows of weights.

  Args:
    steps: `[S, NUM_STEPS, hidden]`, what the first, second, ... of a shape adds.
    turns: `[2, S, hidden]`, what the first adds besides, by whose turn it is.
    above: `[S, hidden]`, what each further one adds.
  """
  chex.assert_equal_shape([turns[0], above, steps[:, 0]])
  first = turns + steps[None, :, 0]
  others = (jnp.broadcast_to(steps[:, i], first.shape) for i in range(1, NUM_STEPS))
  sums = itertools.accumulate([first, *others])
  rows = jnp.stack([jnp.zeros_like(first), *sums], axis=2)
  return CountRows(rows.reshape(-1, rows.shape[-1]), above)


def find_changes(counts: jax.Array, differences: jax.Array, most: int) -> Changes:
  """Returns which counts change.

  Args:
    counts: `[n, 2, S / 2]` int32, those before, of both sides.
    differences: likewise, what moves add to them.
    most: `K`.
  """
  chex.assert_equal_shape([counts, differences])
  num_shapes = counts.shape[2]
  # A bit for each shape, a word for each side.
  places = np.arange(num_shapes, dtype=np.uint32)
  bit = (np.uint32(1) << places)[None, None]
  words = jnp.where(differences != 0, bit, np.uint32(0)).sum(axis=2, dtype=jnp.uint32)
  left: bits.Words = (words[:, 0], words[:, 1])
  num_changed = bits.count(left)
  slots = []
  for _ in range(most):
    lowest = bits.first(left)
    left = bits.difference(left, bits.single(lowest, len(left)))
    side, shape = lowest // bits.WORD_BITS, lowest % bits.WORD_BITS
    slots.append(side * num_shapes + shape)
  is_given = np.arange(most, dtype=np.int32)[None] < num_changed[:, None]
  shapes = jnp.where(is_given, jnp.stack(slots, axis=1), 0)
  before = _pick(counts, shapes)
  added = jnp.where(is_given, _pick(differences, shapes), 0)
  return Changes(shapes, before, before + added, num_changed)


def sums_after(
  rows: CountRows, sums: jax.Array, changes: Changes, is_turn: jax.Array
) -> jax.Array:
  """Returns the sums of the hidden units after moves, `[n, hidden]`.

  Args:
    rows: from `make`.
    sums: `[n, hidden]`, for the counts before, but with the turn after.
    changes: by the moves.
    is_turn: `[n]` bool, whether it is player 1's turn after them.
  """
  num_shapes = rows.above_steps.shape[0]
  turn = jnp.where(is_turn, 0, num_shapes)[:, None]
  first = (turn + changes.shapes) * (NUM_STEPS + 1)
  after = first + jnp.minimum(changes.after, NUM_STEPS)
  before = first + jnp.minimum(changes.before, NUM_STEPS)
  above = jnp.maximum(changes.after, NUM_STEPS) - jnp.maximum(changes.before, NUM_STEPS)
  above = above.astype(jnp.float32)
  total = sums
  for slot in range(changes.shapes.shape[1]):
    # Added one by one, all is one loop over rows that stay in registers.
    total += lookup.rows(rows.up_to_steps, after[:, slot])
    total -= lookup.rows(rows.up_to_steps, before[:, slot])
    more = lookup.rows(rows.above_steps, changes.shapes[:, slot])
    total += above[:, slot, None] * more
  return total


def _pick(counts: jax.Array, shapes: jax.Array) -> jax.Array:
  flat = counts.reshape(counts.shape[0], -1)
  return jnp.take_along_axis(flat, shapes, axis=1, mode="promise_in_bounds")
