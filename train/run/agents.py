"""Trained agents as players: of a run's directory, an agent's file, or bundled."""

import dataclasses
import functools
import os
import pathlib
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import markup
from jaxgames import players
from jaxgames.players import registry as player_registry
from train import config as config_lib
from train.config import agent_names
from train.learners import registry as learner_registry
from train.run import agent_file
from train.run import checkpoint
from train.run import directory as run_directory
from train.run import progress as progress_lib
from train.run import provenance as provenance_lib
from train.run import record as record_lib

__all__ = [
  "Agent",
  "bundled_file",
  "default_opponent",
  "describe",
  "identities",
  "load",
  "make",
  "provenance",
]

# How bundled agents play where no player is named, by the name of the game.
DEFAULTS = {
  "gomoku": "lookahead:player=gomoku",
  "ttt3d": "guided:player=ttt3d,simulations=400",
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

    What is not legal is -inf, and what the agent does not consider: in Gomoku, cells
    far from all stones. The scale is the learner's own.
    """
    return _values(self.player, state)

  def _repr_html_(self) -> str:
    """Returns what notebooks show: what it plays and where it comes from."""
    known = ("run", "trial", "games", "mean_score", "date")
    facts = {name.replace("_", " "): self.provenance.get(name) for name in known}
    kind = self.config.learner.kind
    facts = {"plays": self.config.game, "learned by": kind, **facts}
    return markup.card(f"agent {self.name}", facts)


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
  found = _find(str(name))
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
  return DEFAULTS.get(name.partition(":")[0], OTHERWISE)


def bundled_file(name: str) -> pathlib.Path:
  """Returns where the file of a bundled agent is."""
  return agent_names.parse(name).path


def describe(spec: str) -> str:
  """Returns what to call a player on the screen; an agent, by where it comes from.

  "gomoku agent (bundled, 100,000 games, lookahead)" is one that looks ahead. What is no
  agent, or more than one, is called as it is written.

  Raises:
    ValueError: if there is no such player.
  """
  if agent_names.is_agent(spec):
    return _describe_agent(spec, ())
  wrappers, inner = _unwrap(spec)
  return _describe_agent(inner, wrappers) if inner is not None else spec


def provenance(spec: str) -> list[dict[str, Any]]:
  """Returns where each agent in a player's name comes from; of other players nothing.

  Raises:
    ValueError: if there is no such player.
  """
  return [
    {"agent": name, "game": found.config.game, **found.provenance}
    for name in agent_names.agents_in(spec)
    for found in [_find(name)]
  ]


def identities(spec: str) -> list[Any]:
  """Returns what makes each agent in a player's name play as it does, in plain values.

  Raises:
    ValueError: if there is no such player.
  """
  return [
    [provenance_lib.fingerprint(found.parameters), config_lib.to_mapping(found.config)]
    for name in agent_names.agents_in(spec)
    for found in [_find(name)]
  ]


def _unwrap(spec: str) -> tuple[tuple[str, ...], str | None]:
  """Returns the players around the only agent in a name, the inmost first, and it."""
  inner = player_registry.players_in(spec)
  if len(inner) != 1:
    return (), None
  name, options = player_registry.parse(spec)
  # Apart from the player, which is named.
  others = [f"{key}={value}" for key, value in options.items() if key != "player"]
  wrapper = f"{name}:{','.join(others)}" if others else name
  if agent_names.is_agent(inner[0]):
    return (wrapper,), inner[0]
  wrappers, agent = _unwrap(inner[0])
  return (*wrappers, wrapper), agent


def _describe_agent(spec: str, wrappers: tuple[str, ...]) -> str:
  found, name = _find(spec), agent_names.parse(spec)
  facts = []
  if name.is_bundled:
    title = f"{spec} agent"
    facts.append("bundled")
  else:
    title = f"{found.config.game} agent {name.path}"
    facts.append(f"trial {found.provenance.get('trial', name.trial)}")
    if name.is_best:
      facts.append("best")
  games = found.provenance.get("games")
  if games is not None:
    facts.append(f"{games:,} games")
  return f"{title} ({', '.join([*facts, *wrappers])})"


@dataclasses.dataclass(frozen=True)
class _Found:
  """What a file or a run holds of an agent."""

  parameters: Any
  config: config_lib.RunConfig
  provenance: dict[str, Any]


def _find(spec: str) -> _Found:
  """Reads an agent, or returns it as it was read if nothing was written since."""
  name = agent_names.parse(spec)
  if name.is_file:
    return _read_file(name.path, _stamp(name.path))
  states = run_directory.RunDirectory(name.path).states
  return _read_run(name, spec, _stamp(states))


def _stamp(path: pathlib.Path) -> tuple[Any, ...]:
  """Returns what differs if a file, or the list of files in a directory, has changed.

  The working directory, too, decides which file a path means.
  """
  try:
    about = path.stat()
  except OSError:
    return (pathlib.Path.cwd(),)
  return (pathlib.Path.cwd(), about.st_mtime_ns, about.st_ino, about.st_size)


# A player is made, and named, from one reading. Few are kept: tables are large.
@functools.lru_cache(maxsize=2)
def _read_file(path: pathlib.Path, stamp: tuple[Any, ...]) -> _Found:
  del stamp  # Part of what is remembered.
  contents = agent_file.read(path)
  config = config_lib.from_saved(contents.config, str(path))
  return _Found(contents.parameters, config, contents.provenance)


@functools.lru_cache(maxsize=2)
def _read_run(name: agent_names.AgentName, spec: str, stamp: tuple[Any, ...]) -> _Found:
  del stamp
  files = run_directory.RunDirectory(name.path)
  if not os.path.isdir(
    files.path
  ):  # Which takes any name, as a path's method does not.
    raise ValueError(f"no agent {spec!r}: there is no directory {files.path}")
  if not (files.config.exists() or record_lib.numbers(files.states)):
    raise ValueError(f"no agent {spec!r}: {files.path} has no config.yaml")
  config = _read_config(files)
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
  parameters = jax.tree.map(take_trial, restored.state)
  facts = _provenance(files, name.trial, restored)
  facts["fingerprint"] = provenance_lib.fingerprint(parameters)
  return _Found(parameters, config, facts)


def _read_config(files: run_directory.RunDirectory) -> config_lib.RunConfig:
  """Returns the config that a run was trained with, whatever its file says now."""
  record = record_lib.find_newest(files.states)
  if record is None:
    return config_lib.load_saved(files.config)
  return config_lib.from_saved(record.values["config"], str(files.config))


def _take(leaf: np.ndarray, trial: int) -> np.ndarray:
  return np.ascontiguousarray(leaf[trial])


def _provenance(
  files: run_directory.RunDirectory, trial: int, restored: checkpoint.Restored
) -> dict[str, Any]:
  status = files.read_status()
  progress = progress_lib.Progress.from_saved(restored.progress)
  return {
    "run": files.name,
    "trial": trial,
    "games": progress.games[trial],
    "mean_score": progress.score,
    "versions": status.get("versions", {}),
    "machine": status.get("machine", {}),
    "date": checkpoint.read_date(files.states, restored.number),
  }
