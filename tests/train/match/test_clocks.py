"""Players of known times, and which of them is asked."""

import jax

import jaxgames
from tests.support import simple_players
from train.match import clocks


def test_compilation_is_not_timed():
  player = simple_players.Counted(
    jaxgames.make("gomoku:size=5"), traces=simple_players.Tally(seconds=2)
  )
  assert clocks.TimedPlayers([player], jax.random.key(0)).seconds[0] < 1
  assert player.traces.count == 1


def timed_players(*seconds):
  game = jaxgames.make("gomoku:size=5")
  found = clocks.TimedPlayers(
    [simple_players.FirstLegal(game) for _ in seconds], jax.random.key(0)
  )
  for timed, worst in zip(found._players, seconds, strict=True):
    timed.worst = worst
  return found


def test_the_first_player_in_time_is_asked():
  found = timed_players(1.0, 0.2, 0.01)
  assert [found.pick(limit) for limit in (60, 2, 1.1, 0.5, 0.1, 0.001, 0)] == [
    0, 0, 1, 1, 2, 2, 2
  ]  # fmt: skip
  # The fastest need not be the last.
  assert timed_players(1.0, 0.01, 0.2).pick(0) == 1


def test_a_slow_move_is_remembered():
  found = timed_players(0.0, 0.0)
  found.choose(jaxgames.make("gomoku:size=5").init(), 10)
  assert found.seconds[0] > 0
  assert found.seconds[1] == 0
