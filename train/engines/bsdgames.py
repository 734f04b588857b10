"""A player that runs gomoku of Debian's bsdgames as a process.

The program plays on 19x19 only and has one level. In the background (`-b`) it never
prints its moves, but with `-d` it prints its two candidates, the best cell for each
colour:

  B J9 301/1 0 601/255 0 4
  W J10 601/255 0 301/1 0 4

The third word is two bytes in hexadecimal: the number of moves after which that colour
completes a force, and the number of further moves to a win. The program plays its own
cell, unless the other side completes a force at once and its own force does not win
as soon. (Verified against games that the program itself saved.)
"""

from collections.abc import Sequence
import re
import shutil
import time
from typing import NamedTuple

import jaxgames
from train.engines import client
from train.engines import process
from train.match import host_player

__all__ = ["BsdGomoku", "find"]

SIZE = 19

# The columns' letters, without I; rows are numbered from 1.
COLUMNS = "ABCDEFGHJKLMNOPQRST"

# Its first move, which it does not print.
OPENING = "K10"

_CANDIDATE = re.compile(r"([BW]) ([A-T][0-9]{1,2}) ([0-9a-f]{1,4})/[0-9]+ .*")


class _Candidate(NamedTuple):
  """The best cell for one colour.

  Attributes:
    cell: the cell, as in `J9`.
    moves_to_force: moves until that colour has completed a force.
    moves_to_win: moves from there to the win.
  """

  cell: str
  moves_to_force: int
  moves_to_win: int

  @property
  def moves(self) -> int:
    return self.moves_to_force + self.moves_to_win


class BsdGomoku:
  """Plays by asking bsdgames, with a new process for every game."""

  def __init__(self, game: jaxgames.LineGame, limits: client.Limits):
    """Checks that the game can be played; starts no process yet.

    Args:
      game: Gomoku on 19x19.
      limits: the time limit of a move.

    Raises:
      ValueError: if the board has another size, or the program is not installed.
    """
    if game.shape != (SIZE, SIZE):
      board = "x".join(map(str, game.shape))
      raise ValueError(
        f"bsdgames plays on 19x19, not {board}: the game must be gomoku:size=19"
      )
    path = find()
    if path is None:
      raise ValueError("engine:bsdgames needs Debian's package bsdgames: install it")
    self._path = path
    self._limits = limits
    self._engine: process.EngineProcess | None = None

  def begin(self, game_number: int) -> None:
    """Stops the last game's process; the first move starts the next one."""
    del game_number
    self.close()

  def choose(self, state: jaxgames.State, actions: Sequence[int]) -> int:
    """Returns the program's move, inferred from its candidates."""
    del state
    is_black = len(actions) % 2 == 0
    deadline = time.monotonic() + self._limits.turn + client.GRACE_SECONDS
    try:
      engine = self._started(is_black=is_black)
      if not actions:
        return _parse(OPENING)
      engine.send(_write(actions[-1]))
      action = _parse(_read_choice(engine, deadline, is_black=is_black))
    except host_player.ForfeitError:
      self.close()
      raise
    if action in actions:
      self.close()
      raise host_player.ForfeitError(f"it played {_write(action)}, which is taken")
    return action

  def close(self) -> None:
    engine, self._engine = self._engine, None
    if engine is not None:
      engine.stop("quit")

  def _started(self, *, is_black: bool) -> process.EngineProcess:
    """Returns the process of this game; starts it if there is none yet."""
    if self._engine is None:
      try:
        command = [self._path, "-b", "-d"]
        self._engine = process.EngineProcess(command, answers_on_stderr=True)
      except OSError as error:
        raise host_player.ForfeitError(f"it does not start: {error.strerror}") from None
      # The first line names the colour of the *other* player.
      self._engine.send("white" if is_black else "black")
    return self._engine


def find() -> str | None:
  """Returns the program's path, or None if it is not installed."""
  return shutil.which("bsdgames-gomoku") or shutil.which("gomoku", path="/usr/games")


def _read_choice(
  engine: process.EngineProcess, deadline: float, *, is_black: bool
) -> str:
  """Reads both colours' candidates, black's first, and decides as the program does."""
  found: dict[str, _Candidate] = {}
  while "W" not in found:
    match = _CANDIDATE.fullmatch(engine.read_line(deadline))
    if match is not None:
      found[match[1]] = _Candidate(match[2], *divmod(int(match[3], 16), 256))
  if "B" not in found:
    raise host_player.ForfeitError("it named no cell for black")
  own, other = (found["B"], found["W"]) if is_black else (found["W"], found["B"])
  is_in_danger = other.moves_to_force <= 1
  is_as_fast = own.moves_to_force <= 1 and own.moves <= other.moves
  return other.cell if is_in_danger and not is_as_fast else own.cell


def _write(action: int) -> str:
  row, column = divmod(action, SIZE)
  return f"{COLUMNS[column]}{row + 1}"


def _parse(cell: str) -> int:
  row, column = int(cell[1:]) - 1, COLUMNS.find(cell[0])
  if not (0 <= row < SIZE and column >= 0):
    raise host_player.ForfeitError(
      f"it named the cell {cell}, which is not on the board"
    )
  return row * SIZE + column
