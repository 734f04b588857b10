"""Temporal coherence: step sizes by how consistent changes are."""

import jax.numpy as jnp
import numpy as np
import pytest

from train.learners.common import coherence


@pytest.mark.parametrize("exponent", [None, 2.0])
def test_hand_worked_steps(exponent):
  # The first weight's changes agree, the second's cancel, the third's do so in part.
  changes = np.array([[1, 1, 2], [1, -1, -1], [3, 5, 4]], np.float32)
  sizes = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1 / 3]])
  if exponent is not None:
    sizes = np.exp(exponent * (sizes - 1))
  transformation = coherence.scale_by_coherence(exponent)
  state = transformation.init({"w": jnp.zeros(3)})
  for change, size in zip(changes, sizes, strict=True):
    steps, state = transformation.update({"w": jnp.asarray(change)}, state)
    np.testing.assert_allclose(steps["w"], size * change, rtol=1e-6)
  assert state.net["w"].tolist() == [5, 5, 5]
  assert state.total["w"].tolist() == [5, 7, 7]


def test_a_weight_that_was_never_changed_keeps_its_full_rate():
  transformation = coherence.scale_by_coherence()
  state = transformation.init(jnp.zeros(2))
  for change, step in (([0.0, 1.0], [0.0, 1.0]), ([2.0, -1.0], [2.0, -1.0])):
    found, state = transformation.update(jnp.array(change), state)
    assert found.tolist() == step
