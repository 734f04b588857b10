"""Sets of cells behave as sets of integers."""

from hypothesis import given
from hypothesis import strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import bits

NUM_CELLS = 75
NUM_WORDS = 3

cell_sets = st.sets(st.integers(0, NUM_CELLS - 1))


def to_words(cells):
  return tuple(map(jnp.asarray, bits.constant(sum(1 << c for c in cells), NUM_WORDS)))


def to_set(words):
  return set(np.flatnonzero(bits.unpack(words, 32 * NUM_WORDS)).tolist())


@given(cell_sets, cell_sets)
def test_set_algebra(a, b):
  assert to_set(bits.union(to_words(a), to_words(b))) == a | b
  assert to_set(bits.intersection(to_words(a), to_words(b))) == a & b
  assert to_set(bits.difference(to_words(a), to_words(b))) == a - b
  assert bool(bits.contains_any(to_words(a))) == bool(a)
  assert int(bits.count(to_words(a))) == len(a)


@given(cell_sets, st.integers(0, 32 * NUM_WORDS + 5))
def test_shifts_move_every_cell(cells, distance):
  inside = range(32 * NUM_WORDS)
  up = {c + distance for c in cells if c + distance in inside}
  down = {c - distance for c in cells if c - distance in inside}
  assert to_set(bits.shift_up(to_words(cells), distance)) == up
  assert to_set(bits.shift_down(to_words(cells), distance)) == down


@given(st.sets(st.integers(0, 32 * NUM_WORDS - 1), min_size=1))
def test_nth_and_first_count_from_below(cells):
  words = to_words(cells)
  assert every_nth(words)[: len(cells)].tolist() == sorted(cells)
  assert int(bits.first(words)) == min(cells)


@jax.jit
def every_nth(words):
  # As many ranks as there can be cells: one shape for sets of all sizes.
  ranks = jnp.arange(32 * NUM_WORDS, dtype=jnp.int32)
  return jax.vmap(bits.nth, in_axes=(None, 0))(words, ranks)


def test_first_of_nothing_is_past_the_words():
  assert int(bits.first(to_words([]))) == 32 * NUM_WORDS


@given(st.integers(-70, 32 * NUM_WORDS + 70))
def test_single_is_empty_outside_the_words(index):
  expected = {index} & set(range(32 * NUM_WORDS))
  assert to_set(bits.single(jnp.int32(index), NUM_WORDS)) == expected


@given(cell_sets)
def test_pack_undoes_unpack(cells):
  words = to_words(cells)
  assert to_set(bits.pack(bits.unpack(words, NUM_CELLS), NUM_WORDS)) == cells


def test_constants_that_do_not_fit_are_refused():
  with pytest.raises(ValueError, match="does not fit into 1 words"):
    bits.constant(1 << 32, 1)
