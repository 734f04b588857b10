"""A learner's methods as compiled programs over all trials and devices."""

from collections.abc import Callable
import functools
import time
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import arena
from jaxgames import players
from train import config as config_lib
from train import devices
from train.learners import base

__all__ = ["Programs", "Reached", "TestResult"]

# Names of the independent streams of random numbers of a trial.
TRAINING, TESTING = 0, 1

# What a line of metrics.jsonl says anyway.
RESERVED = {"test", "trial", "games", "wins", "draws", "losses", "score"}


class Reached(NamedTuple):
  """How far the trials are.

  Attributes:
    games: `[trials]` int32, finished games.
    is_finite: `[trials]` bool, whether all of a trial's numbers are.
  """

  games: chex.Array
  is_finite: chex.Array


class TestResult(NamedTuple):
  """What a test of all trials gave, on the host.

  Attributes:
    score: `[trials, 2]` results by side.
    metrics: `[trials]` each.
  """

  score: arena.Score
  metrics: base.Metrics


class Programs:
  """The programs of a run, each compiled once, when it is first needed.

  Trials do not know of each other: a program is a `jax.vmap` over trials and, where
  several devices share the trials, each computes its part without communication.

  Attributes:
    num_devices: how many devices share the trials.
    compile_seconds: spent on compiling so far.
  """

  def __init__(
    self, learner: base.Learner, opponent: players.Player, config: config_lib.RunConfig
  ):
    """Prepares programs; nothing is compiled yet.

    Args:
      learner: of one trial.
      opponent: plays the tests.
      config: of the run.
    """
    self._learner = learner
    self._sharding = devices.trial_sharding(config.trials)
    self._num_test_games = config.test.games
    self._compiled: dict[str, Callable[..., Any]] = {}
    self._trials = self._put(np.arange(config.trials, dtype=np.int32))
    # Given to programs, not built in: another seed needs no other program.
    self._key = self._put_everywhere(jax.random.key(config.seed))
    self._opponent = self._put_everywhere(opponent)
    self.num_devices = self._sharding.num_devices if self._sharding else 1
    self.compile_seconds = 0.0

  def abstract_state(self) -> base.LearnerState:
    """Returns the shapes and dtypes of the state of all trials."""
    init = jax.vmap(self._init, in_axes=(0, None))
    return jax.eval_shape(init, self._trials, self._key)

  def init(self) -> base.LearnerState:
    """Returns the start of all trials."""
    return self._call("init", self._init, self._trials, shared=(self._key,))

  def place(self, state: base.LearnerState) -> base.LearnerState:
    """Returns a state from the host on the devices."""
    return self._put(state)

  def advance(
    self, state: base.LearnerState, until_games: np.ndarray
  ) -> tuple[base.LearnerState, Reached]:
    """Trains each trial until it has at least its number of games.

    Args:
      state: donated.
      until_games: `[trials]` int32.
    """
    state, reached = self._call("advance", self._advance, state, self._put(until_games))
    return state, Reached(*map(np.array, reached))

  def test(
    self, state: base.LearnerState, number: int
  ) -> tuple[base.LearnerState, TestResult]:
    """Lets each trial's agent play the test's games, and asks for its metrics.

    Args:
      state: donated.
      number: of the test; games of another test are drawn anew.
    """
    shared = (self._key, self._put_everywhere(np.int32(number)), self._opponent)
    state, result = self._call("test", self._test, state, self._trials, shared=shared)
    return state, jax.tree.map(np.array, result)

  def parameters(self, state: base.LearnerState) -> chex.ArrayTree:
    """Returns what all trials learnt, on the host."""
    parameters = self._call("parameters", self._learner.parameters, state)
    return jax.tree.map(np.array, parameters)

  # One trial.

  def _init(self, trial: chex.Array, key: chex.PRNGKey) -> base.LearnerState:
    return self._learner.init(_trial_key(key, trial, TRAINING))

  def _advance(
    self, state: base.LearnerState, until_games: chex.Array
  ) -> tuple[base.LearnerState, Reached]:
    state = self._learner.advance(state, until_games)
    return state, Reached(self._learner.num_games(state), _is_finite(state))

  def _test(
    self,
    state: base.LearnerState,
    trial: chex.Array,
    key: chex.PRNGKey,
    number: chex.Array,
    opponent: players.Player,
  ) -> tuple[base.LearnerState, TestResult]:
    key = jax.random.fold_in(_trial_key(key, trial, TESTING), number)
    player = self._learner.player(state)
    score = arena.play_match(player, opponent, key, num_games=self._num_test_games)
    state, metrics = self._learner.report(state)
    taken = sorted(RESERVED & set(metrics))
    if taken:
      raise ValueError(f"the learner reports {', '.join(taken)}, which tests report")
    return state, TestResult(score, metrics)

  # All trials.

  def _call(
    self, name: str, one_trial_fn: Callable[..., Any], *batched: Any, shared: tuple = ()
  ) -> Any:
    """Calls a function of one trial for all of them, and waits for the result."""
    if name not in self._compiled:
      start = time.perf_counter()
      program = self._over_trials(one_trial_fn, len(batched), len(shared))
      donated = (0,) if name in ("advance", "test") else ()
      # Said, since jax would put what is constant elsewhere than what is computed.
      places = self._sharding or jax.sharding.SingleDeviceSharding(jax.devices()[0])
      jitted = jax.jit(program, donate_argnums=donated, out_shardings=places)
      self._compiled[name] = jitted.lower(*batched, *shared).compile()
      self.compile_seconds += time.perf_counter() - start
    return jax.block_until_ready(self._compiled[name](*batched, *shared))

  def _over_trials(
    self, one_trial_fn: Callable[..., Any], num_batched: int, num_shared: int
  ) -> Callable[..., Any]:
    axes = (0,) * num_batched + (None,) * num_shared
    program = jax.vmap(one_trial_fn, in_axes=axes)
    if self._sharding is None:
      return program
    own, everywhere = self._sharding.spec, jax.sharding.PartitionSpec()
    return jax.shard_map(
      program,
      mesh=self._sharding.mesh,
      in_specs=(own,) * num_batched + (everywhere,) * num_shared,
      out_specs=own,
      check_vma=False,  # It would ask learners to annotate their loops.
    )

  def _put(self, tree: Any) -> Any:
    return jax.device_put(tree, self._sharding or jax.devices()[0])

  def _put_everywhere(self, tree: Any) -> Any:
    if self._sharding is None:
      return jax.device_put(tree, jax.devices()[0])
    everywhere = jax.sharding.PartitionSpec()
    sharding = jax.sharding.NamedSharding(self._sharding.mesh, everywhere)
    return jax.device_put(tree, sharding)


def _trial_key(key: chex.PRNGKey, trial: chex.Array, stream: int) -> chex.PRNGKey:
  """Returns the key of one of a trial's streams of random numbers."""
  # Folding in, unlike splitting, gives a trial the same key however many there are.
  return jax.random.fold_in(jax.random.fold_in(key, trial), stream)


def _is_finite(state: base.LearnerState) -> jax.Array:
  """Returns whether every number of a trial is finite."""
  leaves = [
    jnp.isfinite(leaf).all()
    for leaf in jax.tree.leaves(state)
    if jnp.issubdtype(leaf.dtype, jnp.inexact)
  ]
  return functools.reduce(jnp.logical_and, leaves, jnp.bool_(True))
