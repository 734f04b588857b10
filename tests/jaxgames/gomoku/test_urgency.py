"""How urgent cells are, on random boards and against counting by hand."""

import numpy as np

import jaxgames
from jaxgames.gomoku import urgency
from tests.support import quick

GAME = jaxgames.LineGame(shape=(9, 9), length=5)


@quick.jit
def read(board):
  return urgency.read(GAME, board)


def random_boards(num: int) -> np.ndarray:
  generator = np.random.default_rng(0)
  return generator.choice([0, 0, 1, -1], (num, *GAME.shape)).astype(np.int8)


def test_cells_with_stones_are_never_urgent():
  for board in random_boards(20):
    ranks = np.asarray(urgency.rank(read(board).urgency))
    np.testing.assert_array_equal(ranks < urgency.QUIET, board.ravel() != 0)


def test_fives_are_found_and_stopped():
  num_found = 0
  for board in random_boards(20):
    ranks = np.asarray(urgency.rank(read(board).urgency))
    for cell in np.flatnonzero(board.ravel() == 0):
      completes = dict.fromkeys((1, -1), False)
      for stone in completes:
        after = board.ravel().copy()
        after[cell] = stone
        through = GAME.lines[(GAME.lines == cell).any(axis=1)]
        completes[stone] = (after[through] == stone).all(axis=1).any()
      assert (ranks[cell] == urgency.FIVE) == completes[1]
      is_stop = completes[-1] and not completes[1]
      assert (ranks[cell] == urgency.STOP_FIVE) == is_stop
      num_found += sum(completes.values())
  assert num_found > 10


def test_what_one_side_takes_the_other_stops():
  pairs = {
    urgency.FIVE: urgency.STOP_FIVE,
    urgency.FOUR: urgency.STOP_FOUR,
    urgency.FORK: urgency.STOP_FORK,
  }
  for board in random_boards(20):
    ours, theirs = (urgency.rank(read(b).urgency) for b in (board, -board))
    for rank, stop in pairs.items():
      is_ours = np.asarray(ours) == rank
      # At least that: the cell may be good for something better of their own.
      assert (np.asarray(theirs)[is_ours] >= stop).all()


def test_balance_is_for_the_side_with_better_shapes():
  board = np.zeros(GAME.shape, np.int8)
  assert read(board).balance == 0
  board[4, 3:6] = 1
  board[0, 0], board[8, 8] = -1, -1
  assert read(board).balance > 0
  for other in random_boards(5):
    assert read(other).balance == -read(-other).balance
    assert abs(read(other).balance) < 0.25


def test_shapes_are_worth_the_sum_of_their_directions():
  # Beside a lone stone: an open two is worth 4, and an open one 2 in each of the other
  # directions. To the other side the row's four cells right of the stone are worthless.
  board = np.zeros(GAME.shape, np.int8)
  board[4, 4] = 1
  score = int(read(board).urgency[4 * 9 + 5]) % 2**urgency.SCORE_BITS
  assert score == (4 + 3 * 2) + (0 + 3 * 2)
