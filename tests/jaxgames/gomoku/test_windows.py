"""Surroundings of cells as numbers, against a walk from cell to cell."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

import jaxgames
from jaxgames import lines
from jaxgames.gomoku import windows


def walk(board, cell, step, offsets):
  """Returns the number by looking at one cell after the other."""
  number = 0
  for weight, offset in enumerate(offsets):
    place = tuple(c + offset * s for c, s in zip(cell, step, strict=True))
    inside = all(0 <= p < size for p, size in zip(place, board.shape, strict=True))
    value = int(board[place]) if inside else -1
    number += 3**weight * {0: 0, 1: 1, -1: 2}[value]
  return number


@pytest.mark.parametrize("name", ["gomoku", "connect4", "ttt3d"])
@given(seed=st.integers(0, 2**32 - 1))
def test_numbers_are_what_a_walk_finds(name, seed):
  game = jaxgames.make(name)
  random = np.random.default_rng(seed)
  board = random.integers(-1, 2, game.shape).astype(np.int8)
  around = np.asarray(windows.around(game, board, 4))
  following = np.asarray(windows.following(game, board, 5))
  steps = lines.steps(game.shape, game.length)
  cells = list(itertools.product(*map(range, game.shape)))
  for index in random.integers(0, game.num_cells, 10):
    for direction, step in enumerate(steps):
      near = [-4, -3, -2, -1, 1, 2, 3, 4]
      expected = walk(board, cells[index], step, near)
      assert around[index, direction] == expected
      expected = walk(board, cells[index], step, range(5))
      assert following[index, direction] == expected


def test_digits_are_those_of_the_number():
  table = windows.digits(4)
  assert table.shape == (81, 4)
  assert (table @ 3 ** np.arange(4) == np.arange(81)).all()
