"""Tables of patterns: what they see, and which lines share them."""

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import networks
from tests.support import positions
from tests.support import value_networks


def read_digit(game, board, cell):
  """Returns how a person sees a cell."""
  below = cell - game.num_actions
  stands = not game.gravity or below < 0 or board[below] != 0
  empty = 3 if stands else 0
  return {0: empty, 1: 1, -1: 2}[int(board[cell])]


def read_pattern(game, board, line):
  """Returns the digits of a line as a person sees them."""
  digits = [read_digit(game, board, cell) for cell in line]
  return sum(digit * 4**place for place, digit in enumerate(digits))


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4_4x4", "ttt3d"])
def test_patterns_tell_playable_cells_from_others(game_name):
  game = jaxgames.make(game_name)
  network = value_networks.make(game, "patterns_all", steepness=0.05)
  states = positions.random_positions(game, 12, seed=3)
  boards = positions.see(game, states).observation.reshape(12, -1)
  params = value_networks.init(network, randomized=True)
  table = np.asarray(params["params"]["sums"]["table"])[:, 0]
  values = np.asarray(value_networks.apply(network, params, boards))
  for board, value in zip(boards, values, strict=True):
    worth = sum(table[read_pattern(game, board, line)] for line in game.lines)
    np.testing.assert_allclose(value, np.tanh(0.05 * worth), atol=1e-5)


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4", "ttt3d"])
def test_symmetric_boards_have_the_same_value_where_symmetric_lines_share(game_name):
  game = jaxgames.make(game_name)
  network = value_networks.make(game, "patterns_symmetry", steepness=0.05)
  states = positions.random_positions(game, 6, seed=4)
  boards = positions.see(game, states).observation.reshape(6, -1)
  params = value_networks.init(network, randomized=True)
  # A line that a symmetry maps onto itself backwards is read in one of two directions:
  # the same only if a pattern and its mirror image are worth the same.
  params = jax.tree.map(lambda x: mirrored(game, np.asarray(x)), params)
  values = value_networks.apply(network, params, boards)
  for symmetry in game.symmetries:
    image = value_networks.apply(network, params, boards[:, symmetry])
    np.testing.assert_allclose(image, values, atol=1e-5)


def mirrored(game, table):
  """Returns a table in which patterns are worth what their mirror images are."""
  by_place = table.reshape(-1, *[4] * game.length, table.shape[-1])
  places = tuple(range(1, game.length + 1))
  flipped = by_place.transpose(0, *places[::-1], game.length + 1)
  return (by_place + flipped).reshape(table.shape)


# Four cells, each seen in one of four ways: 256 patterns, 35 whatever their order.
@pytest.mark.parametrize(
  ("name", "num_weights"),
  [
    ("patterns_none", 76 * 256),
    ("patterns_symmetry", 18 * 256),
    ("patterns_all", 256),
    ("patterns_counts", 35),
    ("patterns_of_sides", 2 * (35 + 18 * 256)),
  ],
)
def test_tables_are_shared_as_said(name, num_weights):
  network = value_networks.make(jaxgames.make("ttt3d"), name)
  assert networks.num_weights(network) == num_weights
