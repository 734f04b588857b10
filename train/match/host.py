"""Matches played move by move on the host, so that external engines can take part."""

from collections.abc import Callable, Iterator, Sequence
import contextlib
import pathlib
import signal
import threading
from types import FrameType

import numpy as np
import rich.console

import jaxgames
from train.match import host_player
from train.match import openings as openings_lib
from train.match import record as record_lib
from train.match import result
from train.match import tally as tally_lib
from train.match import watching

__all__ = ["MakeHostPlayer", "play", "play_game"]

MakeHostPlayer = Callable[[], host_player.HostPlayer]


def play(
  game: jaxgames.LineGame,
  make_a_fn: MakeHostPlayer,
  make_b_fn: MakeHostPlayer,
  *,
  num_games: int,
  console: rich.console.Console,
  num_opening: int = 0,
  seed: int = 0,
  record: pathlib.Path | None = None,
) -> result.MatchResult:
  """Plays a match; the players take turns in moving first, and are always closed.

  Args:
    game: the rules.
    make_a_fn: makes the player whose results are returned.
    make_b_fn: makes its opponent.
    num_games: the number of games.
    console: where progress is shown.
    num_opening: the plies of random openings, each played with both sides.
    seed: the seed of the openings.
    record: a file to which each game is written as a line as soon as it is over.

  Raises:
    ValueError: if there is no game to play, a player cannot play this game, there are
      no such openings, or the record cannot be written.
  """
  if num_games < 1:
    raise ValueError(f"a match has at least one game, not {num_games}")
  openings = openings_lib.draw(
    game, num_openings=-(-num_games // 2), num_plies=num_opening, seed=seed
  )
  tally = tally_lib.Tally(num_opening=num_opening, can_forfeit=True)
  with contextlib.ExitStack() as stack:
    stack.enter_context(_sigterm_as_exit())
    player_a = stack.enter_context(contextlib.closing(make_a_fn()))
    player_b = stack.enter_context(contextlib.closing(make_b_fn()))
    write_fn = stack.enter_context(record_lib.writing(record, game))
    watch = stack.enter_context(watching.Watch(console, num_games))
    watch.played(0)
    for number in range(num_games):
      opening = openings[number // 2].tolist()
      finished = play_game(game, (player_a, player_b), number, opening)
      tally.add(finished)
      if write_fn is not None:
        write_fn(finished)
      watch.played(number + 1)
  return tally.result()


def play_game(
  game: jaxgames.LineGame,
  both: tuple[host_player.HostPlayer, host_player.HostPlayer],
  number: int,
  opening: Sequence[int] = (),
) -> record_lib.GameRecord:
  """Plays one game; a player that fails or makes an illegal move loses it.

  Args:
    game: the rules.
    both: players A and B.
    number: the number of the game in the match; A moves first if it is even.
    opening: legal moves that are made before either player is asked.
  """
  state, actions = game.from_moves(opening), list(opening)
  player, forfeit = 0, None
  try:
    for player in (0, 1):
      both[player].begin(number)
    while not state.is_over:
      player = (number + len(actions)) % 2
      action = both[player].choose(state, tuple(actions))
      state = _step(game, state, action)
      actions.append(action)
  except host_player.ForfeitError as error:
    forfeit = record_lib.Forfeit(number, "AB"[player], str(error))
    winner = (-1, 1)[player]
  else:
    winner = (1, -1)[number % 2] * int(state.winner)
  return record_lib.GameRecord(number, tuple(actions), winner, forfeit, len(opening))


def _step(
  game: jaxgames.LineGame, state: jaxgames.State, action: int
) -> jaxgames.State:
  try:
    return game.step(state, np.int32(action))
  except ValueError:
    raise host_player.ForfeitError(f"its move {action} is not legal") from None


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
