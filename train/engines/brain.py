"""A player as a Gomocup engine: reads commands, answers with moves."""

from collections.abc import Callable, Sequence
import dataclasses
import functools
import importlib.metadata
import os
import sys
import time
from typing import BinaryIO

import jax
import numpy as np

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames import randomness
from jaxgames import registry
from train.config import agent_names
from train.engines import protocol
from train.match import clocks
from train.run import agents

__all__ = ["Brain", "MakePlayers", "make_players_fn", "run", "serve"]

# Returns the players for a board, from strong to weak, or raises a ValueError.
MakePlayers = Callable[[jaxgames.LineGame], Sequence[players.Player]]

# The number of moves still to come that the remaining time is divided by.
MOVES_AHEAD = 20


@dataclasses.dataclass
class _Clock:
  """The manager's time limits, in milliseconds.

  Attributes:
    turn: for one move; 0 asks for the fastest.
    match: for all moves of a game; 0 means no limit.
    left: the time left for this game.
  """

  turn: int = 30_000
  match: int = 0
  left: float = protocol.UNLIMITED

  def tell(self, key: str, milliseconds: int) -> None:
    """Updates a limit from an INFO command; ignores other keys."""
    if key == "timeout_turn":
      self.turn = milliseconds
    elif key == "timeout_match":
      self.match = milliseconds
      self.begin()
    elif key == "time_left":
      self.left = milliseconds

  def begin(self) -> None:
    self.left = self.match or protocol.UNLIMITED

  def limit(self) -> float:
    """Returns how many seconds the next move may take."""
    return max(min(self.turn, self.left / MOVES_AHEAD), 0) / 1000

  def spend(self, seconds: float) -> None:
    self.left -= 1000 * seconds


@dataclasses.dataclass(frozen=True)
class _Position:
  """The stones on a board, regardless of the order of moves."""

  own: frozenset[int] = frozenset()
  other: frozenset[int] = frozenset()

  def with_stone(self, cell: int, *, is_own: bool) -> "_Position":
    if is_own:
      return _Position(self.own | {cell}, self.other)
    return _Position(self.own, self.other | {cell})

  def without_stone(self, cell: int) -> "_Position":
    return _Position(self.own - {cell}, self.other - {cell})

  def has_stone(self, cell: int) -> bool:
    return cell in self.own or cell in self.other


class Brain:
  """Answers the commands of a Gomocup manager.

  A command that cannot be executed is answered by `ERROR` and changes nothing.
  """

  def __init__(self, make_players_fn: MakePlayers, *, name: str, seed: int = 0):
    """Waits for a first command.

    Args:
      make_players_fn: makes the players for a board.
      name: the name that ABOUT gives.
      seed: the seed of all randomness.
    """
    self.is_ended = False
    self._make_players_fn = make_players_fn
    self._name = name
    self._key = randomness.key(seed)
    self._timed: dict[int, clocks.TimedPlayers] = {}
    self._game: jaxgames.LineGame | None = None
    self._game_number = -1
    self._position = _Position()
    self._clock = _Clock()
    # The lines since BOARD, until DONE.
    self._board_lines: list[str] | None = None
    self._handlers: dict[str, Callable[[str], str | None]] = {
      "START": self._start,
      "RESTART": self._restart,
      "BEGIN": self._begin,
      "TURN": self._turn,
      "BOARD": self._board,
      "DONE": self._done,
      "TAKEBACK": self._takeback,
      "INFO": self._info,
      "ABOUT": self._about,
      "END": self._end,
    }

  def handle(self, line: str | bytes) -> list[str]:
    """Executes one line; returns the lines of the answer, usually one or none."""
    command = protocol.parse_command(line)
    if self._board_lines is not None and command.name not in self._handlers:
      self._add_board_line(protocol.clean(line))
      return []
    if not command.name:
      return []
    answers = [] if command.name == "DONE" else self.finish()
    try:
      answers.extend(self._obey(command))
    except ValueError as error:
      answers.append("ERROR " + " ".join(str(error).split()))
    return answers

  def finish(self) -> list[str]:
    """Ends an open BOARD; returns an error line if there was one."""
    was_open, self._board_lines = self._board_lines is not None, None
    return ["ERROR BOARD without DONE"] if was_open else []

  def _obey(self, command: protocol.Command) -> list[str]:
    if command.name not in self._handlers:
      return [f"UNKNOWN command {protocol.quote(command.name)}"]
    answer = self._handlers[command.name](command.rest)
    return [] if answer is None else [answer]

  def _start(self, rest: str) -> str:
    size = protocol.parse_number(rest)
    sizes = registry.BOARDS["gomoku"].sizes
    if size is None or size not in sizes:
      raise ValueError(f"the size of the board must be from {sizes[0]} to {sizes[-1]}")
    game = jaxgames.make(f"gomoku:size={size}")
    if size not in self._timed:
      # Everything is compiled here, so that no move waits for compilation.
      some_players = self._make_players_fn(game)
      self._key, key_players = jax.random.split(self._key)
      self._timed[size] = clocks.TimedPlayers(some_players, key_players)
      _is_over(game, _Position())
    self._game = game
    return self._restart("")

  def _restart(self, rest: str) -> str:
    del rest
    self._size()
    self._position = _Position()
    self._game_number += 1
    self._clock.begin()
    self._players().begin(self._game_number)
    return "OK"

  def _begin(self, rest: str) -> str:
    del rest
    self._size()
    if self._position != _Position():
      raise ValueError("BEGIN needs an empty board: RESTART first")
    return self._move(self._position)

  def _turn(self, rest: str) -> str:
    cell = protocol.parse_cell(rest, self._size())
    if self._position.has_stone(cell):
      raise ValueError(f"{rest} is taken")
    return self._move(self._position.with_stone(cell, is_own=False))

  def _board(self, rest: str) -> None:
    del rest
    self._size()
    self._board_lines = []

  def _add_board_line(self, line: str) -> None:
    # A board with more lines than cells is wrong in any case: the rest is dropped.
    if self._board_lines is not None and len(self._board_lines) <= self._size() ** 2:
      self._board_lines.append(line)

  def _done(self, rest: str) -> str:
    del rest
    lines, self._board_lines = self._board_lines, None
    if lines is None:
      raise ValueError("DONE without BOARD")
    position = _Position()
    for line in filter(None, lines):
      cell, is_own = protocol.parse_stone(line, self._size())
      if position.has_stone(cell):
        raise ValueError(f"{protocol.write_cell(cell, self._size())} has two stones")
      position = position.with_stone(cell, is_own=is_own)
    return self._move(position)

  def _takeback(self, rest: str) -> str:
    cell = protocol.parse_cell(rest, self._size())
    if not self._position.has_stone(cell):
      raise ValueError(f"{rest} has no stone to take back")
    self._position = self._position.without_stone(cell)
    return "OK"

  def _info(self, rest: str) -> None:
    key, _, value = rest.partition(" ")
    number = protocol.parse_number(value)
    if number is not None:
      self._clock.tell(key.lower(), number)

  def _about(self, rest: str) -> str:
    del rest
    try:
      version = importlib.metadata.version("jaxgames")
    except importlib.metadata.PackageNotFoundError:
      version = "0"
    name = " ".join(self._name.replace('"', "'").split())
    return (
      f'name="jaxgames {name}", version="{version}", author="jaxgames", country="-"'
    )

  def _end(self, rest: str) -> None:
    del rest
    self.is_ended = True

  def _move(self, position: _Position) -> str:
    """Chooses and makes a move in a position with the brain to move."""
    game, size = self._game, self._size()
    assert game is not None
    num_missing = len(position.other) - len(position.own)
    if num_missing not in (0, 1):
      raise ValueError(
        f"it is not this side's turn with {len(position.own)} own stones and "
        f"{len(position.other)} of the other"
      )
    if _is_over(game, position):
      raise ValueError("the game is over")
    begin = time.perf_counter()
    cell = self._players().choose(_state(game, position), self._clock.limit())
    self._clock.spend(time.perf_counter() - begin)
    self._position = position.with_stone(cell, is_own=True)
    return protocol.write_cell(cell, size)

  def _size(self) -> int:
    if self._game is None:
      raise ValueError("START comes first")
    return self._game.shape[0]

  def _players(self) -> clocks.TimedPlayers:
    return self._timed[self._size()]


def make_players_fn(specs: Sequence[str]) -> MakePlayers:
  """Returns a function that makes players for a board, from strong to weak.

  Args:
    specs: the players' names. A single one is followed by faster players of its kind.

  Raises:
    ValueError: if a name is wrong, whatever the size of the board.
  """
  usual = jaxgames.make("gomoku")
  # Agents may have been trained for a board of another size.
  made = {
    spec: agents.make(usual, spec) for spec in specs if not agent_names.is_agent(spec)
  }

  def make_all(game: jaxgames.LineGame) -> list[players.Player]:
    found = [
      made[spec] if game == usual and spec in made else agents.make(game, spec)
      for spec in specs
    ]
    return found if len(found) > 1 else [*found, *found[0].faster()]

  return make_all


def serve(brain: Brain, source: BinaryIO, sink: BinaryIO) -> None:
  """Answers commands until END or the end of the input.

  Args:
    brain: answers the commands.
    source: the manager's lines.
    sink: receives the answers, each flushed at once.
  """

  def say(answers: list[str]) -> None:
    for answer in answers:
      sink.write(answer.encode("ascii", errors="replace") + b"\n")
      sink.flush()

  for line in protocol.read_lines(source):
    say(brain.handle(line))
    if brain.is_ended:
      return
  say(brain.finish())


def run(make_players_fn: MakePlayers, *, name: str, seed: int) -> None:
  """Serves on standard input and output; exits quietly if the manager is gone."""
  brain = Brain(make_players_fn, name=name, seed=seed)
  try:
    serve(brain, sys.stdin.buffer, sys.stdout.buffer)
  except BrokenPipeError:
    # Python flushes standard output at exit, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_over(game: jaxgames.LineGame, position: _Position) -> bool:
  """Returns whether either side has a line, or no cell is empty."""
  if len(position.own) + len(position.other) == game.num_cells:
    return True
  return any(
    bool(_has_line(game, _words(game, stones)))
    for stones in (position.own, position.other)
  )


@functools.partial(jax.jit, static_argnums=0)
def _has_line(game: jaxgames.LineGame, stones: bits.Words) -> jax.Array:
  return game.has_line(stones)


def _words(game: jaxgames.LineGame, stones: frozenset[int]) -> bits.Words:
  return bits.constant(sum(1 << cell for cell in stones), game.num_words)


def _state(game: jaxgames.LineGame, position: _Position) -> jaxgames.State:
  """Returns a position that is not over, with the owner of `own` to move."""
  return jaxgames.State(
    own=_words(game, position.own),
    other=_words(game, position.other),
    num_moves=np.int32(len(position.own) + len(position.other)),
    winner=np.int8(0),
    is_over=np.bool_(False),
  )
