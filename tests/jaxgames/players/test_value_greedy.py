"""The player of a value network, and the greedy choice for many games."""

import functools

import jax
import jax.export
import numpy as np
import pytest

import jaxgames
from jaxgames import networks
from jaxgames.players import value_greedy
from tests.support import positions
from tests.support import quick
from tests.support import value_networks


@pytest.mark.parametrize(
  "name",
  ["deep_structured", "deep_unstructured", "patterns_all"],
)
def test_greedy_player_lowers_for_accelerators(name):
  game = jaxgames.make("ttt3d")
  network = value_networks.make(game, name, has_bias=True)
  states = positions.random_positions(game, 4)
  params = value_networks.init(network)

  def act(params, states):
    tables = network.apply(params, method="tables")
    player = value_greedy.ValueGreedy(network, params, tables, counts_wins=True)
    return jax.vmap(lambda state: player.act((), state, jax.random.key(0)))(states)

  exported = jax.export.export(jax.jit(act), platforms=["cuda", "tpu"])(params, states)
  assert "callback" not in exported.mlir_module()


def test_greedy_takes_a_win_if_wins_count():
  game = jaxgames.make("tictactoe")
  network = networks.ValueNetwork(game, (4,))
  state = game.from_moves([0, 3, 1, 4])

  @functools.partial(quick.jit, static_argnames="counts_wins")
  def act(params, counts_wins):
    tables = network.apply(params, method="tables")
    player = value_greedy.ValueGreedy(network, params, tables, counts_wins=counts_wins)
    return player.act((), state, jax.random.key(0))

  played = set()
  for seed in range(6):
    params = value_networks.init(network, seed)
    assert int(act(params, counts_wins=True)) == 2
    played.add(int(act(params, counts_wins=False)))
  assert played != {2}


@pytest.mark.parametrize("counts_wins", [True, False])
def test_the_choice_for_many_games_is_that_of_the_player(counts_wins):
  game = jaxgames.make("connect4")
  network = value_networks.make(game, "deep_structured")
  params = value_networks.init(network)
  states = positions.random_positions(game, 64)

  @quick.jit
  def choose(params, states):
    tables = network.apply(params, method="tables")
    player = value_greedy.ValueGreedy(network, params, tables, counts_wins)
    values = value_greedy.afterstate_values(network, params, tables, states)
    preferences = value_greedy.preferences(
      game, values, states, counts_wins=counts_wins
    )
    act = jax.vmap(lambda state: player.act((), state, jax.random.key(0)))
    alone = act(states), jax.vmap(player.values)(states)
    wins = jax.vmap(functools.partial(value_greedy.winning_actions, game))(states)
    return value_greedy.greedy_actions(preferences), preferences, values, wins, alone

  actions, preferences, values, wins, (played, alone) = choose(params, states)
  np.testing.assert_array_equal(actions, played)
  np.testing.assert_allclose(preferences, alone, atol=1e-5)
  is_legal = positions.see(game, states).legal
  expected = np.where(wins, 1.0, values) if counts_wins else values
  np.testing.assert_array_equal(preferences, np.where(is_legal, expected, -np.inf))
  assert wins.any()
