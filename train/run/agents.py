"""Trained agents as players: of a run's directory, an agent's file, or bundled."""

import dataclasses
import functools
import pathlib
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import players
from train import config as config_lib
from train.config import agent_names
from train.learners import registry as learner_registry
from train.run import agent_file
from train.run import checkpoint
from train.run import directory as run_directory

__all__ = ["Agent", "default_opponent", "load", "make"]

# The agents that come with the package, and how they play by default.
BUNDLED = {
  "gomoku": "lookahead:player=({})",
  "ttt3d": "guided:player=({}),simulations=400",
}
# The opponent where no agent is bundled.
OTHERWISE = "mcts:simulations=1000"


@dataclasses.dataclass(frozen=True)
class Agent:
  """What a trial has learned, ready to play.

  Attributes:
    name: what it was loaded by.
    player: the greedy player.
    parameters: what was learned, a tree of arrays.
    config: of its run.
    provenance: where it comes from: run, trial, games, score, versions.
  """

  name: str
  player: players.Player
  parameters: chex.ArrayTree
  config: config_lib.RunConfig
  provenance: dict[str, Any] = dataclasses.field(default_factory=dict)

  @property
  def game(self) -> jaxgames.LineGame:
    """The game that it was trained for."""
    return self.player.game

  def act(self, state: jaxgames.State, key: chex.PRNGKey) -> jax.Array:
    """Returns its move in a position, `[]` int32; the key is consumed."""
    return _act(self.player, state, key)

  def values(self, state: jaxgames.State) -> jax.Array:
    """Returns `[num_actions]` float32, what each action is worth to the player to move.

    What is not legal is -inf. The scale is the learner's own.
    """
    return _values(self.player, state)


@jax.jit
def _act(player: players.Player, state: jaxgames.State, key: chex.PRNGKey) -> jax.Array:
  key_begin, key_act = jax.random.split(key)
  return player.act(player.begin(key_begin, jnp.int32(0)), state, key_act)


@jax.jit
def _values(player: Any, state: jaxgames.State) -> jax.Array:
  return player.values(state)


def load(name: str | pathlib.Path) -> Agent:
  """Loads a trained agent.

  Args:
    name: a bundled agent (`ttt3d`, `gomoku`), an agent's file, or a run's directory,
      perhaps with a trial: `DIR`, `DIR@TRIAL` or `DIR@TRIAL:best`. Without a trial,
      trial 0; with `best`, the agent when the mean test score was highest, not the
      newest one.

  Raises:
    ValueError: if there is no such agent.
  """
  spec = str(name)
  if spec in BUNDLED and not pathlib.Path(spec).exists():
    spec = str(bundled_file(spec))
  parsed = agent_names.parse(spec)
  found = _read_file(parsed) if parsed.is_file else _read_run(parsed, spec)
  kind = learner_registry.KINDS[found.config.learner.kind]
  # As arrays of jax, so that an agent may also be part of a function to be compiled.
  parameters = jax.tree.map(jnp.asarray, found.parameters)
  game = jaxgames.make(found.config.game)
  player = kind.make_agent(game, found.config.learner.settings, parameters)
  return Agent(str(name), player, parameters, found.config, dict(found.provenance))


def make(game: jaxgames.LineGame, spec: str) -> players.Player:
  """Returns a player by name, or an agent by its directory or file.

  In the options of a name, too, an agent may stand for a player.

  Raises:
    ValueError: if there is no such player, or it cannot play this game.
  """
  if not agent_names.is_agent(spec):
    return players.make(game, spec, make)
  agent = load(spec)
  try:
    return agent.player.on(game)
  except ValueError as error:
    trained_for = agent.config.game
    raise ValueError(
      f"the agent {spec!r} plays {trained_for}, not this game"
    ) from error


def default_opponent(name: str) -> str:
  """Returns the opponent in a game if none is named: the best one at hand.

  Args:
    name: of the game, perhaps with a size.
  """
  kind = name.partition(":")[0]
  return BUNDLED[kind].format(bundled_file(kind)) if kind in BUNDLED else OTHERWISE


def bundled_file(name: str) -> pathlib.Path:
  """Returns where the file of a bundled agent is."""
  directory = pathlib.Path(jaxgames.__file__).parent / "agents"
  return directory / f"{name}{agent_names.SUFFIX}"


@dataclasses.dataclass(frozen=True)
class _Found:
  """What a file or a run holds of an agent."""

  parameters: Any
  config: config_lib.RunConfig
  provenance: dict[str, Any]


def _read_file(name: agent_names.AgentName) -> _Found:
  contents = agent_file.read(name.path)
  config = config_lib.from_saved(contents.config, str(name.path))
  return _Found(contents.parameters, config, contents.provenance)


def _read_run(name: agent_names.AgentName, spec: str) -> _Found:
  files = run_directory.RunDirectory(name.path)
  if not files.path.is_dir():
    raise ValueError(f"no agent {spec!r}: there is no directory {files.path}")
  if not files.config.exists():
    raise ValueError(f"no agent {spec!r}: {files.path} has no config.yaml")
  config = config_lib.load_saved(files.config)
  if name.trial >= config.num_trials:
    raise ValueError(
      f"no agent {spec!r}: trials are numbered from 0 to {config.num_trials - 1}"
    )
  kind = learner_registry.KINDS[config.learner.kind]
  restored = checkpoint.restore_part(
    files.states, kind.parameters, renamed=kind.renamed, is_best=name.is_best
  )
  if restored is None:
    what = "tested" if name.is_best else "saved"
    raise ValueError(f"no agent {spec!r}: nothing was {what} yet")
  take_trial = functools.partial(_take, trial=name.trial)
  return _Found(
    parameters=jax.tree.map(take_trial, restored.state),
    config=config,
    provenance=_provenance(files, name.trial, restored),
  )


def _take(leaf: np.ndarray, trial: int) -> np.ndarray:
  return np.ascontiguousarray(leaf[trial])


def _provenance(
  files: run_directory.RunDirectory, trial: int, restored: checkpoint.Restored
) -> dict[str, Any]:
  status = files.read_status()
  saved = restored.progress.get("progress") or restored.progress.get("tally") or {}
  games = saved.get("games") or []
  return {
    "run": files.name,
    "trial": trial,
    "games": games[trial] if trial < len(games) else None,
    "mean_score": saved.get("score"),
    "versions": status.get("versions", {}),
    "machine": status.get("machine", {}),
  }
