"""Finished games of a match, and the file of their moves."""

from collections.abc import Callable, Iterator
import contextlib
import dataclasses
import os
import pathlib
from typing import TextIO

import jaxgames
from jaxgames.display import notation

__all__ = ["Forfeit", "GameRecord", "WriteFn", "writing"]

WriteFn = Callable[["GameRecord"], None]


@dataclasses.dataclass(frozen=True)
class Forfeit:
  """A game lost by forfeit, not on the board.

  Attributes:
    game: the number of the game in the match, from 0.
    player: the player that lost it, A or B.
    reason: why it is lost.
  """

  game: int
  player: str
  reason: str


@dataclasses.dataclass(frozen=True)
class GameRecord:
  """A finished game.

  Attributes:
    number: the number of the game in the match, from 0; A moves first if it is even.
    actions: all moves from the empty board, those of the opening included.
    winner: 1 for A, -1 for B, 0 for a draw.
    forfeit: the forfeit, if the game was not decided on the board.
    num_opening: how many of the moves are the opening, chosen by neither player.
  """

  number: int
  actions: tuple[int, ...]
  winner: int
  forfeit: Forfeit | None = None
  num_opening: int = 0

  @property
  def side(self) -> int:
    """A's side: 0 if it moves first, 1 if it moves second."""
    return self.number % 2

  @property
  def score(self) -> float:
    """A's score: 1 for a win, 0.5 for a draw, 0 for a loss."""
    return (1 + self.winner) / 2

  def as_text(self, game: jaxgames.LineGame) -> str:
    """Returns the game on one line: the player that began, the result, the moves."""
    outcome = {1: "A wins", 0: "draw", -1: "B wins"}[self.winner]
    if self.forfeit is not None:
      outcome += " by forfeit"
    parts = [f"game {self.number}: {'AB'[self.side]} begins"]
    if self.num_opening:
      parts.append(f"the first {self.num_opening} moves are the opening")
    moves = " ".join(notation.action_name(game, action) for action in self.actions)
    return f"{', '.join([*parts, outcome])}: {moves}"


@contextlib.contextmanager
def writing(
  path: pathlib.Path | None, game: jaxgames.LineGame
) -> Iterator[WriteFn | None]:
  """Opens a file of games, a line each; yields the function that writes one, if any.

  Raises:
    ValueError: if the file cannot be written.
  """
  if path is None:
    yield None
    return
  with _open(path) as file:
    yield lambda record: print(record.as_text(game), file=file, flush=True)


def _open(path: pathlib.Path) -> TextIO:
  try:
    return open(path, "w", encoding="utf-8", opener=_open_at_once)
  except OSError as error:
    raise ValueError(f"cannot write {path}: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
  """Opens a file, and does not wait for who reads a pipe: there must be one."""
  file = os.open(path, flags | os.O_NONBLOCK, 0o666)
  os.set_blocking(file, True)
  return file
