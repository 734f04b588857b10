"""Progress on the screen: a bar on a terminal, lines elsewhere."""

import datetime
import math
import time
from types import TracebackType

import rich.console
import rich.progress

from train import config as config_lib
from train.run import progress as progress_lib

__all__ = ["Display"]

# Without a terminal, a line at most this often.
SECONDS_BETWEEN_LINES = 10.0


class Display:
  """A progress bar on a terminal; elsewhere a plain line now and then."""

  def __init__(
    self, console: rich.console.Console, name: str, config: config_lib.RunConfig
  ):
    """Prepares the bar.

    Args:
      console: where to write.
      name: of the run.
      config: of the run.
    """
    self._console = console
    self._name = name
    self._games_wanted = config.games
    self._total = config.games * config.num_trials
    self._games = 0
    self._rate = math.nan
    self._score = math.nan
    self._last_line = -math.inf
    self._bar = rich.progress.Progress(
      rich.progress.TextColumn("{task.description}", markup=False),
      rich.progress.BarColumn(),
      rich.progress.TextColumn("{task.fields[text]}", markup=False),
      rich.progress.TimeElapsedColumn(),
      console=console,
      disable=not console.is_terminal,
    )
    self._task = self._bar.add_task(name, total=self._total, text="compiling")

  def __enter__(self) -> "Display":
    self._bar.start()
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
  ) -> None:
    self._bar.stop()

  def trained(
    self, progress: progress_lib.Progress, seconds: float | None = None
  ) -> None:
    """Shows how far the run is.

    Args:
      progress: of the run.
      seconds: that the games since the last call took.
    """
    games = sum(progress.games)
    if seconds:
      rate = max(games - self._games, 0) / seconds
      # Chunks differ in length: follow the rate slowly.
      is_first = math.isnan(self._rate)
      self._rate = rate if is_first else 0.7 * self._rate + 0.3 * rate
    self._games = games
    self._total = games + sum(
      max(self._games_wanted - progress.games[trial], 0) for trial in progress.active
    )
    self._bar.update(self._task, completed=games, total=self._total, text=self._text())

  def tested(self, number: int, score: float) -> None:
    """Shows the mean score of a test."""
    self._score = score
    self._bar.update(self._task, completed=self._games, text=self._text())
    now = time.monotonic()
    if self._bar.disable and now - self._last_line >= SECONDS_BETWEEN_LINES:
      self._last_line = now
      self.say(f"{self._name}: test {number}: {self._text()}")

  def say(self, text: str) -> None:
    """Prints one line."""
    self._console.print(text, markup=False, highlight=False, soft_wrap=True)

  def _text(self) -> str:
    parts = [f"{self._games:,.0f} of {self._total:,} games"]
    if not math.isnan(self._rate):
      parts.append(f"{self._rate:,.0f} games/s")
    if not math.isnan(self._score):
      parts.append(f"score {self._score:.1%}")
    if self._rate > 0:
      left = max(self._total - self._games, 0) / self._rate
      parts.append(f"{datetime.timedelta(seconds=round(left))} left")
    return ", ".join(parts)
