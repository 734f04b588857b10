"""Counts of shapes, against a scan of the board cell by cell."""

import functools

from hypothesis import given
from hypothesis import strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.gomoku import shapes

GOMOKU = jaxgames.make("gomoku")
CLASSIC = shapes.SHAPES


def scan(board, drawing):
  """Counts a shape by drawing every line of the board as text."""
  rows, columns = board.shape
  letters = np.array(["O", "_", "X"])[np.asarray(board) + 1]
  lines = [letters[i] for i in range(rows)] + [letters[:, j] for j in range(columns)]
  for turned in (letters, letters[:, ::-1]):
    lines += [turned.diagonal(k) for k in range(1 - rows, columns)]
  found = 0
  for line in map("".join, lines):
    for start in range(len(line)):
      window = line[start : start + len(drawing)]
      found += window in (drawing, drawing[::-1])
  return found


def naive(board, drawings):
  return [scan(board, drawing) for drawing in drawings]


@functools.partial(jax.jit, static_argnums=0)
def count(drawings, board):
  return shapes.count(GOMOKU, drawings, board)


@functools.partial(jax.jit, static_argnums=0)
def count_after(drawings, counts, board, cells):
  near = shapes.surroundings(GOMOKU, board)[cells]
  return counts[None] + shapes.count_differences(drawings, near)


def random_board(seed):
  """Returns a board with few or many stones, some in clusters."""
  random = np.random.default_rng(seed)
  share = random.uniform(0.02, 0.6)
  corner, size = random.integers(0, 8, 2), random.integers(5, 16)
  board = np.zeros((15, 15), np.int8)
  area = board[corner[0] : corner[0] + size, corner[1] : corner[1] + size]
  is_stone = random.random(area.shape) < share
  area[is_stone] = random.choice(np.array([-1, 1], np.int8), is_stone.sum())
  return board


def test_the_classic_list_has_what_the_paper_says():
  assert len(CLASSIC) == len(set(CLASSIC)) == 20
  assert {len(drawing) for drawing in CLASSIC} == {5, 6}
  assert not any(a == b[::-1] for a in CLASSIC for b in CLASSIC if a != b)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("drawing", CLASSIC)
def test_each_shape_is_found_in_all_directions(drawing, mirrored):
  line = [{"X": 1, "_": 0}[letter] for letter in drawing[:: -1 if mirrored else 1]]
  for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
    board = np.zeros((15, 15), np.int8)
    for i in range(-1, len(line) + 1):
      # The other side's stones at both ends: no other shape is as long.
      value = line[i] if 0 <= i < len(line) else -1
      board[4 + i * down, 7 + i * right] = value
    found = np.asarray(count(CLASSIC, board))
    assert found[CLASSIC.index(drawing)] == 1
    assert found.tolist() == naive(board, CLASSIC)


def test_the_edge_closes_a_shape():
  board = np.zeros((15, 15), np.int8)
  board[0, 0:4] = 1
  found = dict(zip(CLASSIC, np.asarray(count(CLASSIC, board)).tolist(), strict=True))
  assert found["XXXX_"] == 1
  assert found["_XXXX_"] == 0


@given(seed=st.integers(0, 2**32 - 1))
def test_counts_are_those_of_a_scan(seed):
  board = random_board(seed)
  drawings = shapes.SHAPES
  assert np.asarray(count(drawings, board)).tolist() == naive(board, drawings)


@given(seed=st.integers(0, 2**32 - 1))
def test_counts_after_a_stone_are_those_of_the_new_board(seed):
  board, drawings = random_board(seed), shapes.SHAPES
  empty = np.flatnonzero(board.ravel() == 0)
  cells = np.random.default_rng(seed).choice(empty, 8).astype(np.int32)
  counts = jnp.stack([count(drawings, board), count(drawings, -board)])
  found = np.asarray(count_after(drawings, counts, board, cells))
  for cell, (own, other) in zip(cells, found, strict=True):
    after = board.copy()
    after.ravel()[cell] = 1
    assert own.tolist() == naive(after, drawings)
    assert other.tolist() == naive(-after, drawings)
