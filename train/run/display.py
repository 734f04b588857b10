"""The progress of a run on the screen."""

import math
import time
from types import TracebackType

import rich.console

from train import config as config_lib
from train.run import bar as bar_lib
from train.run import compiling
from train.run import progress as progress_lib

__all__ = ["Display"]

# From here on numbers are shown in millions where there is no room for more.
MANY = 1_000_000


class Display:
  """A progress bar on a terminal; elsewhere a plain line now and then."""

  def __init__(
    self, console: rich.console.Console, name: str, config: config_lib.RunConfig
  ):
    """Prepares the bar.

    Args:
      console: the console to write to.
      name: the run's name.
      config: the run's config.
    """
    self._name = name
    self._games_wanted = config.games
    self._rate = math.nan
    self._score = math.nan
    self._bar = bar_lib.Bar(
      console,
      name,
      self._texts,
      is_waiting_fn=compiling.is_waited_for,
      clock_fn=_clock,
    )
    self._bar.total = config.games * config.num_trials

  def __enter__(self) -> "Display":
    self._bar.__enter__()
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
  ) -> None:
    self._bar.__exit__(kind, error, traceback)

  def trained(
    self, progress: progress_lib.Progress, seconds: float | None = None
  ) -> None:
    """Shows the run's progress.

    Args:
      progress: the run's progress.
      seconds: the training time of the games since the last call.
    """
    games = sum(progress.games)
    if seconds:
      rate = max(games - self._bar.completed, 0) / seconds
      # Smoothed, as chunks differ in length.
      is_first = math.isnan(self._rate)
      self._rate = rate if is_first else 0.7 * self._rate + 0.3 * rate
    # Trials that have ended early play no more games.
    remaining = sum(
      max(self._games_wanted - progress.games[trial], 0) for trial in progress.active
    )
    self._bar.update(games, games + remaining)

  def tested(self, number: int, score: float) -> None:
    """Shows the mean score of a test."""
    self._score = score
    self._bar.say_now_and_then(f"{self._name}: test {number}")

  def say(self, text: str) -> None:
    """Prints one line."""
    self._bar.say(text)

  def _texts(self) -> list[str]:
    """Returns the games played, the games per second and the score, if known."""
    done, total = self._bar.completed, self._bar.total
    # The first chunk is compiled before its first game; later ones, and tests, may be.
    is_compiling = math.isnan(self._rate) or compiling.is_waited_for()
    score = [] if math.isnan(self._score) else [f"score {self._score:.1%}"]
    texts = []
    for number_fn in (_in_full, _in_short):
      rate = "compiling" if is_compiling else f"{number_fn(self._rate)} games/s"
      games = f"{number_fn(done)}/{number_fn(total)} games"
      texts.append(", ".join([games, rate, *score]))
    return [*texts, ", ".join([rate, *score]), rate]


def _clock() -> float:
  """Returns seconds; they stand still while a program is compiled."""
  return time.monotonic() - compiling.seconds_waited()


def _in_full(number: float) -> str:
  return f"{number:,.0f}"


def _in_short(number: float) -> str:
  return f"{number / MANY:,.1f}M" if number >= MANY else f"{number / 1000:,.0f}k"
