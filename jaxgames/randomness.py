"""Random keys whose numbers compile to straight code.

The numbers are those of jax's own generator, Threefry, to the bit. But on a CPU jax
compiles each split and draw to a loop of five turns, some eighty small launches: of one
step of training by self-play, three quarters of all launches. Here the compiler fuses
each with what its numbers are for.
"""

from collections.abc import Hashable
import functools
import math

import chex
import jax
from jax.extend import random as extend_random
import jax.numpy as jnp
import numpy as np

__all__ = ["key"]

# Of Threefry-2x32 (Salmon et al., 2011), as in the standard: how far words are rotated
# in the rounds of odd and even groups, and what the key's words are tied together with.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)
NUM_GROUPS = 5

NUM_SEEDS = 2**32


@jax.named_scope("random")
def _threefry(
  key: jax.Array, high: chex.Array, low: chex.Array
) -> tuple[jax.Array, jax.Array]:
  """Returns two random words for each counter, a number of two words."""
  words = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
  high, low = high + words[0], low + words[1]
  for group in range(NUM_GROUPS):
    for distance in ROTATIONS[group % 2]:
      high = high + low
      low = (low << np.uint32(distance)) | (low >> np.uint32(32 - distance))
      low = low ^ high
    high = high + words[(group + 1) % 3]
    low = low + words[(group + 2) % 3] + np.uint32(group + 1)
  return high, low


def _counters(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
  """Returns the counters of some numbers: their places, from 0."""
  low = np.arange(math.prod(shape), dtype=np.uint32).reshape(shape)
  return np.zeros_like(low), low


def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
  return jnp.stack(_threefry(key, *_counters(shape)), axis=-1)


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
  high, low = _threefry(key, *_counters(shape))
  if bit_width == 64:
    return (high.astype(jnp.uint64) << 32) | low.astype(jnp.uint64)
  return (high ^ low).astype(f"uint{bit_width}")


def _seed(seed: jax.Array) -> jax.Array:
  return extend_random.threefry_prng_impl.seed(seed)


def _fold_in(key: jax.Array, number: chex.Numeric) -> jax.Array:
  high, low = _seed(jnp.asarray(number))
  return jnp.stack(_threefry(key, high, low))


@functools.cache
def _implementation() -> Hashable:
  return extend_random.define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="unrolled_threefry2x32",
    tag="unrolled",
  )


def key(seed: int) -> jax.Array:
  """Returns the key of a seed; its numbers are those of `jax.random.key(seed)`.

  Raises:
    ValueError: if the seed is not from 0 to 2^32 - 1; jax would take it modulo 2^32.
  """
  if isinstance(seed, int) and not 0 <= seed < NUM_SEEDS:
    raise ValueError(f"a seed is from 0 to {NUM_SEEDS - 1}, not {seed}")
  return jax.random.key(seed, impl=_implementation())
