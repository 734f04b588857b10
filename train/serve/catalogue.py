"""What a page may name: games, players, and the runs and agents below some directories.

A page never sends a path. Runs and agents' files have ids, made here from where they are
below the directories given; the same directories give the same ids, so that links live
longer than a server.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import functools
import hashlib
import json
import pathlib
import re
import threading
import time
from typing import Any

import safetensors

import jaxgames
from jaxgames import players
from jaxgames import registry as game_registry
from jaxgames import suggestions
from train.config import agent_names
from train.run import agents
from train.run import directory as run_directory
from train.serve import bounds

__all__ = ["Catalogue", "Found", "describe_games", "stays_inside"]

# Seconds for which a list of what is on the disk is not made anew.
FRESH_SECONDS = 2.0

_AGENT = re.compile(r"(?P<id>[\w.-]+)(@(?P<trial>[0-9]{1,6}))?(?P<best>:best)?")


@dataclasses.dataclass(frozen=True)
class Found:
  """A run or an agent's file.

  Attributes:
    id: what pages call it.
    label: what people call it: its place below the directory that was given.
    path: where it is.
    root: the directory that was given.
  """

  id: str
  label: str
  path: pathlib.Path
  root: pathlib.Path

  @property
  def is_file(self) -> bool:
    return self.path.suffix == agent_names.SUFFIX

  @property
  def game(self) -> str | None:
    """The game of an agent's file, if it says so."""
    return _game_of_file(self.path, self.written) if self.is_file else None

  @property
  def written(self) -> int:
    """When the agent was last written, in nanoseconds; 0 if there is none."""
    file = self.path if self.is_file else run_directory.RunDirectory(self.path).states
    try:
      return file.stat().st_mtime_ns
    except OSError:
      return 0


class Catalogue:
  """What is below some directories, looked for anew every few seconds."""

  def __init__(self, roots: Sequence[pathlib.Path]):
    """Names the directories; what is not below one of them does not exist.

    Raises:
      ValueError: if one of them is no directory.
    """
    for root in roots:
      if not root.is_dir():
        raise ValueError(f"there is no directory {root}")
    self._roots = [root.resolve() for root in roots]
    self._lock = threading.Lock()
    self._found: dict[str, Found] = {}
    self._looked = -FRESH_SECONDS

  @property
  def found(self) -> dict[str, Found]:
    """All runs and agents' files by id."""
    with self._lock:
      if time.monotonic() - self._looked > FRESH_SECONDS:
        self._found = {one.id: one for root in self._roots for one in _look(root)}
        self._looked = time.monotonic()
      return self._found

  @property
  def runs(self) -> dict[str, Found]:
    """The runs by id."""
    return {key: one for key, one in self.found.items() if not one.is_file}

  def find_run(self, run_id: str) -> Found:
    """Returns a run.

    Raises:
      KeyError: if there is none of that id.
    """
    return self.runs[run_id]

  def make_player(self, game: jaxgames.LineGame, spec: str) -> players.Player:
    """Returns a player that a page has named.

    Args:
      game: to be played.
      spec: as on the command line, except that agents go by their ids.

    Raises:
      ValueError: if there is no such player, it asks for too much, or it cannot play
        this game.
    """
    bounds.check_player(game, spec, self._is_agent)
    return self._make(game, spec)

  def stamp(self, spec: str) -> tuple[int, ...]:
    """Returns what differs if an agent in a player's name was trained on since."""
    return tuple(one.written for key, one in sorted(self.found.items()) if key in spec)

  def describe(self, spec: str) -> str:
    """Returns what to call a player on the screen."""
    found = self._find_agent(spec)
    return spec if found is None else spec.replace(found.id, found.label)

  def _make(self, game: jaxgames.LineGame, spec: str) -> players.Player:
    if spec in agent_names.BUNDLED:
      return agents.make(game, spec)
    found = self._find_agent(spec)
    if found is None:
      return players.make(game, spec, self._make)
    if not _is_whole(found):
      raise ValueError(f"the agent {found.id!r} lies outside the directories served")
    try:
      return agents.make(game, f"{found.path}{spec.removeprefix(found.id)}")
    except ValueError as error:
      # Pages have no use for the paths of this machine.
      raise ValueError(str(error).replace(str(found.path), found.id)) from error

  def _is_agent(self, spec: str) -> bool:
    """Returns whether a text is the name of an agent.

    Raises:
      ValueError: if it is neither an agent nor a kind of player.
    """
    if spec in agent_names.BUNDLED or self._find_agent(spec) is not None:
      return True
    name = spec.partition(":")[0]
    if name not in players.PLAYERS:
      known = [*players.PLAYERS, *agent_names.BUNDLED, *self.found]
      raise ValueError(f"no player {name!r}: {suggestions.close_match(name, known)}")
    return False

  def _find_agent(self, spec: str) -> Found | None:
    match = _AGENT.fullmatch(spec)
    if match is None or match["id"] in players.PLAYERS:
      return None
    found = self.found.get(match["id"])
    is_plain = match["trial"] is None and match["best"] is None
    return None if found is not None and found.is_file and not is_plain else found


def describe_games() -> list[dict[str, Any]]:
  """Returns the games in plain values."""
  return [
    {
      "name": name,
      "shape": list(board.shape),
      "length": board.length,
      "gravity": board.gravity,
      "sizes": list(board.sizes),
      "default": agents.default_opponent(name),
    }
    for name, board in game_registry.BOARDS.items()
  ]


def stays_inside(path: pathlib.Path, root: pathlib.Path) -> bool:
  """Returns whether a path, links followed, is below a directory."""
  return path.resolve().is_relative_to(root)


def _look(root: pathlib.Path) -> Iterator[Found]:
  """Yields the runs below a directory, then its agents' files, by path."""
  for files in _find_runs(root):
    used = (files.path, files.config, files.metrics, files.status, files.states)
    packed = files.metrics.with_name(f"{files.metrics.name}.gz")
    if all(stays_inside(path, root) for path in (*used, packed)):
      yield _name(files.path, root)
  for file in sorted(run_directory.paths_below(root)):
    is_agent = file.suffix == agent_names.SUFFIX and file.is_file()
    if is_agent and stays_inside(file, root):
      yield _name(file, root)


def _find_runs(root: pathlib.Path) -> Iterator[run_directory.RunDirectory]:
  """Yields the runs that can be read."""
  try:
    yield from run_directory.find_runs(root)
  except OSError:
    return


@functools.lru_cache(maxsize=256)
def _game_of_file(path: pathlib.Path, written: int) -> str | None:
  """Returns the game in an agent's file, without reading its weights."""
  del written  # Part of what is remembered.
  try:
    with safetensors.safe_open(path, framework="numpy") as file:
      return str(json.loads(file.metadata()["config"])["game"])
  except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError):
    return None


def _name(path: pathlib.Path, root: pathlib.Path) -> Found:
  place = path.relative_to(root).as_posix()
  label = root.name if place == "." else place
  digest = hashlib.sha256(f"{root.name}/{place}".encode()).hexdigest()[:6]
  slug = re.sub(r"[^\w.]+", "-", label.removesuffix(agent_names.SUFFIX))
  return Found(f"{slug[-40:].strip('-.')}-{digest}", label, path, root)


def _is_whole(found: Found) -> bool:
  """Returns whether all that an agent is read from is below the directory given."""
  states = run_directory.RunDirectory(found.path).states
  return all(
    stays_inside(path, found.root)
    for path in (found.path, *run_directory.paths_below(states))
  )
