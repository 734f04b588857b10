"""Tree search with rollouts."""

import jax

import jaxgames
from jaxgames import arena
from jaxgames import players


def test_mcts_never_loses_to_the_expert():
  # 1,000 games at 3,200 simulations were without a loss, at 1,600 there were 13 (all
  # as second player); the README has the table. Here, fewer games for the time.
  game = jaxgames.make("tictactoe")
  searcher = players.make(game, "mcts:simulations=3200")
  expert = players.make(game, "expert")
  score = arena.play_match(searcher, expert, jax.random.key(1), num_games=100)
  assert score.losses.tolist() == [0, 0]


def test_shorter_searches_may_stand_in_for_a_search():
  game = jaxgames.make("tictactoe")
  search = players.make(game, "mcts:simulations=200,exploration=1")
  assert search.is_search
  assert [other.simulations for other in search.faster()] == [25, 3]
  assert {other.exploration for other in search.faster()} == {1.0}
  assert players.make(game, "random").faster() == ()
