"""Arguments that several commands have, and how shells complete them."""

import pathlib
from typing import Annotated

import typer

from jaxgames import registry as game_registry
from jaxgames.players import registry as player_registry
from train.config import agent_names
from train.config import names

__all__ = [
  "ENGINE_HELP",
  "PLAYER_HELP",
  "ConfigArgument",
  "DevicesOption",
  "DifferentOption",
  "DirectoryArgument",
  "GameArgument",
  "JsonOption",
  "OverridesArgument",
  "SeedOption",
  "TensorboardOption",
  "as_path",
  "complete_configs",
  "complete_games",
  "complete_players",
]

PLAYER_HELP = (
  "a name with options, as mcts:simulations=200 (see `jaxgames games`); or a trained "
  "agent: a run's directory, as DIR or DIR@TRIAL, a file made by `jaxgames export`, or "
  "a bundled agent, as gomoku"
)

ENGINE_HELP = (
  "for gomoku, engine:COMMAND, a program that speaks Gomocup's protocol, or "
  "engine:bsdgames (on gomoku:size=19)"
)

# The greatest number of 32 bits: a greater one would be the same seed as another.
MOST_SEED = 2**32 - 1

# More would each have less than a core anywhere.
MOST_DEVICES = 1024


def as_path(text: str | pathlib.Path) -> pathlib.Path:
  """Returns the path that an argument gives; an empty one is not the directory here."""
  if not str(text).strip():
    raise typer.BadParameter("it is empty; the current directory is written as a dot")
  return pathlib.Path(text)


# Where nothing is returned, shells complete the names of files.


def complete_games(incomplete: str) -> list[str]:
  """Returns the games that begin so."""
  return [name for name in game_registry.BOARDS if name.startswith(incomplete)]


def complete_configs(incomplete: str) -> list[str]:
  """Returns the configs that begin so."""
  return [name for name in names.known() if name.startswith(incomplete)]


def complete_players(incomplete: str) -> list[str]:
  """Returns the players and the bundled agents that begin so."""
  known = [*player_registry.PLAYERS, *agent_names.BUNDLED]
  return [name for name in known if name.startswith(incomplete)]


GameArgument = Annotated[
  str,
  typer.Argument(
    metavar="GAME",
    help=f"One of {', '.join(game_registry.BOARDS)}; on another board, gomoku:size=19.",
    autocompletion=complete_games,
  ),
]
ConfigArgument = Annotated[
  str,
  typer.Argument(
    metavar="CONFIG",
    help="A name, as ttt3d/beyond (see `jaxgames games`), or a YAML file.",
    autocompletion=complete_configs,
  ),
]
OverridesArgument = Annotated[
  list[str] | None,
  typer.Argument(metavar="[KEY=VALUE]...", help="As test.every=1000 trials=2."),
]
DirectoryArgument = Annotated[
  pathlib.Path,
  typer.Argument(metavar="DIR", help="The directory of a run.", parser=as_path),
]
JsonOption = Annotated[
  bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
SeedOption = Annotated[
  int, typer.Option(help="Same seed, same games.", min=0, max=MOST_SEED)
]
DevicesOption = Annotated[
  int | None,
  typer.Option(
    help="Without an accelerator: how many cores share the trials. All by default, "
    "or as many as the run was begun with.",
    min=1,
    max=MOST_DEVICES,
  ),
]
DifferentOption = Annotated[
  bool,
  typer.Option(
    "--allow-different",
    help="Go on with another jax or other devices, where the same bits cannot be "
    "promised.",
  ),
]
TensorboardOption = Annotated[
  bool, typer.Option("--tensorboard", help="Write curves for TensorBoard too.")
]
