"""A player that runs a Gomocup engine as a process."""

from collections.abc import Sequence
import dataclasses
import shlex
import time

import jaxgames
from train.engines import process
from train.engines import protocol
from train.match import host_player

__all__ = ["GomocupEngine", "Limits", "split_command"]

# Added to an engine's time limit for the transport of lines.
GRACE_SECONDS = 1.0

# How long an engine may take to answer RESTART.
RESTART_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class Limits:
  """How long an engine may take.

  Attributes:
    turn: seconds per move.
    start: seconds from launch until it is ready to play.
  """

  turn: float = 30.0
  start: float = 60.0

  def __post_init__(self):
    for name, seconds in (("turn", self.turn), ("start", self.start)):
      most = protocol.UNLIMITED // 1000
      if not 0 < seconds <= most:
        raise ValueError(
          f"{name} seconds must be more than 0 and at most {most}, not {seconds}"
        )


class GomocupEngine:
  """Plays by asking a Gomocup engine; the process is kept until it misbehaves."""

  def __init__(self, game: jaxgames.LineGame, command: str, limits: Limits):
    """Starts the engine, so that an engine that cannot play fails here.

    Args:
      game: Gomoku on a square board.
      command: the program and its arguments, as a shell would split them.
      limits: its time limits.

    Raises:
      ValueError: if the engine does not start or cannot play on this board.
    """
    self._game = game
    self._size = game.shape[0]
    self._command = split_command(command)
    self._limits = limits
    self._engine: process.EngineProcess | None = None
    self._is_fresh = False
    self._num_known = 0
    try:
      self._start()
    except host_player.ForfeitError as error:
      self._stop()
      raise ValueError(f"the engine {command!r} does not start: {error}") from error
    except BaseException:
      self._stop()
      raise

  def begin(self, game_number: int) -> None:
    """Clears the engine's board, or starts a new process if the last one is gone."""
    del game_number
    try:
      if self._engine is None:
        self._start()
      elif not self._is_fresh:
        self._restart(self._engine)
    except host_player.ForfeitError:
      self._stop()
      raise
    self._is_fresh = False
    self._num_known = 0

  def choose(self, state: jaxgames.State, actions: Sequence[int]) -> int:
    """Returns the engine's move; an engine without a valid move is stopped."""
    del state
    engine = self._engine
    assert engine is not None, "call `begin` before `choose`"
    try:
      question = self._question(actions)
      answer = self._ask(engine, question, self._limits.turn + GRACE_SECONDS)
      action = self._parse(answer, actions)
    except host_player.ForfeitError:
      # A late answer must not be taken for the answer to a later question.
      self._stop()
      raise
    self._num_known = len(actions) + 1
    return action

  def close(self) -> None:
    self._stop(farewell="END")

  def _question(self, actions: Sequence[int]) -> str:
    """Returns the command that asks for a move: only what the engine does not know."""
    cells = [protocol.write_cell(action, self._size) for action in actions]
    if not cells:
      return "BEGIN"
    if len(cells) == self._num_known + 1:
      return f"TURN {cells[-1]}"
    # After an opening. The engine's own stones are 1, the last one is the opponent's.
    stones = [
      f"{cell},{1 if (len(cells) - place) % 2 == 0 else 2}"
      for place, cell in enumerate(cells)
    ]
    return "\n".join(["BOARD", *stones, "DONE"])

  def _parse(self, answer: str, actions: Sequence[int]) -> int:
    try:
      action = protocol.parse_cell(answer, self._size)
    except ValueError as error:
      raise host_player.ForfeitError(f"its answer is invalid: {error}") from None
    if action in actions:
      raise host_player.ForfeitError(f"it played {answer}, which is taken")
    return action

  def _start(self) -> None:
    """Starts the process; its board is empty."""
    try:
      self._engine = process.EngineProcess(self._command)
    except OSError as error:
      reason = error.strerror or str(error)
      raise host_player.ForfeitError(f"{self._command[0]}: {reason}") from None
    question = f"START {self._size}"
    answer = self._ask(self._engine, question, self._limits.start)
    if not _is_ok(answer):
      raise host_player.ForfeitError(
        f"it answered {protocol.quote(answer)} to {question}, not OK"
      )
    self._inform(self._engine)
    self._is_fresh = True

  def _restart(self, engine: process.EngineProcess) -> None:
    """Clears the board by RESTART, or starts a new process if that fails."""
    try:
      answer = self._ask(engine, "RESTART", RESTART_SECONDS)
    except host_player.ForfeitError:
      # No forfeit between two games: some engines exit after each game.
      answer = ""
    if _is_ok(answer):
      self._inform(engine)
    else:
      self._stop(farewell="END")
      self._start()

  def _inform(self, engine: process.EngineProcess) -> None:
    """Sends the time limits and the rules."""
    facts = {
      "timeout_turn": round(1000 * self._limits.turn),
      "timeout_match": 0,
      "time_left": protocol.UNLIMITED,
      "max_memory": 0,
      "game_type": 1,  # Against another program.
      "rule": 0,  # Five or more win.
    }
    # Sent as one write, so that an engine that exits meanwhile fails in the game.
    engine.send("\n".join(f"INFO {key} {value}" for key, value in facts.items()))

  def _ask(self, engine: process.EngineProcess, question: str, seconds: float) -> str:
    """Returns the answer to a question, without MESSAGE and DEBUG lines."""
    engine.skip_stale()
    deadline = time.monotonic() + seconds
    engine.send(question)
    while True:
      answer = engine.read_line(deadline)
      words = answer.upper().split(maxsplit=1)
      if words and words[0] not in protocol.REMARKS:
        return answer

  def _stop(self, farewell: str | None = None) -> None:
    engine, self._engine = self._engine, None
    if engine is not None:
      engine.stop(farewell)


def _is_ok(answer: str) -> bool:
  """Returns whether an answer is OK; some engines add text after it."""
  return answer.upper().split()[:1] == ["OK"]


def split_command(command: str) -> list[str]:
  """Splits a command into a program and its arguments.

  Raises:
    ValueError: if the command is empty or its quotes do not match.
  """
  try:
    words = shlex.split(command)
  except ValueError as error:
    raise ValueError(f"the engine's command {command!r}: {error}") from None
  if not words or not words[0]:
    raise ValueError("an engine needs a command: engine:COMMAND")
  return words
