"""Players examined against every opponent."""

import pytest

import jaxgames
from jaxgames import players
from jaxgames.exact import evaluation


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
