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


# A player, and when its agents were last trained on.
Key = tuple[Wanted, tuple[int, ...]]


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
    self._kept: collections.OrderedDict[Key, thinking.Mind] = collections.OrderedDict()
    self._coming: dict[tuple[Key, thinking.Kind], asyncio.Task[None]] = {}

  async def get(
    self, session: str, wanted: Wanted, kind: thinking.Kind
  ) -> thinking.Mind:
    """Returns a player that is ready for a kind of question.

    Raises:
      ValueError: if there is none, or it is too slow.
      queueing.FullError: if too many others are being compiled.
    """
    stamp = await asyncio.to_thread(self._catalogue.stamp, wanted.spec)
    key = (wanted, stamp)
    if not self._is_ready(key, kind):
      if (key, kind) not in self._coming:
        self._coming[key, kind] = asyncio.create_task(self._prepare(session, key, kind))
      # Others may wait for the same: it goes on if one of them leaves.
      await asyncio.shield(self._coming[key, kind])
    mind = self._kept[key]
    self._kept.move_to_end(key)
    seconds = mind.seconds.get(kind, 0.0)
    if seconds > bounds.THINK_SECONDS:
      raise ValueError(
        f"the player {wanted.spec!r} thinks for {seconds:.1f} s here, more than "
        f"{bounds.THINK_SECONDS:g} s"
      )
    return mind

  async def warm_up(self, wanted: Sequence[Wanted]) -> None:
    """Makes players ready one after the other."""
    self.progress.total = len(wanted)
    for one in wanted:
      self.progress.doing = f"{one.game}: {one.spec}"
      try:
        mind = await self.get("warm-up", one, "move")
        game = mind.player.game
        if graph.is_small(game):
          await self._queue.run("warm-up", functools.partial(solver.solve, game))
        else:
          await self.get("warm-up", one, "thoughts")
      except ValueError as error:
        self.progress.problems.append(str(error))
      self.progress.done += 1
    self.progress.doing = ""

  def close(self) -> None:
    self._queue.close()

  def _is_ready(self, key: Key, kind: thinking.Kind) -> bool:
    return key in self._kept and self._kept[key].is_ready(kind)

  async def _prepare(self, session: str, key: Key, kind: thinking.Kind) -> None:
    def prepare() -> None:
      (game_name, spec), _ = key
      if key not in self._kept:
        player = self._catalogue.make_player(jaxgames.make(game_name), spec)
        self._kept[key] = thinking.Mind(player)
      self._kept[key].prepare(kind)

    try:
      await self._queue.run(session, prepare)
    finally:
      del self._coming[key, kind]
    while len(self._kept) > self._most:
      self._kept.popitem(last=False)


def bundled() -> list[Wanted]:
  """Returns the players that are ready before a page says so: each game's default."""
  games = [game["name"] for game in catalogue_lib.describe_games()]
  solved = [name for name in games if graph.is_small(jaxgames.make(name))]
  return [
    *(Wanted(name, "expert") for name in solved),
    *(Wanted(name, name) for name in games if name in agent_names.BUNDLED),
    *(Wanted(name, agents.default_opponent(name)) for name in games),
  ]
