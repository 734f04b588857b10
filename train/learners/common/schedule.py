"""Numbers that change in the course of a trial, as functions of the games done.

They are schedules as optax has them. Optax's own linear schedule rounds otherwise, and
runs that were made with this one must come out the same to the last bit.
"""

import chex
import jax
import jax.numpy as jnp
import optax

__all__ = ["exponential", "linear"]


def linear(first: float, last: float | None, num_games: int) -> optax.Schedule:
  """Returns a schedule that changes linearly from `first` to `last`.

  Args:
    first: at the beginning.
    last: after `num_games` games; as at the beginning if none is given.
    num_games: games of the whole trial.
  """
  if last is None:
    return lambda count: jnp.full(jnp.shape(count), first, jnp.float32)

  def schedule(count: chex.Numeric) -> jax.Array:
    done = jnp.minimum(jnp.asarray(count).astype(jnp.float32) / num_games, 1.0)
    return first + (last - first) * done

  return schedule


def exponential(first: float, last: float, scale: float) -> optax.Schedule:
  """Returns a schedule that falls from `first` to `last`, ever slower.

  Args:
    first: at the beginning.
    last: in the end.
    scale: games in which the distance from `last` falls to 1/e of itself.
  """

  def schedule(count: chex.Numeric) -> jax.Array:
    decay = jnp.exp(-jnp.asarray(count).astype(jnp.float32) / scale)
    return last + (first - last) * decay

  return schedule
