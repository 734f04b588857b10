"""Matches played move by move on the host, so that external engines can take part."""

from collections.abc import Callable, Iterator
import contextlib
import dataclasses
import os
import pathlib
import signal
import threading
from types import FrameType
from typing import TextIO

import numpy as np
import rich.console

import jaxgames
from jaxgames.display import notation
from train.match import host_player
from train.match import result

__all__ = ["GameRecord", "MakeHostPlayer", "play", "play_game"]

MakeHostPlayer = Callable[[], host_player.HostPlayer]


@dataclasses.dataclass(frozen=True)
class GameRecord:
  """A finished game.

  Attributes:
    number: the number of the game in the match, from 0; A moves first if it is even.
    actions: the moves.
    winner: 1 for A, -1 for B, 0 for a draw.
    forfeit: the forfeit, if the game was not decided on the board.
  """

  number: int
  actions: tuple[int, ...]
  winner: int
  forfeit: result.Forfeit | None = None

  def as_text(self, game: jaxgames.LineGame) -> str:
    """Returns the game on one line: the player that began, the result, the moves."""
    outcome = {1: "A wins", 0: "draw", -1: "B wins"}[self.winner]
    if self.forfeit is not None:
      outcome += " by forfeit"
    moves = " ".join(notation.action_name(game, action) for action in self.actions)
    return f"game {self.number}: {'AB'[self.number % 2]} begins, {outcome}: {moves}"


def play(
  game: jaxgames.LineGame,
  make_a_fn: MakeHostPlayer,
  make_b_fn: MakeHostPlayer,
  *,
  num_games: int,
  console: rich.console.Console,
  record: pathlib.Path | None = None,
) -> result.MatchResult:
  """Plays a match; the players take turns in moving first, and are always closed.

  Args:
    game: the rules.
    make_a_fn: makes the player whose results are returned.
    make_b_fn: makes its opponent.
    num_games: the number of games.
    console: shows progress if it is a terminal.
    record: a file to which each game is written as a line as soon as it is over.

  Raises:
    ValueError: if there is no game to play, a player cannot play this game, or the
      record cannot be written.
  """
  if num_games < 1:
    raise ValueError(f"a match has at least one game, not {num_games}")
  records = []
  with contextlib.ExitStack() as stack:
    stack.enter_context(_sigterm_as_exit())
    player_a = stack.enter_context(contextlib.closing(make_a_fn()))
    player_b = stack.enter_context(contextlib.closing(make_b_fn()))
    file = None if record is None else stack.enter_context(_open(record))
    progress = stack.enter_context(result.progress_bar(console))
    task = progress.add_task("playing", total=num_games)
    for number in range(num_games):
      records.append(play_game(game, (player_a, player_b), number))
      if file is not None:
        print(records[-1].as_text(game), file=file, flush=True)
      progress.update(task, completed=number + 1)
  return _add_up(records)


def play_game(
  game: jaxgames.LineGame,
  both: tuple[host_player.HostPlayer, host_player.HostPlayer],
  number: int,
) -> GameRecord:
  """Plays one game; a player that fails or makes an illegal move loses it.

  Args:
    game: the rules.
    both: players A and B.
    number: the number of the game in the match; A moves first if it is even.
  """
  state, actions = game.init(), list[int]()
  player = 0
  try:
    for player in (0, 1):
      both[player].begin(number)
    while not state.is_over:
      player = (number + len(actions)) % 2
      action = both[player].choose(state, tuple(actions))
      state = _step(game, state, action)
      actions.append(action)
  except host_player.ForfeitError as error:
    forfeit = result.Forfeit(number, "AB"[player], str(error))
    return GameRecord(number, tuple(actions), (-1, 1)[player], forfeit)
  sign = 1 if number % 2 == 0 else -1
  return GameRecord(number, tuple(actions), sign * int(state.winner))


def _open(path: pathlib.Path) -> TextIO:
  try:
    return open(path, "w", encoding="utf-8", opener=_open_at_once)
  except OSError as error:
    raise ValueError(f"cannot write {path}: {error.strerror}") from error


def _open_at_once(path: str, flags: int) -> int:
  """Opens a file, and does not wait for who reads a pipe: there must be one."""
  file = os.open(path, flags | os.O_NONBLOCK, 0o666)
  os.set_blocking(file, True)
  return file


def _step(
  game: jaxgames.LineGame, state: jaxgames.State, action: int
) -> jaxgames.State:
  try:
    return game.step(state, np.int32(action))
  except ValueError:
    raise host_player.ForfeitError(f"its move {action} is not legal") from None


def _add_up(records: list[GameRecord]) -> result.MatchResult:
  wins, draws, losses = (
    tuple(
      sum(record.winner == winner for record in records[side::2]) for side in (0, 1)
    )
    for winner in (1, 0, -1)
  )
  forfeits = [record.forfeit for record in records if record.forfeit is not None]
  return result.MatchResult(wins, draws, losses, tuple(forfeits))


@contextlib.contextmanager
def _sigterm_as_exit() -> Iterator[None]:
  """Turns SIGTERM into an exception, as Ctrl-C is one, so that engines are stopped."""

  def leave(number: int, frame: FrameType | None) -> None:
    del frame
    raise SystemExit(128 + number)

  if threading.current_thread() is not threading.main_thread():
    yield  # Only the main thread may set signal handlers.
    return
  before = signal.signal(signal.SIGTERM, leave)
  try:
    yield
  finally:
    signal.signal(signal.SIGTERM, before)
