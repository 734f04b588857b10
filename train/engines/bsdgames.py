"""The gomoku of Debian's bsdgames as a player on the host.

It plays on 19x19 only, and plays as well as it can. Run in the background (`-b`) it
never prints its moves, but with `-d` it prints the two cells between which it decides:
the best one for each colour, as in

  B J9 301/1 0 601/255 0 4
  W J10 601/255 0 301/1 0 4

The third word holds two bytes in hexadecimal: after how many moves that colour will
have completed a force, and how many more it then needs to win. It plays its own cell,
unless the other side completes a force at once and it has none that wins as soon. (That
was checked by experiment, against games that the program itself saved.)
"""

from collections.abc import Sequence
import re
import shutil
import time
from typing import NamedTuple

import jaxgames
from train.engines import client
from train.engines import process as engine_process
from train.match import host_player

__all__ = ["BsdGomoku", "find"]

SIZE = 19

# Letters of the columns; the rows are counted from 1, upwards.
COLUMNS = "ABCDEFGHJKLMNOPQRST"

# Where it begins, without a word.
OPENING = "K10"

_CANDIDATE = re.compile(r"([BW]) ([A-T][0-9]{1,2}) ([0-9a-f]{1,4})/[0-9]+ .*")


class _Candidate(NamedTuple):
  """The best cell for one colour.

  Attributes:
    cell: as it is written.
    moves_to_force: until that colour has completed a force.
    moves_to_win: from there on.
  """

  cell: str
  moves_to_force: int
  moves_to_win: int

  @property
  def moves(self) -> int:
    return self.moves_to_force + self.moves_to_win


class BsdGomoku:
  """Plays by asking bsdgames, a new process for every game."""

  def __init__(self, game: jaxgames.LineGame, limits: client.Limits):
    """Looks whether the game can be played; nothing is started yet.

    Args:
      game: Gomoku on 19x19.
      limits: on the time for a move.

    Raises:
      ValueError: if it is another game, or the program is not installed.
    """
    if game.shape != (SIZE, SIZE):
      raise ValueError("bsdgames plays on 19x19 only: the game must be gomoku:size=19")
    path = find()
    if path is None:
      raise ValueError("there is no gomoku of bsdgames here: install bsdgames")
    self._path = path
    self._limits = limits
    self._process: engine_process.EngineProcess | None = None

  def begin(self, game_number: int) -> None:
    """Ends the last game's process; that of the new game is started by its first move."""
    del game_number
    self.close()

  def choose(self, state: jaxgames.State, actions: Sequence[int]) -> int:
    """Returns the move that the program must have made."""
    del state
    is_black = len(actions) % 2 == 0
    deadline = time.monotonic() + self._limits.turn + client.GRACE_SECONDS
    try:
      process = self._started(is_black=is_black)
      if not actions:
        return _parse(OPENING)
      process.send(_write(actions[-1]))
      action = _parse(_read_choice(process, deadline, is_black=is_black))
    except host_player.ForfeitError:
      self.close()
      raise
    if action in actions:
      self.close()
      raise host_player.ForfeitError(f"it played {_write(action)}, which is taken")
    return action

  def close(self) -> None:
    process, self._process = self._process, None
    if process is not None:
      process.stop("quit")

  def _started(self, *, is_black: bool) -> engine_process.EngineProcess:
    """Returns the process of this game, started if there is none yet."""
    if self._process is None:
      try:
        command = [self._path, "-b", "-d"]
        self._process = engine_process.EngineProcess(command, answers_on_stderr=True)
      except OSError as error:
        raise host_player.ForfeitError(f"it does not start: {error.strerror}") from None
      # The first line says which colour the *other* player has.
      self._process.send("white" if is_black else "black")
    return self._process


def find() -> str | None:
  """Returns where the program is, if it is installed."""
  return shutil.which("bsdgames-gomoku") or shutil.which("gomoku", path="/usr/games")


def _read_choice(
  process: engine_process.EngineProcess, deadline: float, *, is_black: bool
) -> str:
  """Reads the candidates of both colours, black's first, and decides as it does."""
  found: dict[str, _Candidate] = {}
  while "W" not in found:
    match = _CANDIDATE.fullmatch(process.read_line(deadline))
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
