"""Solved games, against plain minimax."""

import numpy as np

import jaxgames
from jaxgames.exact import graph
from jaxgames.exact import numbering
from jaxgames.exact import solver
from tests.support import positions


def minimax(game, board, mover, memo):
  """Returns the value of a tic-tac-toe board for the player to move, plainly."""
  key = (tuple(board), mover)
  if key not in memo:
    sums = [sum(board[c] for c in line) for line in game.lines.tolist()]
    if -3 * mover in sums:
      memo[key] = -1
    elif 0 not in board:
      memo[key] = 0
    else:
      replies = []
      for cell in range(9):
        if board[cell] == 0:
          board[cell] = mover
          replies.append(-minimax(game, board, -mover, memo))
          board[cell] = 0
      memo[key] = max(replies)
  return memo[key]


def test_scores_agree_with_plain_minimax():
  game = jaxgames.make("tictactoe")
  solution = solver.solve(game)
  memo = {}
  positions_of = graph.of(game)
  boards = positions.see(game, positions_of.states).board.reshape(-1, 9)
  scores = solution.score[positions_of.numbers]
  for board, score in zip(boards[::11], scores[::11], strict=True):
    mover = 1 if (board != 0).sum() % 2 == 0 else -1
    assert np.sign(score) == minimax(game, board.astype(int).tolist(), mover, memo)


def test_wins_come_soon_and_losses_late():
  game = jaxgames.make("tictactoe")
  solution = solver.solve(game)

  def score_after(moves):
    return int(solution.score[numbering.number(game, game.from_moves(moves))])

  assert score_after([]) == 0
  assert score_after([0, 3, 1, 4]) == 99  # wins at once
  assert score_after([0, 3, 1, 4, 2]) == solver.LOSS
  assert score_after([0, 1, 4]) < 0  # 8 or 3 to come: lost in some moves
  assert score_after([0, 1, 4]) > solver.LOSS
