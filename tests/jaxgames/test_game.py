"""What only some boards show, and games by name; tests/contracts has the rest."""

import subprocess
import sys

import chex
from hypothesis import given
from hypothesis import strategies as st
import pytest

import jaxgames


@given(st.lists(st.integers(0, 6), max_size=42))
def test_from_moves_equals_stepping_and_stops_at_the_end(actions):
  game = jaxgames.make("connect4")
  heights, legal_so_far = [0] * 7, []
  for action in actions:
    if heights[action] == 6:
      break
    heights[action] += 1
    legal_so_far.append(action)
  state = game.init()
  for action in legal_so_far:
    if state.is_over:
      break
    state = game.step(state, action)
  else:
    chex.assert_trees_all_equal(game.from_moves(legal_so_far), state)
    return
  with pytest.raises(ValueError, match="after the end of the game"):
    game.from_moves(legal_so_far)


def test_full_column_is_named():
  game = jaxgames.make("connect4_4x4")
  state = game.from_moves([2, 2, 2, 2])
  expected = r"action 2 is not legal \(that place is full\); legal are \[0, 1, 3\]"
  with pytest.raises(ValueError, match=expected):
    game.step(state, 2)


def test_gomoku_six_in_a_row_wins_too():
  game = jaxgames.make("gomoku")
  row = [0, 1, 2, 4, 5]
  moves = [m for pair in zip(row, range(60, 65), strict=True) for m in pair]
  # White's stones 60 to 64 would make five: leave one out.
  moves[-1] = 100
  state = game.from_moves([*moves, 3])
  assert int(state.winner) == 1


@pytest.mark.parametrize(
  ("arguments", "message"),
  [
    ({"shape": (3, 3), "length": 4}, "length 4 must be at least 2 and at most 3"),
    ({"shape": (3, 3), "length": 1}, "length 1 must be at least 2"),
    ({"shape": (0, 3), "length": 3}, "at least 1, shape is"),
    ({"shape": (3, -1), "length": 3}, "at least 1, shape is"),
    ({"shape": (9,), "length": 3, "gravity": True}, "two or three axes"),
    ({"shape": (2, 2, 2, 2), "length": 2}, "two or three axes"),
  ],
)
def test_nonsense_boards_are_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    jaxgames.LineGame(**arguments)


def test_importing_touches_no_device():
  program = (
    "import jaxgames, jaxgames.arena, jaxgames.exact.solver, train.cli\n"
    "from jaxgames import networks, players\n"
    "for package in (jaxgames, networks, players):\n"
    "  [getattr(package, name) for name in package.__all__]\n"
    "from jax._src import xla_bridge\n"
    "assert not xla_bridge.backends_are_initialized()\n"
  )
  subprocess.run([sys.executable, "-c", program], check=True)
