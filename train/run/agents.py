"""Trained agents as players, named by the directory of their run."""

from collections.abc import Callable, Sequence
import pathlib
import re

import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import players
from train import config as config_lib
from train.learners import registry as learner_registry
from train.run import checkpoint
from train.run import directory as run_directory
from train.run import programs

__all__ = ["is_agent", "load", "make", "make_some_fn", "opponent"]

# A directory, perhaps a trial, perhaps the checkpoint: DIR, DIR@3, DIR@3:best.
PATTERN = re.compile(r"(?P<directory>.+?)(@(?P<trial>[0-9]+))?(:(?P<which>best))?")

# Agents that come with the project, below `checkpoints/shipped`, and how they play.
SHIPPED = {
  "gomoku": "lookahead:player=({})",
  "ttt3d": "guided:player=({}),simulations=400",
}
# Who plays where there is none.
OTHERWISE = "mcts:simulations=1000"


def is_agent(spec: str) -> bool:
  """Returns whether a text names a run's directory, not a kind of player."""
  return _parse(spec)[0].config.exists()


def make(game: jaxgames.LineGame, spec: str) -> players.Player:
  """Returns a player by name, or a run's agent by its directory.

  In the options of a name, too, a directory may stand for a player.
  """
  return load(spec, game) if is_agent(spec) else players.make(game, spec, make)


def opponent(name: str) -> str:
  """Returns whom to meet in a game if nobody is named: the best that is at hand.

  Args:
    name: of the game, perhaps with a size.
  """
  kind = name.partition(":")[0]
  # Where one works, or else where this code lies.
  for root in (pathlib.Path(), pathlib.Path(__file__).parents[2]):
    directory = root / "checkpoints" / "shipped" / kind
    if kind in SHIPPED and is_agent(str(directory)):
      return SHIPPED[kind].format(directory)
  return OTHERWISE


def make_some_fn(
  specs: Sequence[str],
) -> Callable[[jaxgames.LineGame], list[players.Player]]:
  """Returns a function that makes some players for a game, from strong to weak.

  Args:
    specs: their names. One alone is followed by weaker players of its kind.

  Raises:
    ValueError: if a name is wrong whatever the size of the board.
  """
  usual = jaxgames.make("gomoku")
  # Runs may have been made for a board of another size.
  made = {spec: make(usual, spec) for spec in specs if not is_agent(spec)}

  def make_all(game: jaxgames.LineGame) -> list[players.Player]:
    found = [
      made[spec] if game == usual and spec in made else make(game, spec)
      for spec in specs
    ]
    return found if len(found) > 1 else [*found, *found[0].faster()]

  return make_all


def load(spec: str, game: jaxgames.LineGame) -> players.Player:
  """Returns the greedy agent of a trial.

  Args:
    spec: `DIR`, `DIR@TRIAL` or `DIR@TRIAL:best`; without a trial, trial 0; with `best`,
      the agent when the mean test score was highest, not the newest one.
    game: the game that it shall play.

  Raises:
    ValueError: if there is no such agent, or it plays another game.
  """
  files, trial, is_best = _parse(spec)
  if not files.path.is_dir():
    raise ValueError(f"no agent {spec!r}: there is no directory {files.path}")
  if not files.config.exists():
    raise ValueError(f"no agent {spec!r}: {files.path} has no config.yaml")
  config = config_lib.load(files.config)
  if trial >= config.num_trials:
    raise ValueError(
      f"no agent {spec!r}: trials are numbered from 0 to {config.num_trials - 1}"
    )
  learner = learner_registry.KINDS[config.learner.kind].make_fn(config)
  abstract_state = programs.Programs(learner, config).abstract_state()
  restored = checkpoint.restore(files.states, abstract_state, is_best=is_best)
  if restored is None:
    what = "tested" if is_best else "saved"
    raise ValueError(f"no agent {spec!r}: nothing was {what} yet")
  # As arrays of jax, so that an agent may also be part of a function to be compiled.
  state = jax.tree.map(lambda leaf: jnp.asarray(leaf[trial]), restored.state)
  agent = learner.player(state)
  try:
    return agent.on(game)
  except ValueError as error:
    raise ValueError(
      f"the agent {spec!r} plays {config.game}, not this game"
    ) from error


def _parse(spec: str) -> tuple[run_directory.RunDirectory, int, bool]:
  """Returns the directory, the trial, and whether its best agent is meant."""
  match = PATTERN.fullmatch(spec)
  # A directory whose own name looks like more than a name is still one.
  if match is None or pathlib.Path(spec).is_dir():
    return run_directory.RunDirectory(spec), 0, False
  files = run_directory.RunDirectory(match["directory"])
  return files, int(match["trial"] or 0), match["which"] is not None
