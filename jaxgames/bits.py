"""Sets of cells as bit boards: a tuple of uint32 words, cell 0 the lowest bit.

Every function takes one set; `jax.vmap` makes it many. The words are separate
arrays, not one array with a word axis, so that a batch of boards is a handful of
flat vectors and every operation below is an elementwise instruction on them.
"""

import functools
import operator

import chex
import jax
import jax.numpy as jnp
import numpy as np

__all__ = [
  "Words",
  "constant",
  "contains_any",
  "count",
  "difference",
  "first",
  "intersection",
  "nth",
  "pack",
  "select",
  "shift_down",
  "shift_up",
  "single",
  "union",
  "unpack",
]

WORD_BITS = 32

# Words that live on the host are numpy scalars, those in compiled code jax arrays.
Words = tuple[chex.Array, ...]


def constant(cells: int, num_words: int) -> Words:
  """Returns a set, given as a Python integer, as numpy words."""
  if cells < 0 or cells >> (WORD_BITS * num_words):
    raise ValueError(f"{cells:#x} does not fit into {num_words} words of {WORD_BITS}")
  return tuple(
    np.uint32((cells >> (WORD_BITS * i)) & 0xFFFFFFFF) for i in range(num_words)
  )


def union(*sets: Words) -> Words:
  """Returns the cells that are in any of the sets."""
  return tuple(
    functools.reduce(operator.or_, words) for words in zip(*sets, strict=True)
  )


def intersection(*sets: Words) -> Words:
  """Returns the cells that are in all of the sets."""
  return tuple(
    functools.reduce(operator.and_, words) for words in zip(*sets, strict=True)
  )


def difference(cells: Words, removed: Words) -> Words:
  """Returns the cells that are not among the removed ones."""
  return tuple(a & ~b for a, b in zip(cells, removed, strict=True))


def select(condition: chex.Array, if_true: Words, if_false: Words) -> Words:
  """Returns one of two sets."""
  return tuple(
    jnp.where(condition, a, b) for a, b in zip(if_true, if_false, strict=True)
  )


def contains_any(cells: Words) -> jax.Array:
  """Returns whether a set has any cell."""
  return functools.reduce(operator.or_, cells) != np.uint32(0)


def count(cells: Words) -> jax.Array:
  """Returns the number of cells in a set, as int32."""
  counts = [jax.lax.population_count(word) for word in cells]
  return functools.reduce(operator.add, counts).astype(jnp.int32)


def shift_up(cells: Words, distance: int) -> Words:
  """Moves every cell up by a fixed distance; what passes the last word is lost."""
  whole, part = divmod(distance, WORD_BITS)
  padded = (np.uint32(0),) * (whole + 1) + tuple(cells)
  return tuple(
    _join(padded[i], padded[i + 1], WORD_BITS - part) for i in range(len(cells))
  )


def shift_down(cells: Words, distance: int) -> Words:
  """Moves every cell down by a fixed distance; what passes cell 0 is lost."""
  whole, part = divmod(distance, WORD_BITS)
  padded = tuple(cells) + (np.uint32(0),) * (whole + 1)
  return tuple(
    _join(padded[i + whole], padded[i + whole + 1], part) for i in range(len(cells))
  )


def _join(low: chex.Array, high: chex.Array, offset: int) -> chex.Array:
  """Returns the word that starts `offset` bits above the start of `low`."""
  # A shift by the width of the word is undefined, hence the two special cases. And
  # words that are known to be empty stay numpy, so that they cost nothing compiled.
  if offset == 0:
    return low
  if offset == WORD_BITS:
    return high
  return (low >> np.uint32(offset)) | (high << np.uint32(WORD_BITS - offset))


def single(index: chex.Array, num_words: int) -> Words:
  """Returns the set of one cell; empty for an index outside the words."""
  bit = np.uint32(1) << (index & (WORD_BITS - 1)).astype(np.uint32)
  word = index >> 5
  return tuple(jnp.where(word == i, bit, np.uint32(0)) for i in range(num_words))


def nth(cells: Words, rank: chex.Array) -> jax.Array:
  """Returns the cell with `rank` cells of the set below it.

  Args:
    cells: a set with more than `rank` cells; for a smaller one the result is some
      index within the words.
    rank: `[]` int32, counted from 0.

  Returns:
    `[]` int32.
  """
  word, offset = cells[0], jnp.zeros_like(rank)
  num_below, skipped = jax.lax.population_count(cells[0]).astype(jnp.int32), offset
  for i, candidate in enumerate(cells[1:], start=1):
    is_beyond = rank >= num_below
    word = jnp.where(is_beyond, candidate, word)
    offset = jnp.where(is_beyond, WORD_BITS * i, offset)
    skipped = jnp.where(is_beyond, num_below, skipped)
    num_below += jax.lax.population_count(candidate).astype(jnp.int32)
  return offset + _nth_in_word(word, rank - skipped)


def _nth_in_word(word: chex.Array, rank: chex.Array) -> jax.Array:
  """Returns the place of the `rank`-th set bit, by halving the word five times."""
  # Sums of neighbouring bits in fields of 2, 4, 8 and 16 bits.
  pairs = word - ((word >> 1) & np.uint32(0x55555555))
  nibbles = (pairs & np.uint32(0x33333333)) + ((pairs >> 2) & np.uint32(0x33333333))
  octets = (nibbles + (nibbles >> 4)) & np.uint32(0x0F0F0F0F)
  halves = octets + (octets >> 8)
  rank = rank.astype(jnp.uint32)
  place = jnp.zeros_like(rank)
  for sums, width in ((halves, 16), (octets, 8), (nibbles, 4), (pairs, 2), (word, 1)):
    num_low = (sums >> place) & np.uint32(2 * width - 1)
    is_high = rank >= num_low
    rank = jnp.where(is_high, rank - num_low, rank)
    place = jnp.where(is_high, place + np.uint32(width), place)
  return place.astype(jnp.int32)


def first(cells: Words) -> jax.Array:
  """Returns the lowest cell of a set as int32; past the last word if it is empty."""
  index = jnp.int32(WORD_BITS * len(cells))
  for i, word in reversed(tuple(enumerate(cells))):
    lowest = jax.lax.population_count((word & (~word + np.uint32(1))) - np.uint32(1))
    is_here = word != np.uint32(0)
    index = jnp.where(is_here, lowest.astype(jnp.int32) + WORD_BITS * i, index)
  return index


def unpack(cells: Words, num_cells: int) -> jax.Array:
  """Returns a set as `[num_cells]` booleans."""
  # Word by word, without a look-up of each cell's word, which would be a loop of its own.
  places = np.arange(WORD_BITS, dtype=np.uint32)
  is_member = ((jnp.stack(cells)[:, None] >> places[None]) & np.uint32(1)) != 0
  return is_member.reshape(-1)[:num_cells]


def pack(is_member: chex.Array, num_words: int) -> Words:
  """Returns `[num_cells]` booleans as a set."""
  padding = WORD_BITS * num_words - is_member.shape[0]
  fields = jnp.pad(is_member, (0, padding)).reshape(num_words, WORD_BITS)
  weights = np.uint32(1) << np.arange(WORD_BITS, dtype=np.uint32)
  values = jnp.where(fields, weights[None], np.uint32(0)).sum(axis=1, dtype=jnp.uint32)
  return tuple(values[i] for i in range(num_words))
