"""Exhaustive work: numbering, solving, and the proof of perfection."""

import functools

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.exact import evaluation
from jaxgames.exact import graph
from jaxgames.exact import numbering
from jaxgames.exact import solver
from tests.support import positions
from tests.support import quick


@pytest.mark.parametrize("name", ["tictactoe", "connect4_4x4"])
def test_numbers_are_distinct(name):
  game = jaxgames.make(name)
  _, states, _ = positions.random_games(game, 200, seed=9)
  flat = jax.tree.map(lambda x: x.reshape(-1), states)
  numbers = np.asarray(number(game, flat))
  boards = np.stack([*flat.own, *flat.other], axis=1)
  assert len(np.unique(numbers)) == len(np.unique(boards, axis=0))
  assert numbers.min() >= 0
  assert numbers.max() < numbering.num_numbers(game)


@functools.partial(quick.jit, static_argnums=0)
def number(game, states):
  return jax.vmap(functools.partial(numbering.number, game))(states)


def test_numbering_of_connect4_columns_has_31_digits():
  assert numbering.num_numbers(jaxgames.make("connect4_4x4")) == 31**4
  assert numbering.num_numbers(jaxgames.make("tictactoe")) == 3**9


def test_large_games_are_not_numbered():
  game = jaxgames.make("connect4")
  with pytest.raises(ValueError, match="too many positions"):
    numbering.number(game, game.init())


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


def test_a_beatable_player_is_shown_a_game_that_it_loses():
  game = jaxgames.make("tictactoe")
  found = evaluation.examine(players.make(game, "attack-defense"), side=-1)
  assert not found.is_unbeatable
  assert found.num_lost > 0
  assert found.losing_moves is not None
  final = game.from_moves(found.losing_moves)
  assert final.is_over
  assert int(final.winner) == 1


def test_side_must_be_a_side():
  player = players.make(jaxgames.make("tictactoe"), "random")
  with pytest.raises(ValueError, match="side must be 1"):
    evaluation.examine(player, side=2)
