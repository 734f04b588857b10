"""The activation of the ttt3d paper, and the derivatives it may be given."""

import functools

import chex
import jax
import jax.numpy as jnp

__all__ = ["squash", "squash_with_linear_gradient"]


@functools.partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def squash(x: chex.Array, steepness: float, slope: float) -> jax.Array:
  """Returns tanh(steepness x), differentiated as slope (1 - y^2).

  The logistic function scaled to [-1, 1] has steepness 1/2. Its true derivative has
  the same number as its slope; many programs write 1 - y^2, which is twice as much.

  Args:
    x: of any shape.
    steepness: of the function.
    slope: of what back-propagation takes for its derivative, at 0.
  """
  del slope
  return jnp.tanh(steepness * x)


@squash.defjvp
def _squash_jvp(
  steepness: float,
  slope: float,
  primals: tuple[chex.Array],
  tangents: tuple[chex.Array],
) -> tuple[jax.Array, jax.Array]:
  y = squash(primals[0], steepness, slope)
  return y, slope * (1 - y * y) * tangents[0]


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def squash_with_linear_gradient(x: chex.Array, steepness: float) -> jax.Array:
  """Returns tanh(steepness x), differentiated as if it were x.

  For the output: the error is propagated back as it is, without the activation's
  derivative.

  Args:
    x: of any shape.
    steepness: of the function.
  """
  return jnp.tanh(steepness * x)


@squash_with_linear_gradient.defjvp
def _squash_with_linear_gradient_jvp(
  steepness: float, primals: tuple[chex.Array], tangents: tuple[chex.Array]
) -> tuple[jax.Array, jax.Array]:
  return squash_with_linear_gradient(primals[0], steepness), tangents[0]
