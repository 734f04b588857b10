"""Matches between two compiled players: many games at once, on the device."""

from collections.abc import Iterator
import pathlib
import time
from typing import Any

import jax
import numpy as np
import rich.console

from jaxgames import arena
from jaxgames import players
from jaxgames import randomness
from train.match import openings as openings_lib
from train.match import record as record_lib
from train.match import result
from train.match import tally as tally_lib
from train.match import watching
from train.run import memory

__all__ = ["play"]

# Longer matches are played in batches, so that a tree search for every game fits into
# memory.
MOST_AT_ONCE = 2000

# Games are numbered in 32 bits.
MOST_GAMES = 2_000_000_000

# The host looks at the games about this often, to show progress and to be interrupted.
# How long a look takes makes no difference to the games.
SECONDS_BETWEEN_LOOKS = 1.0


def play(
  player_a: players.Player,
  player_b: players.Player,
  *,
  num_games: int,
  seed: int,
  console: rich.console.Console,
  num_opening: int = 0,
  record: pathlib.Path | None = None,
) -> result.MatchResult:
  """Plays a match, in equal batches of at most about `MOST_AT_ONCE` games.

  Args:
    player_a: the player whose results are returned.
    player_b: its opponent.
    num_games: the number of games.
    seed: the seed of all randomness.
    console: where progress is shown.
    num_opening: the plies of random openings, each played with both sides.
    record: a file to which each game is written as a line.

  Raises:
    ValueError: if there is no game to play, there are no such openings, or the record
      cannot be written.
  """
  if num_games < 1:
    raise ValueError(f"a match has at least one game, not {num_games}")
  if num_games > MOST_GAMES:
    raise ValueError(f"a match has at most {MOST_GAMES:,} games, not {num_games:,}")
  memory.check_match((player_a, player_b), min(num_games, MOST_AT_ONCE))
  game = player_a.game
  num_batches = -(-num_games // MOST_AT_ONCE)
  # Equal ones, so that one program serves all; the last may have games that do not count.
  num_pairs = -(-num_games // (2 * num_batches))
  openings = openings_lib.draw(
    game, num_openings=num_batches * num_pairs, num_plies=num_opening, seed=seed
  )
  tally = tally_lib.Tally(num_opening=num_opening)
  with (
    record_lib.writing(record, game) as write_fn,
    watching.Watch(console, num_games) as watch,
  ):
    for batch in range(num_batches):
      first = 2 * batch * num_pairs
      games = arena.begin_games(
        player_a,
        player_b,
        openings[batch * num_pairs : (batch + 1) * num_pairs],
        jax.random.fold_in(randomness.key(seed), batch),
        first_number=np.int32(first),
      )
      games = _finish(player_a, player_b, games, first, watch)
      for finished in _records(games, num_games, num_opening):
        tally.add(finished)
        if write_fn is not None:
          write_fn(finished)
  return tally.result()


def _finish(
  player_a: players.Player,
  player_b: players.Player,
  games: arena.Games,
  num_before: int,
  watch: watching.Watch,
) -> arena.Games:
  """Plays games to their end, with a look at them now and then.

  Args:
    player_a: one player.
    player_b: the other.
    games: to be finished.
    num_before: how many games of the match are over already.
    watch: shows them.
  """
  # The first call plays nothing: it compiles, which the watch is to tell from a move.
  num_plies = 0
  while True:
    begin = time.monotonic()
    games = jax.block_until_ready(
      arena.advance_games(player_a, player_b, games, np.int32(num_plies))
    )
    groups = (games.turn_a, games.turn_b)
    is_over = np.concatenate([np.asarray(group.state.is_over) for group in groups])
    num_moves = np.concatenate([np.asarray(group.state.num_moves) for group in groups])
    num_over = int(is_over.sum())
    share = _worth(num_moves, is_over)
    watch.played(num_before + num_over, ply=int(num_moves.max()), share=share)
    if num_over == len(is_over):
      return games
    if num_plies == 0:
      num_plies = 1
    elif time.monotonic() - begin < SECONDS_BETWEEN_LOOKS / 2:
      num_plies *= 2


def _worth(num_moves: np.ndarray, is_over: np.ndarray) -> float:
  """Returns how many games the moves of those in progress are worth, about."""
  if not is_over.any():
    return 0.0  # Nobody knows how long they are.
  usual = num_moves[is_over].mean()
  # A game that is longer than others may be over with the next move.
  return float((num_moves[~is_over] / (num_moves[~is_over] + usual)).sum())


def _records(
  games: arena.Games, num_games: int, num_opening: int
) -> Iterator[record_lib.GameRecord]:
  """Yields finished games in the order of their numbers, below that of all games."""
  groups = [jax.tree.map(np.asarray, group) for group in (games.turn_a, games.turn_b)]
  joined = jax.tree.map(lambda *leaves: np.concatenate(leaves), *map(_facts, groups))
  numbers, winners, num_moves, actions = joined
  for place in np.argsort(numbers):
    number = int(numbers[place])
    if number < num_games:
      yield record_lib.GameRecord(
        number,
        tuple(actions[place, : num_moves[place]].tolist()),
        (1, -1)[number % 2] * int(winners[place]),
        num_opening=num_opening,
      )


def _facts(group: arena.Group) -> tuple[Any, ...]:
  return group.number, group.state.winner, group.state.num_moves, group.actions
