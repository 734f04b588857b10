"""The players that are ready, and those that are being made so."""

import asyncio
import collections
from collections.abc import Sequence
import dataclasses
import functools
from typing import Any, NamedTuple

import jaxgames
from jaxgames.exact import graph
from jaxgames.exact import solver
from train.config import agent_names
from train.run import agents
from train.serve import bounds
from train.serve import catalogue as catalogue_lib
from train.serve import queueing
from train.serve import thinking

__all__ = ["Minds", "Progress", "Wanted", "bundled"]


class Wanted(NamedTuple):
  """A player on a board.

  Attributes:
    game: the game's name, perhaps with a size.
    spec: the player, as pages name it.
  """

  game: str
  spec: str


@dataclasses.dataclass
class Progress:
  """How far the players are that are made ready at the start.

  Attributes:
    total: how many there are.
    done: how many are ready.
    doing: the one that is being compiled.
    problems: what went wrong.
  """

  total: int = 0
  done: int = 0
  doing: str = ""
  problems: list[str] = dataclasses.field(default_factory=list)

  def as_json(self) -> dict[str, Any]:
    """Returns plain values."""
    return {**dataclasses.asdict(self), "is_ready": self.done == self.total}


class Minds:
  """Compiled players: a few are kept, and each is compiled once at a time."""

  def __init__(self, catalogue: catalogue_lib.Catalogue, most: int = 32):
    """Makes an empty pool.

    Args:
      catalogue: knows what may be named.
      most: how many are kept, those used last.
    """
    self.progress = Progress()
    self._catalogue, self._most = catalogue, most
    self._queue = queueing.FairQueue("compiling", most_each=4, most_in_all=64)
    self._kept: collections.OrderedDict[Any, thinking.Mind] = collections.OrderedDict()
    self._coming: dict[Any, asyncio.Task[thinking.Mind]] = {}

  async def get(self, session: str, wanted: Wanted) -> thinking.Mind:
    """Returns a player, compiled if that is not yet done.

    Raises:
      ValueError: if there is none, or it is too slow.
      queueing.FullError: if too many others are being compiled.
    """
    key = (wanted, self._catalogue.stamp(wanted.spec))
    if key not in self._kept and key not in self._coming:
      self._coming[key] = asyncio.create_task(self._make(session, key))
    if key in self._coming:
      # Others may wait for the same: it goes on if one of them leaves.
      await asyncio.shield(self._coming[key])
    mind = self._kept[key]
    self._kept.move_to_end(key)
    if mind.seconds > bounds.THINK_SECONDS:
      raise ValueError(
        f"the player {wanted.spec!r} takes {mind.seconds:.1f} s for a move here, more "
        f"than {bounds.THINK_SECONDS:g} s"
      )
    return mind

  async def prepare_thoughts(self, session: str, mind: thinking.Mind) -> None:
    """Compiles what a player thinks of moves."""
    if not mind.is_prepared:
      await self._queue.run(session, mind.prepare_thoughts)

  async def warm_up(self, wanted: Sequence[Wanted]) -> None:
    """Makes players ready one after the other."""
    self.progress.total = len(wanted)
    for one in wanted:
      self.progress.doing = f"{one.game}: {one.spec}"
      try:
        mind = await self.get("warm-up", one)
        game = mind.player.game
        if graph.is_small(game):
          await self._queue.run("warm-up", functools.partial(solver.solve, game))
        elif mind.has_values:
          await self.prepare_thoughts("warm-up", mind)
      except ValueError as error:
        self.progress.problems.append(str(error))
      self.progress.done += 1
    self.progress.doing = ""

  def close(self) -> None:
    self._queue.close()

  async def _make(self, session: str, key: tuple[Wanted, Any]) -> thinking.Mind:
    (game_name, spec), _ = key

    def make() -> thinking.Mind:
      player = self._catalogue.make_player(jaxgames.make(game_name), spec)
      return thinking.Mind(player)

    try:
      self._kept[key] = await self._queue.run(session, make)
    finally:
      del self._coming[key]
    while len(self._kept) > self._most:
      self._kept.popitem(last=False)
    return self._kept[key]


def bundled() -> list[Wanted]:
  """Returns the players that are ready before a page says so: each game's default."""
  games = [game["name"] for game in catalogue_lib.describe_games()]
  solved = [name for name in games if graph.is_small(jaxgames.make(name))]
  return [
    *(Wanted(name, "expert") for name in solved),
    *(Wanted(name, name) for name in games if name in agent_names.BUNDLED),
    *(Wanted(name, agents.default_opponent(name)) for name in games),
  ]
