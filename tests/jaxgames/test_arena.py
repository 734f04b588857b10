"""Matches: every game is counted once, sides alternate, one program."""

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import arena
from jaxgames import players
from tests.support import quick


@pytest.mark.parametrize("num_games", [1, 2, 7, 100])
def test_every_game_is_counted_once_and_sides_alternate(num_games):
  game = jaxgames.make("tictactoe")
  player = players.make(game, "random")
  score = quick.play_match(player, player, jax.random.key(0), num_games=num_games)
  by_side = np.asarray(score.wins + score.draws + score.losses)
  assert by_side.tolist() == [-(-num_games // 2), num_games // 2]
  assert 5 * num_games <= score.num_moves <= 9 * num_games


def test_results_are_those_of_the_first_player_named():
  game = jaxgames.make("ttt3d")
  strong, weak = players.make(game, "benchmark"), players.make(game, "random")
  ahead = quick.play_match(strong, weak, jax.random.key(0), num_games=200)
  behind = quick.play_match(weak, strong, jax.random.key(0), num_games=200)
  assert ahead.wins.sum() > 190
  assert behind.losses.sum() > 190


def test_moving_first_is_an_advantage_that_side_counts_show():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "random")
  score = quick.play_match(player, player, jax.random.key(0), num_games=4000)
  # Of random games the first player wins 58.5 %, the second 28.8 %.
  assert abs(score.wins[0] / 2000 - 0.585) < 0.05
  assert abs(score.wins[1] / 2000 - 0.288) < 0.05


def test_a_match_is_one_compiled_call():
  game = jaxgames.make("ttt3d")
  a, b = players.make(game, "benchmark"), players.make(game, "random")
  program = arena.play_match.lower(a, b, jax.random.key(0), num_games=1000)
  assert "callback" not in program.as_text()
  arena.play_match(a, b, jax.random.key(0), num_games=1000)
  num_compiled = arena.play_match._cache_size()
  arena.play_match(
    players.make(game, "benchmark"), b, jax.random.key(1), num_games=1000
  )
  assert arena.play_match._cache_size() == num_compiled


def test_matches_and_self_play_lower_for_accelerators():
  game = jaxgames.make("connect4")
  player = players.make(game, "benchmark")
  key = jax.random.key(0)
  for function in (
    lambda p, k: arena.play_match(p, p, k, num_games=64),
    lambda p, k: arena.self_play(p, k, num_lanes=64, num_plies=10),
  ):
    exported = jax.export.export(jax.jit(function), platforms=["cuda", "tpu"])(
      player, key
    )
    assert "callback" not in exported.mlir_module()


def test_self_play_restarts_at_once():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "random")
  final = quick.self_play(player, jax.random.key(0), num_lanes=50, num_plies=90)
  # 90 plies are 10 to 18 games of 5 to 9 moves.
  assert (final.num_games >= 10).all()
  assert (final.num_games <= 18).all()
  assert (final.state.num_moves >= 1).all()


def test_game_numbers_go_up_lane_by_lane():
  game = jaxgames.make("tictactoe")
  spec = "every:player=random,other=random,every=2"
  final = quick.self_play(
    players.make(game, spec), jax.random.key(0), num_lanes=3, num_plies=30
  )
  is_other, _ = final.memory
  # `num_games` counts an ended game at once; the next one begins with the next ply.
  number = final.num_games - final.state.is_over.astype(jnp.int32)
  lanes = np.arange(3) + 3 * np.asarray(number)
  np.testing.assert_array_equal(is_other, lanes % 2 == 0)


def test_other_seed_other_games():
  game = jaxgames.make("connect4")
  player = players.make(game, "random")
  first = arena.play_match(player, player, jax.random.key(0), num_games=500)
  again = arena.play_match(player, player, jax.random.key(0), num_games=500)
  other = arena.play_match(player, player, jax.random.key(1), num_games=500)
  chex.assert_trees_all_equal(first, again)
  assert int(first.num_moves) != int(other.num_moves)
