"""Small players for tests: deterministic, or counting their compilations."""

import dataclasses
import functools
import time

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames.players import base


class Tally:
  """Counts slowly; equal only to itself, so that jit takes it as a static field."""

  def __init__(self, seconds=0):
    self.count = 0
    self.seconds = seconds

  def add(self):
    time.sleep(self.seconds)
    self.count += 1


def as_player(**fields):
  """Makes a class a frozen pytree without leaves."""

  def decorate(kind):
    register = functools.partial(
      jax.tree_util.register_dataclass, data_fields=[], meta_fields=["game", *fields]
    )
    return register(dataclasses.dataclass(frozen=True)(kind))

  return decorate


@as_player()
class FirstLegal(base.Memoryless):
  """Plays the lowest legal action."""

  game: jaxgames.LineGame

  def act(self, memory, state, key):
    del memory, key
    return jnp.argmax(self.game.legal_actions(state)).astype(jnp.int32)


@as_player(traces=Tally)
class Counted(base.Memoryless):
  """Plays the lowest legal action, and counts how often it is compiled."""

  game: jaxgames.LineGame
  traces: Tally = dataclasses.field(default_factory=Tally)

  def act(self, memory, state, key):
    del memory, key
    self.traces.add()
    return jnp.argmax(self.game.legal_actions(state)).astype(jnp.int32)
