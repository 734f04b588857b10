"""The geometry of boards."""

import numpy as np
import pytest

import jaxgames
from jaxgames import lines


@pytest.mark.parametrize(
  ("name", "num_lines"),
  [
    ("tictactoe", 8),
    ("connect4_4x4", 10),
    ("connect4", 69),
    ("ttt3d", 76),
    ("gomoku", 572),
  ],
)
def test_number_of_lines(name, num_lines):
  assert len(jaxgames.make(name).lines) == num_lines


@pytest.mark.parametrize(
  ("name", "num_symmetries"),
  [
    ("tictactoe", 8),
    ("connect4_4x4", 2),
    ("connect4", 2),
    ("ttt3d", 8),
    ("gomoku", 8),
  ],
)
def test_number_of_symmetries(name, num_symmetries):
  game = jaxgames.make(name)
  assert game.symmetries.shape == (num_symmetries, game.num_cells)
  assert len(np.unique(game.symmetries, axis=0)) == num_symmetries
  assert game.action_symmetries.shape == (num_symmetries, game.num_actions)
  np.testing.assert_array_equal(game.symmetries[0], np.arange(game.num_cells))


def test_cube_without_gravity_has_48_symmetries():
  assert len(lines.cell_symmetries((4, 4, 4), gravity=False)) == 48


def test_rectangle_has_4_symmetries():
  assert len(lines.cell_symmetries((3, 5), gravity=False)) == 4


def test_lines_of_tictactoe_come_rows_columns_diagonals():
  expected = [
    [0, 1, 2], [3, 4, 5], [6, 7, 8],
    [0, 3, 6], [1, 4, 7], [2, 5, 8],
    [2, 4, 6], [0, 4, 8],
  ]  # fmt: skip
  assert lines.winning_lines((3, 3), 3).tolist() == expected


@pytest.mark.parametrize("name", jaxgames.GAMES)
def test_lines_are_straight_and_distinct(name):
  game = jaxgames.make(name)
  places = np.stack(np.unravel_index(game.lines, game.shape), axis=-1)
  steps = np.diff(places, axis=1)
  assert (steps == steps[:, :1]).all()
  assert (np.abs(steps).max(axis=-1) == 1).all()
  assert len({frozenset(line) for line in game.lines.tolist()}) == len(game.lines)


@pytest.mark.parametrize("name", jaxgames.GAMES)
def test_symmetries_map_lines_onto_lines(name):
  game = jaxgames.make(name)
  every_line = {frozenset(line) for line in game.lines.tolist()}
  for symmetry in game.symmetries:
    assert {frozenset(line) for line in symmetry[game.lines].tolist()} == every_line


@pytest.mark.parametrize("name", jaxgames.GAMES)
def test_lines_through_a_cell_are_those_that_contain_it(name):
  game = jaxgames.make(name)
  table = lines.lines_through(game.shape, game.length)
  for cell, numbers in enumerate(table):
    expected = np.flatnonzero((game.lines == cell).any(axis=1))
    assert numbers[numbers >= 0].tolist() == expected.tolist()


def test_ttt3d_cells_have_4_or_7_lines():
  counts = (lines.lines_through((4, 4, 4), 4) >= 0).sum(axis=1)
  assert sorted(set(counts.tolist())) == [4, 7]


def test_tables_cannot_be_changed_by_a_caller():
  with pytest.raises(ValueError, match="read-only"):
    lines.winning_lines((3, 3), 3)[0, 0] = 5
