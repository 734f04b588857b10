"""The activation and its derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.networks import activation


@pytest.mark.parametrize(("steepness", "slope"), [(0.5, 0.5), (0.5, 1.0), (1.0, 2.0)])
def test_derivative_is_slope_times_one_minus_square(steepness, slope):
  x = jnp.float32(0.7)
  y = np.tanh(steepness * 0.7)
  value, derivative = jax.value_and_grad(activation.squash)(x, steepness, slope)
  np.testing.assert_allclose(value, y, rtol=1e-6)
  np.testing.assert_allclose(derivative, slope * (1 - y * y), rtol=1e-6)


def test_linear_gradient_has_the_same_value_and_derivative_one():
  value, derivative = jax.value_and_grad(activation.squash_with_linear_gradient)(
    jnp.float32(0.7), 0.5
  )
  np.testing.assert_allclose(value, np.tanh(0.35), rtol=1e-6)
  assert derivative == 1.0


def test_logistic_scaled_to_minus_one_and_one_has_steepness_one_half():
  x = jnp.linspace(-4, 4, 9)
  expected = 2 * jax.nn.sigmoid(x) - 1
  np.testing.assert_allclose(activation.squash(x, 0.5, 0.5), expected, atol=1e-6)
