"""A learner that learns nothing, quickly: the loop's machinery is tested with it."""

from collections.abc import Iterator, Sequence
import contextlib
import functools
import sys
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import pydantic
import rich.console
import yaml

import jaxgames
from jaxgames import players
from train import config as config_lib
from train.learners import base
from train.learners import registry as learner_registry
from train.run import loop

# How often `step` was traced, in this process.
traces = {"step": 0}


class Settings(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

  size: int = pydantic.Field(default=3, ge=1)
  rate: float = pydantic.Field(default=0.1, gt=0)
  # The game at which the trials whose first parameter is positive break.
  breaks_at: int | None = None
  # The game at which they have nothing left to learn.
  ends_at: int | None = None


class State(NamedTuple):
  parameters: dict[str, chex.Array]
  key: chex.PRNGKey
  opponent: chex.Array
  games: jaxgames.State
  num_games: chex.Array
  num_plies: chex.Array
  nothing: chex.Array


class ToyLearner:
  """Plays random games; each ply moves the parameters at random."""

  def __init__(self, task: base.Task, settings: Settings):
    self.settings = settings
    self.game = task.game
    self.num_lanes = task.parallel_games

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> State:
    key, key_vector = jax.random.split(key)
    vector = jax.random.normal(key_vector, (self.settings.size,))
    games = jax.tree.map(
      lambda leaf: jnp.broadcast_to(leaf, (self.num_lanes,)), self.game.init()
    )
    return State(
      parameters={"vector": vector, "bias": vector[0]},
      key=key,
      opponent=opponent,
      games=games,
      num_games=jnp.int32(0),
      num_plies=jnp.float32(0),
      nothing=jnp.zeros((0,)),
    )

  def step(self, state: State, is_active: chex.Array) -> State:
    traces["step"] += 1
    after = self._ply(state)
    return jax.tree.map(lambda new, old: jnp.where(is_active, new, old), after, state)

  def num_games(self, state: State) -> jax.Array:
    return state.num_games

  def is_done(self, state: State) -> jax.Array:
    ends_at = self.settings.ends_at
    if ends_at is None:
      return jnp.bool_(False)
    return (state.num_games >= ends_at) & (state.parameters["bias"] > 0)

  def report(self, state: State) -> tuple[State, dict[str, jax.Array]]:
    metrics = {
      "plies": state.num_plies,
      "opponent": state.opponent,
      "never": jnp.float32(jnp.nan),
    }
    return state._replace(num_plies=jnp.float32(0)), metrics

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return make_agent(self.game, self.settings, parameters)

  def parameters(self, state: State) -> chex.ArrayTree:
    return state.parameters

  def _ply(self, state: State) -> State:
    key, key_walk, key_act = jax.random.split(state.key, 3)
    act = functools.partial(players.Random(self.game).act, ())
    actions = jax.vmap(act)(state.games, jax.random.split(key_act, self.num_lanes))
    games = jax.vmap(self.game.step)(state.games, actions)
    num_games = state.num_games + games.is_over.sum(dtype=jnp.int32)
    fresh = self.game.init()
    games = jax.tree.map(
      lambda new, old: jnp.where(games.is_over, new, old), fresh, games
    )
    vector = state.parameters["vector"]
    step = self.settings.rate * jax.random.normal(key_walk, vector.shape)
    vector = vector + step
    if self.settings.breaks_at is not None:
      is_broken = (num_games >= self.settings.breaks_at) & (
        state.parameters["bias"] > 0
      )
      vector = jnp.where(is_broken, jnp.nan, vector)
    return state._replace(
      parameters={**state.parameters, "vector": vector},
      key=key,
      games=games,
      num_games=num_games,
      num_plies=state.num_plies + 1,
    )


def make_agent(
  game: jaxgames.LineGame, settings: Settings, parameters: chex.ArrayTree
) -> players.Player:
  del settings, parameters
  return players.Random(game)


KIND = learner_registry.Kind(
  settings=Settings,
  learner=f"{__name__}:ToyLearner",
  agent=f"{__name__}:make_agent",
  summary="nothing",
  parameters="parameters",
  takes_many_opponents=True,
)


@contextlib.contextmanager
def registered() -> Iterator[None]:
  learner_registry.KINDS["toy"] = KIND
  try:
    yield
  finally:
    del learner_registry.KINDS["toy"]


def make_config(**fields) -> config_lib.RunConfig:
  values = {
    "game": "tictactoe",
    "learner": {"kind": "toy"},
    "trials": 3,
    "games": 100,
    "parallel_games": 4,
    "test": {"every": 25, "games": 6, "against": "random"},
  }
  return config_lib.RunConfig(**{**values, **fields})


def main() -> None:
  """Starts or resumes a run in a process of its own: start|resume DIR [field=value]."""
  command, directory, *overrides = sys.argv[1:]
  console = rich.console.Console()
  with registered():
    if command == "start":
      config = make_config(**{k: yaml.safe_load(v) for k, v in _pairs(overrides)})
      outcome = loop.start(config, directory, console)
    else:
      outcome = loop.resume(directory, console)
  sys.exit(outcome.exit_code)


def _pairs(overrides: Sequence[str]) -> list[list[str]]:
  return [override.split("=", 1) for override in overrides]


if __name__ == "__main__":
  main()
