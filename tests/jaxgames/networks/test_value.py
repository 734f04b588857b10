"""Value networks: Table I, and incremental equal to full evaluation."""

import chex
import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import networks
from jaxgames.players import value_greedy
from tests.support import positions
from tests.support import quick
from tests.support import value_networks

TABLE_1 = {
  "small_structured": 1520,
  "deep_structured": 10976,
  "small_unstructured": 3250,
  "deep_unstructured": 10976,
  "wide_unstructured": 10985,
}


def test_configs_have_the_networks_of_table_1():
  assert set(value_networks.PAPER) == set(TABLE_1)


@pytest.mark.parametrize("name", TABLE_1)
def test_numbers_of_weights_are_those_of_table_1(name):
  network = value_networks.make(jaxgames.make("ttt3d"), name)
  assert networks.num_weights(network) == TABLE_1[name]


@pytest.mark.parametrize("name", [*TABLE_1, *value_networks.PATTERNS])
@pytest.mark.parametrize(
  ("game_name", "has_bias"), [("tictactoe", True), ("connect4", False), ("ttt3d", True)]
)
def test_incremental_equals_full_evaluation(name, has_bias, game_name):
  """By tables, and without them, as for a few boards."""
  game = jaxgames.make(game_name)
  network = value_networks.make(game, name, has_bias=has_bias)
  states = positions.random_positions(game, 24, seed=6)
  params = value_networks.init(
    network, seed=4, randomized=name in value_networks.PATTERNS
  )

  @quick.jit
  def evaluate(params, states):
    by_tables, without = (
      value_greedy.afterstate_values(
        network, params, network.apply(params, num_boards, method="tables"), states
      )
      for num_boards in (None, 1)
    )
    boards = jax.vmap(game.afterstates)(states).reshape(-1, game.num_cells)
    return by_tables, without, network.apply(params, boards).reshape(without.shape)

  by_tables, without, full = map(np.asarray, evaluate(params, states))
  is_legal = positions.see(game, states).legal
  np.testing.assert_allclose(by_tables[is_legal], full[is_legal], atol=2e-6)
  np.testing.assert_allclose(without[is_legal], full[is_legal], atol=2e-6)
  assert np.ptp(full[is_legal]) > 0.1


def test_one_board_is_worth_the_same_as_among_many():
  """Lines are read one by one for a single board, by a matrix for several."""
  game = jaxgames.make("ttt3d")
  network = value_networks.make(game, "deep_structured", has_bias=True)
  params = value_networks.init(network, seed=5)
  states = positions.random_positions(game, 8, seed=7)
  boards = positions.see(game, states).observation.reshape(8, -1)

  @jax.jit
  def values_and_gradients(boards):
    return jax.value_and_grad(lambda p: network.apply(p, boards).sum())(params)

  together = values_and_gradients(boards)
  alone = [values_and_gradients(boards[i : i + 1]) for i in range(len(boards))]
  summed = jax.tree.map(lambda *parts: np.sum(parts, axis=0), *alone)
  chex.assert_trees_all_close(together, summed, atol=1e-5)


def test_structured_layer_is_stored_as_one_matrix_a_line():
  network = value_networks.make(jaxgames.make("ttt3d"), "deep_structured")
  params = value_networks.init(network)["params"]
  assert params["sums"]["line_kernel"].shape == (76, 4, 4)
  assert params["sums"]["kernel"].shape == (76, 4, 32)


def test_weights_are_uniform_between_minus_and_plus_one_half():
  network = value_networks.make(
    jaxgames.make("ttt3d"), "wide_unstructured", has_bias=True
  )
  params = value_networks.init(network)
  weights = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(params)])
  assert -0.5 <= weights.min() < -0.49
  assert 0.49 < weights.max() <= 0.5
  assert abs(weights.std() - 12**-0.5) < 0.01


def test_without_biases_a_network_is_odd():
  game = jaxgames.make("ttt3d")
  network = value_networks.make(game, "deep_structured")
  states = positions.random_positions(game, 8)
  boards = positions.see(game, states).observation.reshape(8, -1)
  params = value_networks.init(network, seed=1)
  values = np.asarray(value_networks.apply(network, params, boards))
  np.testing.assert_allclose(
    value_networks.apply(network, params, -boards), -values, atol=1e-6
  )


@pytest.mark.parametrize("name", ["deep_structured", "deep_patterns"])
def test_arrays_of_other_shapes_are_refused(name):
  game = jaxgames.make("tictactoe")
  network = value_networks.make(game, name)
  params = value_networks.init(network)
  boards, cells = np.zeros((4, 9), np.int8), np.zeros((4, 9), np.int32)
  with pytest.raises(AssertionError):
    network.apply(params, boards.reshape(4, 3, 3))
  tables = network.apply(params, method="tables")
  with pytest.raises(AssertionError):
    network.apply(params, tables, boards[:2], cells, method="afterstates")
