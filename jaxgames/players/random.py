"""The player that plays any legal move."""

from flax import struct

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["Random", "make"]


@struct.dataclass
class Random(base.Chooser):
  """Plays every legal move with the same probability."""

  game: game_lib.LineGame = struct.field(pytree_node=False)

  def choices(self, state: game_lib.State) -> bits.Words:
    return self.game.playable_cells(state)


def make(game: game_lib.LineGame) -> Random:
  """Returns the random player of a game."""
  return Random(game)
