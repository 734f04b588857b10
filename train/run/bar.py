"""A progress bar that fits its line on a terminal; plain lines elsewhere."""

import collections
from collections.abc import Callable, Sequence
import datetime
import math
import time
from types import TracebackType
from typing import Self

import rich.console
import rich.live
import rich.progress_bar
import rich.table
import rich.text

__all__ = ["Bar"]

# Without a terminal, the least time between two lines.
SECONDS_BETWEEN_LINES = 10.0

# The time left is estimated from the progress of this long: chunks may take minutes.
ESTIMATE_SECONDS = 600.0

# How many columns of a terminal the name and the bar have at least.
LEAST_NAME = 6
LEAST_BAR = 10

NO_TIME = "-:--:--"


class Bar:
  """How much is done, in words and as a bar, and how much time is left.

  On a terminal the bar is drawn anew several times a second, so that its text and its
  time are those of the moment: the time left runs down between two updates, and where
  it has run out, or nothing is known of it, there is none.
  """

  def __init__(
    self,
    console: rich.console.Console,
    name: str,
    texts_fn: Callable[[], Sequence[str]],
    *,
    is_waiting_fn: Callable[[], bool] = lambda: False,
    clock_fn: Callable[[], float] = time.monotonic,
    transient: bool = False,
    seconds_to_first_line: float = 0.0,
  ):
    """Prepares the bar.

    Args:
      console: the console to write to.
      name: of what is done; it gives way on a narrow terminal.
      texts_fn: returns what is done in words, from the longest to the shortest; the
        first that fits is shown.
      is_waiting_fn: returns whether nothing is done at the moment.
      clock_fn: returns seconds; may stand still while nothing is done.
      transient: whether the bar is removed at the end.
      seconds_to_first_line: the least time before a plain line.
    """
    self.completed = 0.0
    self.total = 0.0
    self._console = console
    self._name = name
    self._texts_fn = texts_fn
    self._is_waiting_fn = is_waiting_fn
    self._clock_fn = clock_fn
    self._samples: collections.deque[tuple[float, float]] = collections.deque()
    self._begin = time.monotonic()
    self._next_line = -math.inf
    self._seconds_to_first_line = seconds_to_first_line
    self._is_transient = transient
    self._live: rich.live.Live | None = None

  def __enter__(self) -> Self:
    self._begin = time.monotonic()
    self._next_line = self._begin + self._seconds_to_first_line
    if self._console.is_terminal:
      self._live = rich.live.Live(
        console=self._console,
        get_renderable=self.get_renderable,
        refresh_per_second=5,
        transient=self._is_transient,
      )
      self._live.start()
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
  ) -> None:
    if self._live is not None:
      self._live.stop()

  def update(self, completed: float, total: float) -> None:
    """Notes how much is done, and how much there is."""
    self.completed, self.total = completed, total
    now = self._clock_fn()
    self._samples.append((now, completed))
    while self._samples[0][0] < now - ESTIMATE_SECONDS and len(self._samples) > 2:
      self._samples.popleft()

  @property
  def seconds_left(self) -> float | None:
    """The time left at this moment; None if it is not known."""
    if len(self._samples) < 2 or self._is_waiting_fn():
      return None
    (first, before), (last, after) = self._samples[0], self._samples[-1]
    if after <= before or last <= first:
      return None
    left = (self.total - after) * (last - first) / (after - before)
    left -= self._clock_fn() - last
    return left if left >= 0 else None

  def say(self, text: str) -> None:
    """Prints one line."""
    self._console.print(text, markup=False, highlight=False, soft_wrap=True)

  def say_now_and_then(self, prefix: str) -> None:
    """Prints what is done as a line, if there is no bar and the last line is old."""
    now = time.monotonic()
    if self._console.is_terminal or now < self._next_line:
      return
    self._next_line = now + SECONDS_BETWEEN_LINES
    left = self.seconds_left
    parts = [self._texts_fn()[0], *([] if left is None else [f"{_format(left)} left"])]
    self.say(f"{prefix}: {', '.join(parts)}")

  def get_renderable(self) -> rich.console.RenderableType:
    """Returns the line of the bar, as it is now."""
    return _Line(self._name, self._texts_fn(), self._time(), self.completed, self.total)

  def _time(self) -> str:
    if 0 < self.total <= self.completed:
      return _format(time.monotonic() - self._begin)  # How long it took.
    left = self.seconds_left
    return NO_TIME if left is None else _format(left)


class _Line:
  """A line of a name, a bar, a text and a time, for any width."""

  def __init__(
    self, name: str, texts: Sequence[str], time: str, completed: float, total: float
  ):
    self._name = name
    self._texts = texts
    self._time = time
    self._share = min(completed / total, 1.0) if total else 0.0

  def __rich_console__(
    self, console: rich.console.Console, options: rich.console.ConsoleOptions
  ) -> rich.console.RenderResult:
    """Draws the line."""
    del console
    # Three gaps, and a last column that stays empty: some terminals would go on.
    room = options.max_width - len(self._time) - 4
    least = min(LEAST_NAME, len(self._name)) + LEAST_BAR
    fitting = [text for text in self._texts if len(text) + least <= room]
    text = fitting[0] if fitting else self._texts[-1]
    name = max(min(len(self._name), room - len(text) - LEAST_BAR), 1)
    bar = max(room - len(text) - name, 1)
    grid = rich.table.Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    for width in (name, bar, len(text), len(self._time)):
      grid.add_column(width=width, no_wrap=True, overflow="ellipsis")
    grid.add_row(
      rich.text.Text(self._name),
      rich.progress_bar.ProgressBar(total=1.0, completed=self._share, width=bar),
      rich.text.Text(text, style="progress.download"),
      rich.text.Text(self._time, style="progress.remaining"),
    )
    yield grid


def _format(seconds: float) -> str:
  return str(datetime.timedelta(seconds=math.ceil(seconds)))
