"""Learners without the loop around them."""

import functools

import jax
import jax.export
import jax.numpy as jnp

from jaxgames import arena
from jaxgames import players


def begin(learner, key, opponent=0):
  """Returns the start of a trial."""
  return learner.init(key, jnp.int32(opponent))


def advance(learner, state, until_games):
  """Returns a trial that has so many games, or is done."""

  def is_active(state):
    return (learner.num_games(state) < until_games) & ~learner.is_done(state)

  return jax.lax.while_loop(
    is_active, lambda state: learner.step(state, is_active(state)), state
  )


def lower(learner):
  """Returns the program for accelerators that trains, reports and plays a test."""
  states = jax.eval_shape(
    jax.vmap(functools.partial(begin, learner)),
    jax.random.split(jax.random.key(0), 2),
  )

  def chunk(state, until):
    state = advance(learner, state, until)
    state, metrics = learner.report(state)
    agent = learner.agent(learner.parameters(state))
    opponent = players.Random(learner.game)
    score = arena.play_match(agent, opponent, jax.random.key(0), num_games=2)
    return state, metrics, score

  until = jax.ShapeDtypeStruct((2,), jnp.int32)
  exported = jax.export.export(jax.jit(jax.vmap(chunk)), platforms=["cuda", "tpu"])
  return exported(states, until).mlir_module()
