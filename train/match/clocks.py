"""Players from strong to weak, and the one that answers in time."""

from collections.abc import Sequence
import dataclasses
import time

import chex
import jax

from jaxgames import game as game_lib
from jaxgames import players
from train.match import host_player

__all__ = ["TimedPlayers"]

# A move may take this many times as long as the longest so far, and these seconds more.
SAFETY_FACTOR = 1.5
SAFETY_SECONDS = 0.02

# How often moves are timed before the first game, while they are quick: on the empty
# board, where rollouts are longest, and on one where much is near stones.
NUM_TIMED = 2
QUICK_SECONDS = 0.5


@dataclasses.dataclass
class _Rung:
  """A player and the longest that a move of it has taken, in seconds."""

  seat: host_player.Seat
  worst: float = 0.0

  def choose(self, state: game_lib.State) -> int:
    begin = time.perf_counter()
    action = self.seat.choose(state)
    self.worst = max(self.worst, time.perf_counter() - begin)
    return action


class TimedPlayers:
  """Plays as the first of some players that is fast enough.

  A player is a compiled function with a fixed amount of thinking, so a limit is kept
  by choosing among players whose times are known.
  """

  def __init__(self, some_players: Sequence[players.Player], key: chex.PRNGKey):
    """Compiles all players and measures how long they take.

    Args:
      some_players: from strong to weak, at least one.
      key: consumed.
    """
    keys = jax.random.split(key, len(some_players))
    self._rungs = [
      _Rung(host_player.Seat(player, key))
      for player, key in zip(some_players, keys, strict=True)
    ]
    for rung in self._rungs:
      game = rung.seat.player.game
      rung.seat.choose(game.init())
      for state in (game.init(), _crowded(game)) * NUM_TIMED:
        rung.choose(state)
        if rung.worst > QUICK_SECONDS:
          break

  @property
  def seconds(self) -> list[float]:
    """The longest that a move of each player has taken."""
    return [rung.worst for rung in self._rungs]

  def begin(self, game_number: int) -> None:
    """Begins a new game."""
    for rung in self._rungs:
      rung.seat.begin(game_number)

  def pick(self, limit: float) -> int:
    """Returns the number of the player to ask; if none fits, that of the fastest.

    Args:
      limit: seconds that the move may take.
    """
    for number, worst in enumerate(self.seconds):
      if worst * SAFETY_FACTOR + SAFETY_SECONDS <= limit:
        return number
    return self.seconds.index(min(self.seconds))

  def choose(self, state: game_lib.State, limit: float) -> int:
    """Returns a legal action within some seconds, if any player can."""
    return self._rungs[self.pick(limit)].choose(state)


def _crowded(game: game_lib.LineGame) -> game_lib.State:
  """Returns a position with a stone in every second place, so that none is a line."""
  rows, columns = game.shape
  cells = [
    row * columns + column
    for row in range(0, rows, 2)
    for column in range(0, columns, 2)
  ]
  return game.from_moves(cells[: len(cells) // 2 * 2])
