"""Learners without the loop around them."""

import functools

import jax
import jax.export
import jax.numpy as jnp

from jaxgames import arena
from jaxgames import players
from tests.support import quick


def begin(learner, key, opponent=0):
  """Returns the start of a trial."""
  return learner.init(key, jnp.int32(opponent))


def begin_compiled(learner, key=None):
  """Returns the start of a trial, computed by a compiled program."""
  key = jax.random.key(0) if key is None else key
  return quick.jit(functools.partial(begin, learner))(key)


def advance(learner, state, until_games):
  """Returns a trial that has so many games, or is done."""

  def is_active(state):
    return (learner.num_games(state) < until_games) & ~learner.is_done(state)

  return jax.lax.while_loop(
    is_active, lambda state: learner.step(state, is_active(state)), state
  )


def losses_to_random(learner, until_games):
  """Returns how many of 1,000 games an agent loses after some numbers of games."""

  @quick.jit
  def train_and_test(key, until):
    state = advance(learner, begin(learner, key), until)
    agent = learner.agent(learner.parameters(state))
    opponent = players.Random(learner.game)
    return arena.play_match(agent, opponent, jax.random.key(1), num_games=1000)

  scores = [train_and_test(jax.random.key(0), until) for until in until_games]
  return [int(score.losses.sum()) for score in scores]


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
