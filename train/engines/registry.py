"""External engines by their names on the command line."""

import jaxgames
from train.engines import bsdgames
from train.engines import client
from train.match import host_player

__all__ = ["PREFIX", "is_engine", "make", "takes_openings"]

PREFIX = "engine:"

# The name of an engine with a protocol of its own.
BSDGAMES = "bsdgames"


def is_engine(spec: str) -> bool:
  """Returns whether a player's name is that of an external engine."""
  return spec.strip().startswith(PREFIX)


def takes_openings(spec: str) -> bool:
  """Returns whether a player can go on from any position."""
  return not is_engine(spec) or _command(spec) != BSDGAMES


def make(
  game: jaxgames.LineGame, spec: str, limits: client.Limits
) -> host_player.HostPlayer:
  """Starts an engine.

  Args:
    game: the game to play.
    spec: `engine:COMMAND` for a program that speaks the Gomocup protocol, or
      `engine:bsdgames`.
    limits: its time limits.

  Raises:
    ValueError: if the engine does not start or cannot play this game.
  """
  is_gomoku = len(game.shape) == 2 and game.shape[0] == game.shape[1]
  if not is_gomoku or game.length != 5 or game.gravity:
    raise ValueError("engines play Gomoku only: the game must be gomoku, of any size")
  command = _command(spec)
  if command == BSDGAMES:
    return bsdgames.BsdGomoku(game, limits)
  return client.GomocupEngine(game, command, limits)


def _command(spec: str) -> str:
  return spec.strip().removeprefix(PREFIX).strip()
