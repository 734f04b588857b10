"""Positions that notebooks show as pictures."""

from collections.abc import Iterable
from typing import NamedTuple

from jaxgames import game as game_lib
from jaxgames.display import svg
from jaxgames.display import text

__all__ = ["Position", "after"]


class Position(NamedTuple):
  """A position with its board: the last line of a notebook's cell shows a picture.

  A `State` alone does not know the sides of its board.

  Attributes:
    game: any board.
    state: one position of it.
    last_action: the move that led to the position, if it shall be marked.
  """

  game: game_lib.LineGame
  state: game_lib.State
  last_action: int | None = None

  def _repr_svg_(self) -> str:
    return svg.draw(self.game, self.state, last_action=self.last_action)

  def __str__(self) -> str:
    """Returns the board in characters."""
    return text.draw(self.game, self.state)


def after(game: game_lib.LineGame, actions: Iterable[int]) -> Position:
  """Returns the position after some moves, each checked, the last one marked."""
  moves = tuple(actions)
  return Position(game, game.from_moves(moves), moves[-1] if moves else None)
