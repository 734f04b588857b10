"""How weights are drawn."""

import flax.linen as nn
import jax
import jax.numpy as jnp

__all__ = ["uniform"]


def uniform(limit: float) -> nn.initializers.Initializer:
  """Returns an initializer that draws uniformly from -limit to limit."""

  def draw(key, shape, dtype=jnp.float32, out_sharding=None):
    del out_sharding
    return jax.random.uniform(key, shape, dtype, minval=-limit, maxval=limit)

  return draw
