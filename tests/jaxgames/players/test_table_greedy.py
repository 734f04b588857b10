"""The player of a table."""

import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames.exact import graph
from jaxgames.exact import numbering
from jaxgames.players import base

SMALL = ("tictactoe", "connect4_4x4")


@pytest.mark.parametrize("name", SMALL)
def test_values_of_a_table_are_those_of_the_positions_moved_to(name):
  game = jaxgames.make(name)
  index = graph.of(game)
  table = np.random.default_rng(0).random(index.num_states, np.float32)
  for side in (1, -1):
    player = players.TableGreedy(game, table, side)
    for moves_made in ([], [0], [0, 1, 0] if game.gravity else [0, 1, 2]):
      state = game.from_moves(moves_made)
      values = np.asarray(player.values(state))
      sign = 1 if (len(moves_made) % 2 == 0) == (side == 1) else -1
      for action in range(game.num_actions):
        if not game.legal_actions(state)[action]:
          assert values[action] == -np.inf
          continue
        number = numbering.number(game, game.step(state, action))
        assert values[action] == sign * table[index.indices[number]]
      chosen = base.fold(game, player.choices(state))
      assert bool(bits.unpack(chosen, game.num_actions)[values.argmax()])
