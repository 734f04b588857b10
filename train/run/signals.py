"""Signals as requests to stop, checked between chunks."""

from collections.abc import Iterator
import contextlib
import signal
import threading
from types import FrameType

__all__ = ["StopRequest", "stop_requests"]


class StopRequest:
  """Whether, and by which signal, the process was asked to stop.

  Attributes:
    signal: the first signal received, if any.
  """

  def __init__(self) -> None:
    """Starts with no request."""
    self.signal: signal.Signals | None = None

  def receive(self, number: int, frame: FrameType | None) -> None:
    """Records a signal; a second interrupt ends the process at once."""
    del frame
    self.signal = self.signal or signal.Signals(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
  """Turns SIGINT, SIGTERM and SIGHUP into a stop request while the block runs.

  A hangup that the process was started to ignore, as by nohup, is ignored.
  """
  request = StopRequest()
  if threading.current_thread() is not threading.main_thread():
    yield request  # Only the main thread may set signal handlers.
    return
  wanted = [signal.SIGINT, signal.SIGTERM]
  if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
    wanted.append(signal.SIGHUP)
  before = {number: signal.signal(number, request.receive) for number in wanted}
  try:
    yield request
  finally:
    for number, handler in before.items():
      signal.signal(number, handler)
