"""Play within a time limit: picks the strongest of several players that is in time."""

from collections.abc import Sequence
import dataclasses
import time

import chex
import jax

from jaxgames import game as game_lib
from jaxgames import players
from train.match import host_player

__all__ = ["TimedPlayers"]

# A move is expected to take at most this factor times the longest so far, plus these
# seconds.
SAFETY_FACTOR = 1.5
SAFETY_SECONDS = 0.02

# Each player is timed this often before the first game, unless a move is slow: on the
# empty board, where rollouts are longest, and on a board full of stones.
NUM_TIMED = 2
QUICK_SECONDS = 0.5


@dataclasses.dataclass
class _TimedPlayer:
  """A player and the longest time of one of its moves, in seconds."""

  player: host_player.CompiledPlayer
  worst: float = 0.0

  def choose(self, state: game_lib.State) -> int:
    begin = time.perf_counter()
    action = self.player.choose(state)
    self.worst = max(self.worst, time.perf_counter() - begin)
    return action


class TimedPlayers:
  """Plays as the first of several players that is fast enough.

  A player is a compiled function with a fixed amount of work, so a time limit is kept
  by choosing among players of known times.
  """

  def __init__(self, some_players: Sequence[players.Player], key: chex.PRNGKey):
    """Compiles and times all players.

    Args:
      some_players: at least one, from strong to weak.
      key: consumed.
    """
    keys = jax.random.split(key, len(some_players))
    self._players = [
      _TimedPlayer(host_player.CompiledPlayer(player, key))
      for player, key in zip(some_players, keys, strict=True)
    ]
    for timed in self._players:
      game = timed.player.player.game
      timed.player.choose(game.init())  # Compiles, so it is not timed.
      for state in (game.init(), _crowded(game)) * NUM_TIMED:
        timed.choose(state)
        if timed.worst > QUICK_SECONDS:
          break

  @property
  def seconds(self) -> list[float]:
    """The longest time of a move, for each player."""
    return [timed.worst for timed in self._players]

  def begin(self, game_number: int) -> None:
    """Begins a new game."""
    for timed in self._players:
      timed.player.begin(game_number)

  def pick(self, limit: float) -> int:
    """Returns the index of the player to ask; of the fastest if none is in time.

    Args:
      limit: the seconds that the move may take.
    """
    for number, worst in enumerate(self.seconds):
      if worst * SAFETY_FACTOR + SAFETY_SECONDS <= limit:
        return number
    return self.seconds.index(min(self.seconds))

  def choose(self, state: game_lib.State, limit: float) -> int:
    """Returns a legal action within `limit` seconds, if any player can."""
    return self._players[self.pick(limit)].choose(state)


def _crowded(game: game_lib.LineGame) -> game_lib.State:
  """Returns a position with stones on every other cell, so that there is no line."""
  rows, columns = game.shape
  cells = [
    row * columns + column
    for row in range(0, rows, 2)
    for column in range(0, columns, 2)
  ]
  return game.from_moves(cells[: len(cells) // 2 * 2])
