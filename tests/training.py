"""Learners without the loop around them."""

import jax
import jax.numpy as jnp


def begin(learner, key, opponent=0):
  """Returns the start of a trial."""
  return learner.init(key, jnp.int32(opponent))


def advance(learner, state, until_games):
  """Returns a trial that has so many games, or is done."""

  def goes_on(state):
    return (learner.num_games(state) < until_games) & ~learner.is_done(state)

  return jax.lax.while_loop(
    goes_on, lambda state: learner.turn(state, goes_on(state)), state
  )
