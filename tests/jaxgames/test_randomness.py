"""The project's random keys against jax's own."""

import chex
from hypothesis import given
from hypothesis import strategies
import jax
import jax.numpy as jnp

from jaxgames import randomness


@given(
  seed=strategies.integers(0, 2**32 - 1),
  number=strategies.integers(0, 2**31 - 1),
  size=strategies.integers(1, 5),
)
def test_numbers_are_those_of_jax(seed, number, size):
  """Splits, draws and what is folded in are equal to the bit."""
  ours, theirs = (make(seed) for make in (randomness.key, jax.random.key))
  chex.assert_trees_all_equal(
    _numbers(ours, jnp.uint32(number), size), _numbers(theirs, jnp.uint32(number), size)
  )


def _numbers(key: chex.PRNGKey, number: jax.Array, size: int) -> dict[str, jax.Array]:
  folded = jax.random.fold_in(key, number)
  return {
    "key": jax.random.key_data(key),
    "split": jax.random.key_data(jax.random.split(folded, (2, size))),
    "words": jax.random.bits(folded, (size, 3)),
    "bytes": jax.random.bits(folded, (size,), jnp.uint8),
    "shares": jax.random.uniform(folded, (size,)),
    "order": jax.random.permutation(folded, size),
  }


def test_compiles_without_loops():
  """On a CPU jax's own generator is a loop of small launches."""

  def loops(key: chex.PRNGKey) -> int:
    return jax.jit(jax.random.split).lower(key).compile().as_text().count("while(")

  assert loops(randomness.key(0)) == 0
