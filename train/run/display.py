"""Progress on the screen: a bar on a terminal, plain lines elsewhere."""

import datetime
import math
import time
from types import TracebackType

import rich.console
import rich.progress
import rich.table

from train import config as config_lib
from train.run import progress as progress_lib

__all__ = ["Display"]

# Without a terminal, the least time between two lines.
SECONDS_BETWEEN_LINES = 10.0

# The time left is estimated from the progress of this long: chunks may take minutes.
ESTIMATE_SECONDS = 600.0


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
    self._console = console
    self._games_wanted = config.games
    self._rate = math.nan
    self._score = math.nan
    self._last_line = -math.inf
    self._bar = rich.progress.Progress(
      rich.progress.TextColumn(
        "{task.description}",
        markup=False,
        # The only column that gives way on a narrow terminal.
        table_column=rich.table.Column(overflow="ellipsis"),
      ),
      rich.progress.BarColumn(
        bar_width=None, table_column=rich.table.Column(min_width=10)
      ),
      rich.progress.TextColumn("{task.fields[text]}", markup=False),
      rich.progress.TimeRemainingColumn(elapsed_when_finished=True),
      console=console,
      disable=not console.is_terminal,
      expand=True,
      speed_estimate_period=ESTIMATE_SECONDS,
    )
    total = config.games * config.num_trials
    self._bar.add_task(name, total=total, text="compiling")

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
    """Shows the run's progress.

    Args:
      progress: the run's progress.
      seconds: the training time of the games since the last call.
    """
    games = sum(progress.games)
    if seconds:
      rate = max(games - self._task.completed, 0) / seconds
      # Smoothed, as chunks differ in length.
      is_first = math.isnan(self._rate)
      self._rate = rate if is_first else 0.7 * self._rate + 0.3 * rate
    # Trials that have ended early play no more games.
    remaining = sum(
      max(self._games_wanted - progress.games[trial], 0) for trial in progress.active
    )
    self._bar.update(self._task.id, completed=games, total=games + remaining)
    self._bar.update(self._task.id, text=self._text())

  def tested(self, number: int, score: float) -> None:
    """Shows the mean score of a test."""
    self._score = score
    self._bar.update(self._task.id, text=self._text())
    now = time.monotonic()
    if self._bar.disable and now - self._last_line >= SECONDS_BETWEEN_LINES:
      self._last_line = now
      parts = [self._text()]
      if self._task.time_remaining is not None:
        left = datetime.timedelta(seconds=self._task.time_remaining)
        parts.append(f"{left} left")
      self.say(f"{self._task.description}: test {number}: {', '.join(parts)}")

  def say(self, text: str) -> None:
    """Prints one line."""
    self._console.print(text, markup=False, highlight=False, soft_wrap=True)

  @property
  def _task(self) -> rich.progress.Task:
    return self._bar.tasks[0]

  def _text(self) -> str:
    """Returns the games played, the games per second and the score, if known."""
    parts = [f"{self._task.completed:,.0f}/{self._task.total:,.0f} games"]
    # The first chunk is compiled before its first game.
    is_compiling = math.isnan(self._rate)
    parts.append("compiling" if is_compiling else f"{self._rate:,.0f} games/s")
    if not math.isnan(self._score):
      parts.append(f"score {self._score:.1%}")
    return ", ".join(parts)
