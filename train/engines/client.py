"""A Gomocup engine, run as a process, as a player on the host."""

from collections.abc import Sequence
import dataclasses
import shlex
import time

import jaxgames
from train.engines import process as engine_process
from train.engines import protocol
from train.match import host_player

__all__ = ["GomocupEngine", "Limits", "split_command"]

# What an answer may be late: the time that lines spend on their way.
GRACE_SECONDS = 1.0

# How long an engine may think about clearing its board.
RESTART_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class Limits:
  """How long an engine may take.

  Attributes:
    turn: seconds for a move.
    start: seconds from its start until it is ready to play.
  """

  turn: float = 30.0
  start: float = 60.0

  def __post_init__(self):
    for name, seconds in (("turn", self.turn), ("start", self.start)):
      if not 0 < seconds <= protocol.UNLIMITED / 1000:
        raise ValueError(f"{name} seconds must be more than 0, not {seconds}")


class GomocupEngine:
  """Plays by asking a Gomocup engine, one process for as long as it behaves."""

  def __init__(self, game: jaxgames.LineGame, command: str, limits: Limits):
    """Starts the engine, so that one that cannot play is known at once.

    Args:
      game: Gomoku on a square board.
      command: the program and its arguments, as a shell would split them.
      limits: on its time.

    Raises:
      ValueError: if there is no such engine, or it cannot play on this board.
    """
    self._game = game
    self._size = game.shape[0]
    self._command = split_command(command)
    self._limits = limits
    self._process: engine_process.EngineProcess | None = None
    self._is_fresh = False
    try:
      self._start()
    except host_player.ForfeitError as error:
      self._stop()
      raise ValueError(f"the engine {command!r} does not start: {error}") from error
    except BaseException:
      self._stop()
      raise

  def begin(self, game_number: int) -> None:
    """Clears the engine's board, or starts it anew if it is no longer there."""
    del game_number
    try:
      if self._process is None:
        self._start()
      elif not self._is_fresh:
        self._restart(self._process)
    except host_player.ForfeitError:
      self._stop()
      raise
    self._is_fresh = False

  def choose(self, state: jaxgames.State, actions: Sequence[int]) -> int:
    """Returns the engine's move; an engine that has none is ended."""
    del state
    process = self._process
    assert process is not None, "a game begins with `begin`"
    if actions:
      question = f"TURN {protocol.write_cell(actions[-1], self._size)}"
    else:
      question = "BEGIN"
    try:
      answer = self._ask(process, question, self._limits.turn + GRACE_SECONDS)
      return self._parse(answer, actions)
    except host_player.ForfeitError:
      # What else it may still have to say must not be taken for an answer later.
      self._stop()
      raise

  def close(self) -> None:
    self._stop(farewell="END")

  def _parse(self, answer: str, actions: Sequence[int]) -> int:
    try:
      action = protocol.parse_cell(answer, self._size)
    except ValueError as error:
      raise host_player.ForfeitError(f"it answered wrongly: {error}") from None
    if action in actions:
      raise host_player.ForfeitError(f"it played {answer}, which is taken")
    return action

  def _start(self) -> None:
    """Starts the process; no game has been played on its board yet."""
    try:
      self._process = engine_process.EngineProcess(self._command)
    except OSError as error:
      reason = error.strerror or str(error)
      raise host_player.ForfeitError(f"{self._command[0]}: {reason}") from None
    question = f"START {self._size}"
    answer = self._ask(self._process, question, self._limits.start)
    if not _is_ok(answer):
      raise host_player.ForfeitError(
        f"it answered {protocol.quote(answer)} to {question}"
      )
    self._inform(self._process)
    self._is_fresh = True

  def _restart(self, process: engine_process.EngineProcess) -> None:
    """Clears the board by RESTART, or by a new process if that does not help."""
    try:
      answer = self._ask(process, "RESTART", RESTART_SECONDS)
    except host_player.ForfeitError:
      # Between two games nothing is lost by it: some engines leave after a game.
      answer = ""
    if _is_ok(answer):
      self._inform(process)
    else:
      self._stop(farewell="END")
      self._start()

  def _inform(self, process: engine_process.EngineProcess) -> None:
    """Tells the engine the limits and the rules."""
    facts = {
      "timeout_turn": round(1000 * self._limits.turn),
      "timeout_match": 0,
      "time_left": protocol.UNLIMITED,
      "max_memory": 0,
      "game_type": 1,  # Against another program.
      "rule": 0,  # Five or more win.
    }
    # All at once: an engine that leaves in between does so in the game, not before.
    process.send("\n".join(f"INFO {key} {value}" for key, value in facts.items()))

  def _ask(
    self, process: engine_process.EngineProcess, question: str, seconds: float
  ) -> str:
    """Returns the answer to a question; remarks for people are left out."""
    process.skip_stale()
    deadline = time.monotonic() + seconds
    process.send(question)
    while True:
      answer = process.read_line(deadline)
      words = answer.upper().split(maxsplit=1)
      if words and words[0] not in protocol.REMARKS:
        return answer

  def _stop(self, farewell: str | None = None) -> None:
    process, self._process = self._process, None
    if process is not None:
      process.stop(farewell)


def _is_ok(answer: str) -> bool:
  """Returns whether an answer is OK; some engines add a few words."""
  return answer.upper().split()[:1] == ["OK"]


def split_command(command: str) -> list[str]:
  """Returns a program and its arguments.

  Raises:
    ValueError: if there are none, or quotes do not match.
  """
  try:
    words = shlex.split(command)
  except ValueError as error:
    raise ValueError(f"the engine's command {command!r}: {error}") from None
  if not words or not words[0]:
    raise ValueError("an engine needs a command: engine:COMMAND")
  return words
