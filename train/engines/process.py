"""A child process that exchanges lines of text, and may misbehave in any way."""

from collections.abc import Sequence
import contextlib
import os
import selectors
import signal
import subprocess
import time
from typing import IO

from train.engines import protocol
from train.match import host_player

__all__ = ["EngineProcess"]

# How much of its standard error is kept, to explain a crash.
MOST_ERROR_BYTES = 2000

# The most that one read takes. The rest stays in the pipe, which is bounded too.
READ_BYTES = 65536

# How long a program may take to exit, once after the farewell, once after SIGTERM.
SECONDS_TO_EXIT = 1.0

# How often to check that a silent program still runs.
SECONDS_BETWEEN_CHECKS = 0.2

# The most reads of stale output that are discarded before a question.
MOST_STALE_READS = 16


class EngineProcess:
  """A running program in its own process group.

  Every wait has a limit, and no more than a few kilobytes of its output are kept. Any
  failure after the start is a `ForfeitError`.
  """

  def __init__(self, command: Sequence[str], *, answers_on_stderr: bool = False):
    """Starts the program.

    Args:
      command: the program and its arguments.
      answers_on_stderr: whether to read standard error as part of the output.

    Raises:
      OSError: if the program does not exist or cannot be started.
    """
    # A new session shields the program from the terminal's Ctrl-C, and makes it and
    # its children one group that can be killed together.
    self._process = subprocess.Popen(
      command,
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      stderr=subprocess.STDOUT if answers_on_stderr else subprocess.PIPE,
      start_new_session=True,
      bufsize=0,
    )
    self._buffer = bytearray()
    self._is_in_long_line = False
    self._errors = bytearray()
    self._selector = selectors.DefaultSelector()
    for stream in (self._process.stdout, self._process.stderr):
      if stream is not None:
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ)
    os.set_blocking(self._stdin.fileno(), False)

  def send(self, line: str) -> None:
    """Sends one or more lines.

    Raises:
      ForfeitError: if the program has exited or does not read its input.
    """
    try:
      num_written = self._stdin.write(line.encode() + b"\n")
    except OSError:
      raise self._crash() from None
    # The pipe holds far more than a game's lines: it is full only if it is not read.
    if num_written != len(line) + 1:
      raise host_player.ForfeitError("it does not read its input")

  def skip_stale(self) -> None:
    """Discards the output so far, except for an unfinished line."""
    for _ in range(MOST_STALE_READS):
      while self._next_line() is not None:
        pass
      if not self._read(0):
        return

  def read_line(self, deadline: float) -> str:
    """Returns the next line, stripped; a very long line is cut.

    Args:
      deadline: when to give up, in the time of `time.monotonic`.

    Raises:
      ForfeitError: if no line came in time, or the program has exited.
    """
    while (line := self._next_line()) is None:
      if self._process.stdout not in self._open_streams():
        raise self._crash()
      seconds = deadline - time.monotonic()
      if seconds <= 0:
        raise host_player.ForfeitError("it gave no answer in time")
      # A child may keep the output open after the program has exited: check both.
      if not self._read(min(seconds, SECONDS_BETWEEN_CHECKS)) and self._exit():
        raise self._crash()
    return protocol.clean(line)

  def stop(self, farewell: str | None = None) -> None:
    """Stops the program and all of its children.

    Args:
      farewell: a line that asks it to exit.
    """
    try:
      if farewell is not None:
        with contextlib.suppress(host_player.ForfeitError, OSError):
          self.send(farewell)
          self._stdin.close()
        self._wait()
      self._signal_group(signal.SIGTERM)
      self._wait()
    finally:
      # Before the program is reaped: until then its process id is not reused.
      self._signal_group(signal.SIGKILL)
      self._process.kill()
      self._process.wait()
      self._selector.close()
      for stream in (self._stdin, self._process.stdout, self._process.stderr):
        if stream is not None:
          stream.close()

  @property
  def _stdin(self) -> IO[bytes]:
    assert self._process.stdin is not None
    return self._process.stdin

  def _exit(self) -> os.waitid_result | None:
    """Returns how the program exited, or None while it runs."""
    # Unlike `poll`, this does not reap the program, so its process id stays taken.
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, self._process.pid, options)

  def _wait(self) -> None:
    """Waits a limited time for the program to exit."""
    deadline = time.monotonic() + SECONDS_TO_EXIT
    pause = 0.001
    while self._exit() is None and time.monotonic() < deadline:
      # A full pipe would keep it from exiting.
      self.skip_stale()
      time.sleep(pause)
      pause = min(2 * pause, 0.05)

  def _signal_group(self, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
      os.killpg(self._process.pid, number)

  def _read(self, seconds: float) -> bool:
    """Waits for output; returns whether any came in time."""
    ready = self._selector.select(seconds)
    for key, _ in ready:
      stream = key.fileobj
      chunk = os.read(key.fd, READ_BYTES)
      if not chunk:
        self._selector.unregister(stream)
      if stream is self._process.stderr:
        self._errors = (self._errors + chunk)[-MOST_ERROR_BYTES:]
      else:
        self._buffer += chunk
    return bool(ready)

  def _next_line(self) -> bytes | None:
    """Removes a line from the buffer and returns it, or None if there is none."""
    while True:
      end = self._buffer.find(b"\n")
      is_whole = end >= 0
      if not is_whole and len(self._buffer) < protocol.MOST_LINE_BYTES:
        return None
      line = bytes(self._buffer[: end if is_whole else protocol.MOST_LINE_BYTES])
      del self._buffer[: end + 1 if is_whole else len(self._buffer)]
      was_in_long_line, self._is_in_long_line = self._is_in_long_line, not is_whole
      if not was_in_long_line:
        return line

  def _open_streams(self) -> list[object]:
    return [key.fileobj for key in self._selector.get_map().values()]

  def _crash(self) -> host_player.ForfeitError:
    """Returns the error that explains how the program exited."""
    self._wait()
    self.skip_stale()
    end = self._exit()
    if end is None:
      what = "it closed its output"
    elif end.si_code == os.CLD_EXITED:
      what = f"it exited with code {end.si_status}"
    else:
      what = f"it was killed by {signal.Signals(end.si_status).name}"
    last = [line.strip() for line in self._errors.splitlines() if line.strip()][-1:]
    said = [
      f", saying {protocol.quote(line.decode(errors='replace'))}" for line in last
    ]
    return host_player.ForfeitError(what + "".join(said))
