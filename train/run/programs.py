"""A learner's methods as compiled programs over all trials and devices."""

from collections.abc import Callable, Hashable
import functools
import time
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import arena
from jaxgames import players
from jaxgames import randomness
from train import config as config_lib
from train.learners import base
from train.learners import registry as learner_registry
from train.run import agents
from train.run import compiling
from train.run import devices
from train.run import exact
from train.run import identity
from train.run import memory

__all__ = ["Programs", "Reached", "TestResult", "make_learner", "prepare", "spread"]

# Names of the independent streams of random numbers of a trial.
TRAINING, TESTING = 0, 1

# The `[places]` int32 arguments of programs: numbers of trials, opponents or games.
NUM_NUMBERS = {"init": 2, "advance": 1, "test": 1, "parameters": 0}

# What every line of metrics.jsonl has.
RESERVED = {"test", "trial", "games", "wins", "draws", "losses", "score"}


class Reached(NamedTuple):
  """How far trials are, on the host.

  Attributes:
    games: `[trials]` int32, finished games.
    is_done: `[trials]` bool, whether a trial has nothing left to learn.
    is_finite: `[trials]` bool, whether all of a trial's numbers are.
  """

  games: chex.Array
  is_done: chex.Array
  is_finite: chex.Array


class TestResult(NamedTuple):
  """What a test of trials gave, on the host.

  Attributes:
    score: `[trials, 2]` results by side.
    metrics: `[trials]` each.
  """

  score: arena.Score
  metrics: base.Metrics


def make_learner(config: config_lib.RunConfig) -> base.Learner:
  """Returns the learner of a run.

  Raises:
    ValueError: if it cannot learn what the config asks for.
  """
  task = base.Task(
    game=jaxgames.make(config.game),
    opponents=config.opponents,
    num_games=config.games,
    parallel_games=config.parallel_games,
    make_player_fn=agents.make,
  )
  kind = learner_registry.KINDS[config.learner.kind]
  return kind.make_learner(task, config.learner.settings)


def prepare(config: config_lib.RunConfig) -> None:
  """Compiles the programs of a run that is to come, after those begun before.

  What is wrong with them is raised when that run needs them.
  """

  def begin() -> None:
    programs = Programs(config)
    programs.begin()
    programs.begin_test(programs.num_places)

  compiling.in_background(begin)


def spread(trials: np.ndarray, num_places: int) -> np.ndarray:
  """Returns the trial in each place; those to spare hold the first trials again.

  >>> spread(np.array([0, 2, 5]), 4)
  array([0, 2, 5, 0], dtype=int32)
  """
  return np.resize(trials, num_places).astype(np.int32)


class Programs:
  """The programs of a run, compiled ahead or when they are first needed.

  They take the states of all trials or of some, and are compiled for each number of
  places. Trials do not know of each other: where several devices share them, each
  computes its part without communication, and has as many places as each other one.
  Places to spare hold trials again; see `Trials`.

  Runs of one process share what they have in common; see `compiling`.

  Attributes:
    num_trials: how many there are.
    num_devices: how many devices share them.
    num_places: the places of all trials, each trial's own first, then those to spare.
    compile_seconds: how long programs were waited for so far.
  """

  def __init__(self, config: config_lib.RunConfig, *, num_devices: int | None = None):
    """Prepares programs; nothing of a trial is compiled yet.

    Args:
      config: of the run.
      num_devices: that share the trials; if not given, as many as make it quicker.

    Raises:
      ValueError: if there is no learner for what the config asks for.
    """
    self._learner = make_learner(config)
    self._config = config
    # Given to programs, not built in: another seed needs no other program.
    game = jaxgames.make(config.game)
    self._key = randomness.key(config.seed)
    self._opponents = {
      name: agents.make(game, spec)
      for name, spec in {"": config.test.against, **config.test.also_against}.items()
    }
    memory.check_run(config, self._learner, self._opponents.values())
    self._examiner = None
    if config.test.exact:
      self._examiner = exact.Examiner(game, config.test.exact, config.test.starts)
    self.num_trials = config.num_trials
    self.num_devices = num_devices or devices.num_devices_for(config.num_trials)
    self.num_places = -(-self.num_trials // self.num_devices) * self.num_devices
    self._sharding = devices.trial_sharding(self.num_devices)
    self._identities = (
      identity.of_learner(config, self.num_devices),
      identity.of_test(config),
    )
    self._jitted = {
      "init": self._jit("init", self._init),
      "advance": self._jit("advance", self._advance),
      "test": self._jit("test", self._test),
      "parameters": self._jit("parameters", self._parameters),
    }
    self.compile_seconds = 0.0
    self._called: set[tuple[str, int]] = set()

  def begin(self, *, is_new: bool = True) -> None:
    """Begins to compile what all trials need for their next game.

    Args:
      is_new: whether they are at their start.
    """
    # What takes longest to compile comes first.
    for name in ("advance", *(["init"] if is_new else []), "parameters"):
      self._begin(name, self.num_places)

  def begin_test(self, num_places: int) -> None:
    """Begins to compile the test of the trials in some places."""
    self._begin("test", num_places)

  def abstract_state(self) -> base.LearnerState:
    """Returns the shapes and dtypes of the state of all trials."""
    return self._abstract_state(self.num_trials)

  def init(self) -> base.LearnerState:
    """Returns the start of all trials, in their places."""
    trials = spread(np.arange(self.num_trials), self.num_places)
    return self._call("init", trials, trials // np.int32(self._config.trials))

  def place(self, state: base.LearnerState) -> base.LearnerState:
    """Returns a state of all trials from the host on the devices, in their places."""
    if self.num_places > self.num_trials:
      trials = spread(np.arange(self.num_trials), self.num_places)
      state = jax.tree.map(lambda leaf: leaf[trials], state)
    return jax.device_put(state, self._sharding)

  def take(self, state: base.LearnerState, rows: np.ndarray) -> base.LearnerState:
    """Returns the states in some places."""
    return _take(self._sharding)(state, rows)

  def put(
    self, state: base.LearnerState, rows: np.ndarray, part: base.LearnerState
  ) -> base.LearnerState:
    """Returns a state, which is donated, with some trials' states replaced.

    Args:
      state: of many trials.
      rows: `[some]` int, their places.
      part: of at least as many trials; those that are too many are left out.
    """
    return _put(self._sharding)(state, part, rows)

  def advance(
    self, state: base.LearnerState, until_games: np.ndarray
  ) -> tuple[base.LearnerState, Reached]:
    """Trains each trial until it has a number of games, or is done.

    How often this is called on the way makes no difference to the bits of the result.

    Args:
      state: donated.
      until_games: `[trials]` int32; a trial that has as many is left as it is.
    """
    # The test comes next. To trace it now would keep the first games waiting, unless
    # they wait for XLA.
    begin_test = functools.partial(self.begin_test, len(until_games))
    state, reached = self._call("advance", state, until_games, meanwhile_fn=begin_test)
    begin_test()
    return state, Reached(*map(np.array, reached))

  def test(
    self, state: base.LearnerState, trials: np.ndarray, number: int
  ) -> tuple[base.LearnerState, TestResult]:
    """Plays the test's games with each trial's agent, and collects metrics.

    Args:
      state: donated.
      trials: `[trials]` int32, the numbers of the trials.
      number: of the test; games of another test are drawn anew.
    """
    state, result = self._call("test", state, trials, number=number)
    return state, jax.tree.map(np.array, result)

  def parameters(self, state: base.LearnerState) -> chex.ArrayTree:
    """Returns what all trials learned, `[trials]` on the host.

    Args:
      state: of all trials, in their places.
    """
    parameters = self._call("parameters", state)
    return jax.tree.map(lambda leaf: np.array(leaf)[: self.num_trials], parameters)

  def training_text(self) -> str:
    """Returns the compiled program that trains; empty if it cannot be read."""
    compiled = compiling.wait(*self._recipe("advance", self.num_places))
    return compiled.as_text() or ""

  # Many trials.

  def _init(
    self, trials: chex.Array, opponents: chex.Array, key: chex.PRNGKey
  ) -> base.LearnerState:
    def init(trial: chex.Array, opponent: chex.Array) -> base.LearnerState:
      return self._learner.init(_trial_key(key, trial, TRAINING), opponent)

    return jax.vmap(init)(trials, opponents)

  def _advance(
    self, state: base.LearnerState, until_games: chex.Array
  ) -> tuple[base.LearnerState, Reached]:
    learner = self._learner

    def is_active(state: base.LearnerState) -> jax.Array:
      is_early = jax.vmap(learner.num_games)(state) < until_games
      return is_early & ~jax.vmap(learner.is_done)(state)

    state = jax.lax.while_loop(
      lambda state: is_active(state).any(),
      lambda state: jax.vmap(learner.step)(state, is_active(state)),
      state,
    )
    found = (learner.num_games, learner.is_done, _is_finite)
    return state, Reached(*(jax.vmap(function)(state) for function in found))

  def _test(
    self,
    state: base.LearnerState,
    trials: chex.Array,
    key: chex.PRNGKey,
    number: chex.Array,
    opponents: dict[str, players.Player],
  ) -> tuple[base.LearnerState, TestResult]:
    learner, settings = self._learner, self._config.test

    def match(state: base.LearnerState, trial: chex.Array, name: str) -> arena.Score:
      key_match = jax.random.fold_in(_trial_key(key, trial, TESTING), number)
      if name:
        key_match = jax.random.fold_in(key_match, list(opponents).index(name))
      return arena.play_match(
        learner.agent(learner.parameters(state)),
        opponents[name],
        key_match,
        num_games=settings.games,
        starts=settings.starts,
      )

    scores = {
      name: jax.vmap(functools.partial(match, name=name))(state, trials)
      for name in opponents
    }
    score = scores.pop("")
    test_metrics = {**_shares(scores, settings.games), **self._examine(state)}
    state, metrics = jax.vmap(learner.report)(state)
    taken = sorted((RESERVED | set(test_metrics)) & set(metrics))
    if taken:
      raise ValueError(f"the learner reports {', '.join(taken)}, which tests report")
    return state, TestResult(score, {**metrics, **test_metrics})

  def _parameters(self, state: base.LearnerState) -> chex.ArrayTree:
    return jax.vmap(self._learner.parameters)(state)

  def _examine(self, state: base.LearnerState) -> base.Metrics:
    """Returns the exact results of all trials' agents, if the config wants them."""
    if self._examiner is None:
      return {}
    return self._examiner(self._parameters(state), self._learner.agent)

  # Compiling.

  def _call(
    self,
    name: str,
    *batched: Any,
    number: int = 0,
    meanwhile_fn: Callable[[], object] | None = None,
  ) -> Any:
    """Calls a program, and waits for the result.

    Args:
      name: of the program.
      *batched: trees with a row for each place.
      number: of the test.
      meanwhile_fn: see `compiling.wait`.
    """
    start = time.perf_counter()
    width = len(jax.tree.leaves(batched)[0])
    compiled = compiling.wait(*self._recipe(name, width), meanwhile_fn)
    self.compile_seconds += time.perf_counter() - start
    if (name, width) not in self._called:
      memory.check_program(compiled)
      self._called.add((name, width))
    batched = jax.device_put(batched, self._sharding)
    shared = jax.device_put(self._shared(name, number), _everywhere(self._sharding))
    return jax.block_until_ready(compiled(*batched, *shared))

  def _begin(self, name: str, width: int) -> None:
    compiling.begin(*self._recipe(name, width))

  def _recipe(
    self, name: str, width: int
  ) -> tuple[Hashable, Callable[[], jax.stages.Lowered]]:
    """Returns what a program depends on, and the function that traces it."""
    identities = self._identities if name == "test" else self._identities[:1]
    key = (name, width, self._sharding, *identities)
    return key, functools.partial(self._lower, name, width)

  def _lower(self, name: str, width: int) -> jax.stages.Lowered:
    """Traces a program for a number of places."""
    return self._jitted[name].lower(*self._arguments(name, width))

  def _jit(self, name: str, function: Callable[..., Any]) -> Any:
    num_batched, num_shared = _num_batched(name), len(self._shared(name))
    program = _over_devices(function, self._sharding, num_batched, num_shared)
    donated = (0,) if name in ("advance", "test") else ()
    # Said, since jax would put what is constant elsewhere than what is computed.
    return jax.jit(program, donate_argnums=donated, out_shardings=self._sharding)

  def _arguments(self, name: str, width: int) -> tuple:
    """Returns the shapes, dtypes and shardings of a program's arguments."""
    numbers = jax.ShapeDtypeStruct((width,), np.int32)
    batched: tuple = (numbers,) * NUM_NUMBERS[name]
    if name != "init":
      batched = (self._abstract_state(width), *batched)
    return (
      *_on_devices(batched, self._sharding),
      *_on_devices(self._shared(name), _everywhere(self._sharding)),
    )

  def _shared(self, name: str, number: int = 0) -> tuple:
    """Returns the arguments of a program that are the same for all trials."""
    if name == "init":
      return (self._key,)
    return (self._key, np.int32(number), self._opponents) if name == "test" else ()

  def _abstract_state(self, width: int) -> base.LearnerState:
    """Returns the shapes and dtypes of the state of some trials."""
    # Traced here, it is not traced again when it is compiled.
    arguments = self._arguments("init", self.num_places)
    return jax.tree.map(
      lambda leaf: jax.ShapeDtypeStruct((width, *leaf.shape[1:]), leaf.dtype),
      self._jitted["init"].eval_shape(*arguments),
    )


def _num_batched(name: str) -> int:
  """Returns how many arguments of a program have a row for each place."""
  return NUM_NUMBERS[name] + (name != "init")  # The start of trials needs no state.


@functools.lru_cache
def _take(sharding: jax.sharding.Sharding) -> Callable[..., base.LearnerState]:
  """Returns the function that takes rows of a state, which is compiled when called."""

  def take(state: base.LearnerState, rows: chex.Array) -> base.LearnerState:
    return jax.tree.map(lambda leaf: leaf[rows], state)

  return jax.jit(take, out_shardings=sharding)


@functools.lru_cache
def _put(sharding: jax.sharding.Sharding) -> Callable[..., base.LearnerState]:
  """Returns the function that replaces rows of a state."""

  def put(state: Any, part: Any, rows: chex.Array) -> Any:
    return jax.tree.map(
      lambda old, new: old.at[rows].set(new[: len(rows)]), state, part
    )

  return jax.jit(put, donate_argnums=0, out_shardings=sharding)


def _on_devices(arguments: Any, sharding: jax.sharding.Sharding) -> Any:
  """Returns the shapes, dtypes and sharding of arguments."""
  return jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(
      np.shape(leaf), jax.typeof(leaf).dtype, sharding=sharding
    ),
    arguments,
  )


def _everywhere(sharding: jax.sharding.Sharding) -> jax.sharding.Sharding:
  """Returns the sharding of what is the same for all trials."""
  if not isinstance(sharding, jax.sharding.NamedSharding):
    return sharding
  return jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec())


def _over_devices(
  function: Callable[..., Any],
  sharding: jax.sharding.Sharding,
  num_batched: int,
  num_shared: int,
) -> Callable[..., Any]:
  """Returns a function whose batched arguments are shared out among devices."""
  if not isinstance(sharding, jax.sharding.NamedSharding):
    return function
  own, everywhere = sharding.spec, jax.sharding.PartitionSpec()
  return jax.shard_map(
    function,
    mesh=sharding.mesh,
    in_specs=(own,) * num_batched + (everywhere,) * num_shared,
    out_specs=own,
    check_vma=False,  # It would ask learners to annotate their loops.
  )


def _trial_key(key: chex.PRNGKey, trial: chex.Array, stream: int) -> chex.PRNGKey:
  """Returns the key of one of a trial's streams of random numbers."""
  # Folding in, unlike splitting, gives a trial the same key however many there are.
  return jax.random.fold_in(jax.random.fold_in(key, trial), stream)


def _shares(scores: dict[str, arena.Score], num_games: int) -> base.Metrics:
  """Returns the shares of games won, drawn and lost, by the opponents' names."""
  return {
    f"{name}_{end}": getattr(score, end).sum(axis=-1) / num_games
    for name, score in scores.items()
    for end in ("wins", "draws", "losses")
  }


def _is_finite(state: base.LearnerState) -> jax.Array:
  """Returns whether every number of a trial is finite."""
  leaves = [
    jnp.isfinite(leaf).all()
    for leaf in jax.tree.leaves(state)
    if jnp.issubdtype(leaf.dtype, jnp.inexact)
  ]
  return functools.reduce(jnp.logical_and, leaves, jnp.bool_(True))
