"""Numbers that change while a trial goes on."""

import chex
import jax
import jax.numpy as jnp

__all__ = ["linear"]


def linear(
  first: float, last: float | None, num_games: chex.Array, num_wanted: int
) -> jax.Array:
  """Returns a number that goes from `first` to `last` in a straight line.

  Args:
    first: at the beginning.
    last: after `num_wanted` games; as at the beginning if none is given.
    num_games: `[]` int32, games done.
    num_wanted: games of the whole trial.
  """
  if last is None:
    return jnp.full(num_games.shape, first, jnp.float32)
  done = jnp.minimum(num_games.astype(jnp.float32) / num_wanted, 1.0)
  return first + (last - first) * done
