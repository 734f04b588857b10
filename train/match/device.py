"""Matches between two compiled players: many games at once, on the device."""

import jax
import numpy as np
import rich.console

from jaxgames import arena
from jaxgames import players
from jaxgames import randomness
from train.match import result
from train.run import memory

__all__ = ["play"]

# Longer matches are played in batches, so that there is progress to show and a tree
# search for every game fits into memory. Even, so that colours keep alternating.
MOST_AT_ONCE = 2000

# Games are numbered in 32 bits.
MOST_GAMES = 2_000_000_000


def play(
  player_a: players.Player,
  player_b: players.Player,
  *,
  num_games: int,
  seed: int,
  console: rich.console.Console,
) -> result.MatchResult:
  """Plays a match, in batches of `MOST_AT_ONCE` games.

  Args:
    player_a: the player whose results are returned.
    player_b: its opponent.
    num_games: the number of games.
    seed: the seed of all randomness.
    console: shows progress if it is a terminal.

  Raises:
    ValueError: if there is no game to play.
  """
  if num_games < 1:
    raise ValueError(f"a match has at least one game, not {num_games}")
  if num_games > MOST_GAMES:
    raise ValueError(f"a match has at most {MOST_GAMES:,} games, not {num_games:,}")
  memory.check_match((player_a, player_b), min(num_games, MOST_AT_ONCE))
  total = None
  with result.progress_bar(console) as progress:
    task = progress.add_task("playing", total=num_games)
    for batch, first in enumerate(range(0, num_games, MOST_AT_ONCE)):
      score = arena.play_match(
        player_a,
        player_b,
        jax.random.fold_in(randomness.key(seed), batch),
        num_games=min(MOST_AT_ONCE, num_games - first),
        first_number=np.int32(first),
      )
      # Added up on the host, where integers do not overflow.
      score = jax.tree.map(lambda x: np.asarray(x, np.int64), score)
      total = score if total is None else total + score
      progress.update(task, completed=min(first + MOST_AT_ONCE, num_games))
  assert total is not None
  wins, draws, losses = (
    tuple(map(int, sides)) for sides in (total.wins, total.draws, total.losses)
  )
  return result.MatchResult(wins, draws, losses)
