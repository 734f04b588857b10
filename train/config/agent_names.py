"""How trained agents are named: a run's directory, an agent's file, or a bundled one.

`DIR`, `DIR@TRIAL`, `DIR@TRIAL:best`, `FILE.safetensors`, or the game of an agent that
comes with the package; a directory of that name is written `./gomoku`. Free of jax.
"""

import pathlib
import re
from typing import NamedTuple

import jaxgames
from jaxgames.players import registry

__all__ = ["BUNDLED", "SUFFIX", "AgentName", "agents_in", "is_agent", "parse"]

SUFFIX = ".safetensors"

# The games that the package has an agent for, its file named after the game.
BUNDLED = ("gomoku", "ttt3d")

_PATTERN = re.compile(r"(?P<directory>.+?)(@(?P<trial>[0-9]{1,9}))?(:(?P<which>best))?")


class AgentName(NamedTuple):
  """An agent as it is named.

  Attributes:
    path: a run's directory, or an agent's file.
    trial: of the run.
    is_best: whether the agent with the best test score is meant, not the newest.
    is_bundled: whether it comes with the package.
  """

  path: pathlib.Path
  trial: int = 0
  is_best: bool = False
  is_bundled: bool = False

  @property
  def is_file(self) -> bool:
    return self.path.suffix == SUFFIX


def parse(spec: str) -> AgentName:
  """Returns the parts of an agent's name; whether there is one is not looked up."""
  if spec in BUNDLED:
    return AgentName(_folder() / f"{spec}{SUFFIX}", is_bundled=True)
  match = _PATTERN.fullmatch(spec)
  # A directory whose own name looks like more than a name is still one.
  if match is None or _exists(pathlib.Path(spec)):
    return AgentName(pathlib.Path(spec))
  is_best = match["which"] is not None
  return AgentName(pathlib.Path(match["directory"]), int(match["trial"] or 0), is_best)


def is_agent(spec: str) -> bool:
  """Returns whether a text names an agent, not a kind of player."""
  # The last option of a player may be an agent's file.
  is_player = spec.partition(":")[0] in registry.PLAYERS
  if is_player and not _exists(pathlib.Path(spec)):
    return False
  name = parse(spec)
  # No player has a slash in its name: this is a directory, of a run or of none.
  is_path = "/" in spec
  return name.is_file or is_path or _exists(name.path / "config.yaml")


def agents_in(spec: str) -> list[str]:
  """Returns the agents in a player's name, those in its options among them.

  Raises:
    ValueError: if a name or an option in it is unknown.
  """
  if is_agent(spec):
    return [spec]
  return [agent for inner in registry.players_in(spec) for agent in agents_in(inner)]


def _exists(path: pathlib.Path) -> bool:
  """Returns whether there is such a file; a name that no file can have is of none."""
  try:
    return path.exists()
  except OSError:
    return False


def _folder() -> pathlib.Path:
  return pathlib.Path(jaxgames.__file__).parent / "agents"
