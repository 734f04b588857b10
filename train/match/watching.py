"""The progress of a match on the screen."""

from types import TracebackType
from typing import Self

import rich.console

from train.run import bar as bar_lib

__all__ = ["Watch"]


class Watch:
  """Shows how many games of a match are over, and how much time is left."""

  def __init__(self, console: rich.console.Console, num_games: int):
    """Prepares the bar.

    Args:
      console: the console to write to; without a terminal there is a line now and then.
      num_games: of the whole match.
    """
    self._num_games = num_games
    self._num_over = 0
    self._ply: int | None = None
    self._bar = bar_lib.Bar(
      console,
      "match",
      self._texts,
      transient=True,
      seconds_to_first_line=bar_lib.SECONDS_BETWEEN_LINES,
    )
    self._bar.total = num_games

  def __enter__(self) -> Self:
    self._bar.__enter__()
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
  ) -> None:
    self._bar.__exit__(kind, error, traceback)

  def played(self, num_over: int, *, ply: int = 0, share: float = 0.0) -> None:
    """Shows the progress.

    Args:
      num_over: the games that are over.
      ply: how many moves the games in progress have.
      share: how many games the plies played in those are worth.
    """
    self._num_over = min(num_over, self._num_games)
    self._ply = ply
    self._bar.update(min(num_over + share, self._num_games), self._num_games)
    if num_over < self._num_games:
      self._bar.say_now_and_then("match")

  def _texts(self) -> list[str]:
    games = f"{self._num_over:,}/{self._num_games:,} games"
    if self._ply is None:
      return [f"{games}, compiling", "compiling"]
    return [f"{games}, move {self._ply}", games] if self._ply else [games]
