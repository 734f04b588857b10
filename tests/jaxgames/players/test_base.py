"""What players share."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames.players import base
from tests.support import moves
from tests.support import positions


def test_lowest_action_is_found_over_all_levels():
  game = jaxgames.make("connect4")
  state = game.from_moves([0, 0, 0, 1])
  cells = game.playable_cells(state)
  assert int(bits.first(base.first_of(game, cells))) == 21
  without_first = bits.difference(cells, bits.single(jnp.int32(21), game.num_words))
  assert int(bits.first(base.first_of(game, without_first))) == 8


def test_players_without_values_say_so():
  game = jaxgames.make("tictactoe")
  with pytest.raises(ValueError, match="of kind Random has no values"):
    players.Random(game).values(game.init())


def test_random_plays_every_move_equally_often():
  game = jaxgames.make("connect4")
  state = game.from_moves([3] * 6)
  states = positions.repeat(state, 12_000)
  counts = np.bincount(moves.quick_act(players.Random(game), states), minlength=7)
  assert counts[3] == 0
  expected = 12_000 / 6
  chi_squared = ((np.delete(counts, 3) - expected) ** 2 / expected).sum()
  assert chi_squared < 25.7  # one in ten thousand, with 5 degrees of freedom
