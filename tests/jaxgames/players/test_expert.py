"""Perfect play."""

import jax
import pytest

import jaxgames
from jaxgames import players
from jaxgames.exact import evaluation
from tests.support import quick

SMALL = ("tictactoe", "connect4_4x4")


@pytest.mark.parametrize(("name", "num_games"), [(name, 10_000) for name in SMALL])
def test_expert_never_loses_to_random(name, num_games):
  game = jaxgames.make(name)
  score = quick.play_match(
    players.make(game, "expert"),
    players.make(game, "random"),
    jax.random.key(0),
    num_games=num_games,
  )
  assert score.losses.tolist() == [0, 0]
  assert int(score.wins.sum()) > num_games // 2


@pytest.mark.parametrize("name", SMALL)
def test_two_experts_draw(name):
  game = jaxgames.make(name)
  expert = players.make(game, "expert")
  score = quick.play_match(expert, expert, jax.random.key(0), num_games=500)
  assert score.draws.tolist() == [250, 250]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("side", [1, -1])
def test_expert_is_unbeatable_by_exhaustion(name, side):
  game = jaxgames.make(name)
  found = evaluation.examine(players.make(game, "expert:ties=first"), side=side)
  assert found.is_unbeatable
  assert found.num_lost == 0
  assert found.losing_moves is None


def test_expert_refuses_large_games():
  with pytest.raises(ValueError, match=r"player .expert.*too large to solve"):
    players.make(jaxgames.make("connect4"), "expert")
