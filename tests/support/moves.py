"""What players play in many positions."""

import jax
import jax.numpy as jnp

from tests.support import quick


def act_once(player, states, seed=0):
  """Returns what a player plays in each of many positions."""
  num = len(states.is_over)

  def act(state, key, number):
    key_begin, key_act = jax.random.split(key)
    return player.act(player.begin(key_begin, number), state, key_act)

  keys = jax.random.split(jax.random.key(seed), num)
  return jax.vmap(act)(states, keys, jnp.arange(num, dtype=jnp.int32))


# One function for all tests, so that what one of them compiled serves the others.
quick_act = quick.jit(act_once)
