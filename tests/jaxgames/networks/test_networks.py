"""Value networks: Table I, incremental equal to full evaluation, the derivative."""

import functools
import itertools

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import lines
from jaxgames import networks
from jaxgames.networks import activation
from jaxgames.players import value_greedy
from tests.support import positions
from tests.support import quick

TABLE_1 = {
  "small_structured": 1520,
  "deep_structured": 10976,
  "small_unstructured": 3250,
  "deep_unstructured": 10976,
  "wide_unstructured": 10985,
}


PATTERNS = {
  "patterns_none": {"pattern_sharings": ("none",)},
  "patterns_symmetry": {"pattern_sharings": ("symmetry",)},
  "patterns_all": {"pattern_sharings": ("all",)},
  "patterns_counts": {"pattern_sharings": ("counts",)},
  "patterns_of_sides": {"pattern_sharings": ("counts", "symmetry"), "has_sides": True},
  "deep_patterns": {"pattern_sharings": ("symmetry", "all"), "hidden": (6,)},
  "crossings": {"pattern_sharings": ("counts",), "crossings": 3},
  "deep_crossings": {"pattern_sharings": ("all",), "crossings": 2, "hidden": (6,)},
}

SHARED = {
  "shared_symmetry": {"detectors": 4, "sharing": "symmetry"},
  "shared_all": {"detectors": 4, "sharing": "all"},
  "deep_shared": {"detectors": 2, "sharing": "symmetry", "hidden": (6,)},
}


SUMMED = {"crossings", "deep_crossings"}


def make(game, name, **fields):
  if name in PATTERNS or name in SHARED:
    return networks.ValueNetwork(game, **(PATTERNS | SHARED)[name], **fields)
  detectors, hidden = networks.NETWORKS[name]
  return networks.ValueNetwork(game, hidden, detectors, **fields)


def randomize(params, seed=0):
  """Returns parameters of which none is zero."""
  leaves, structure = jax.tree.flatten(params)
  keys = jax.random.split(jax.random.key(seed), len(leaves))
  drawn = [jax.random.normal(k, x.shape) for k, x in zip(keys, leaves, strict=True)]
  return jax.tree.unflatten(structure, drawn)


@functools.partial(quick.jit, static_argnames=("network", "randomized"))
def init(network, seed=0, *, randomized=False):
  boards = jnp.zeros((1, network.game.num_cells), jnp.int8)
  params = network.init(jax.random.key(seed), boards)
  return randomize(params) if randomized else params


@functools.partial(quick.jit, static_argnames="network")
def apply(network, params, boards):
  return network.apply(params, boards)


@pytest.mark.parametrize("name", TABLE_1)
def test_numbers_of_weights_are_those_of_table_1(name):
  network = make(jaxgames.make("ttt3d"), name)
  assert networks.num_weights(network) == TABLE_1[name]


def test_every_network_by_name_is_in_table_1():
  assert set(networks.NETWORKS) == set(TABLE_1)


@pytest.mark.parametrize("name", [*TABLE_1, *PATTERNS, *SHARED])
@pytest.mark.parametrize(
  ("game_name", "has_bias"), [("tictactoe", True), ("connect4", False), ("ttt3d", True)]
)
def test_incremental_equals_full_evaluation(name, has_bias, game_name):
  game = jaxgames.make(game_name)
  # Squares add up: less steep, so that values do not all become 1.
  fields = {"steepness": 0.1} if name in SUMMED else {}
  network = make(game, name, has_bias=has_bias, **fields)
  states = positions.random_positions(game, 24, seed=6)
  params = init(network, seed=4, randomized=name in PATTERNS)

  @quick.jit
  def evaluate(params, states):
    tables = network.apply(params, method="tables")
    changed = value_greedy.afterstate_values(network, params, tables, states)
    boards = jax.vmap(game.afterstates)(states).reshape(-1, game.num_cells)
    return changed, network.apply(params, boards).reshape(changed.shape)

  changed, full = map(np.asarray, evaluate(params, states))
  is_legal = positions.see(game, states).legal
  np.testing.assert_allclose(changed[is_legal], full[is_legal], atol=2e-6)
  assert np.ptp(full[is_legal]) > 0.1


def test_structured_layer_is_stored_as_one_matrix_a_line():
  network = make(jaxgames.make("ttt3d"), "deep_structured")
  params = init(network)["params"]
  assert params["sums"]["line_kernel"].shape == (76, 4, 4)
  assert params["sums"]["kernel"].shape == (76, 4, 32)


def test_weights_are_uniform_between_minus_and_plus_one_half():
  network = make(jaxgames.make("ttt3d"), "wide_unstructured", has_bias=True)
  params = init(network)
  weights = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(params)])
  assert -0.5 <= weights.min() < -0.49
  assert 0.49 < weights.max() <= 0.5
  assert abs(weights.std() - 12**-0.5) < 0.01


def test_without_biases_a_network_is_odd():
  game = jaxgames.make("ttt3d")
  network = make(game, "deep_structured")
  states = positions.random_positions(game, 8)
  boards = positions.see(game, states).observation.reshape(8, -1)
  params = init(network, seed=1)
  values = np.asarray(apply(network, params, boards))
  np.testing.assert_allclose(apply(network, params, -boards), -values, atol=1e-6)


@pytest.mark.parametrize(("steepness", "slope"), [(0.5, 0.5), (0.5, 1.0), (1.0, 2.0)])
def test_derivative_is_slope_times_one_minus_square(steepness, slope):
  x = jnp.float32(0.7)
  y = np.tanh(steepness * 0.7)
  value, derivative = jax.value_and_grad(activation.squash)(x, steepness, slope)
  np.testing.assert_allclose(value, y, rtol=1e-6)
  np.testing.assert_allclose(derivative, slope * (1 - y * y), rtol=1e-6)


def test_straight_output_has_the_same_value_and_derivative_one():
  value, derivative = jax.value_and_grad(activation.squash_straight)(
    jnp.float32(0.7), 0.5
  )
  np.testing.assert_allclose(value, np.tanh(0.35), rtol=1e-6)
  assert derivative == 1.0


def test_logistic_scaled_to_minus_one_and_one_has_steepness_one_half():
  x = jnp.linspace(-4, 4, 9)
  expected = 2 * jax.nn.sigmoid(x) - 1
  np.testing.assert_allclose(activation.squash(x, 0.5, 0.5), expected, atol=1e-6)


@pytest.mark.parametrize(
  "name",
  ["deep_structured", "deep_unstructured", "patterns_all", "crossings", "deep_shared"],
)
def test_greedy_player_lowers_for_accelerators(name):
  game = jaxgames.make("ttt3d")
  network = make(game, name, has_bias=True)
  states = positions.random_positions(game, 4)
  params = init(network)

  def act(params, states):
    tables = network.apply(params, method="tables")
    player = value_greedy.Greedy(network, params, tables, counts_wins=True)
    return jax.vmap(lambda state: player.act((), state, jax.random.key(0)))(states)

  exported = jax.export.export(jax.jit(act), platforms=["cuda", "tpu"])(params, states)
  assert "callback" not in exported.mlir_module()


def test_greedy_takes_a_win_if_told_to():
  game = jaxgames.make("tictactoe")
  network = networks.ValueNetwork(game, (4,))
  state = game.from_moves([0, 3, 1, 4])

  @functools.partial(quick.jit, static_argnames="counts_wins")
  def act(params, counts_wins):
    tables = network.apply(params, method="tables")
    player = value_greedy.Greedy(network, params, tables, counts_wins=counts_wins)
    return player.act((), state, jax.random.key(0))

  played = set()
  for seed in range(6):
    params = init(network, seed)
    assert int(act(params, counts_wins=True)) == 2
    played.add(int(act(params, counts_wins=False)))
  assert played != {2}


def read_digit(game, board, cell):
  """Returns how a person sees a cell."""
  below = cell - game.num_actions
  stands = not game.gravity or below < 0 or board[below] != 0
  empty = 3 if stands else 0
  return {0: empty, 1: 1, -1: 2}[int(board[cell])]


def read_pattern(game, board, line):
  """Returns the digits of a line as a person sees them."""
  digits = [read_digit(game, board, cell) for cell in line]
  return sum(digit * 4**place for place, digit in enumerate(digits))


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4_4x4", "ttt3d"])
def test_patterns_tell_playable_cells_from_others(game_name):
  game = jaxgames.make(game_name)
  network = make(game, "patterns_all", steepness=0.05)
  states = positions.random_positions(game, 12, seed=3)
  boards = positions.see(game, states).observation.reshape(12, -1)
  params = init(network, randomized=True)
  table = np.asarray(params["params"]["sums"]["table"])[:, 0]
  values = np.asarray(apply(network, params, boards))
  for board, value in zip(boards, values, strict=True):
    worth = sum(table[read_pattern(game, board, line)] for line in game.lines)
    np.testing.assert_allclose(value, np.tanh(0.05 * worth), atol=1e-5)


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4", "ttt3d"])
def test_symmetric_boards_have_the_same_value_where_symmetric_lines_share(game_name):
  game = jaxgames.make(game_name)
  network = make(game, "patterns_symmetry", steepness=0.05)
  states = positions.random_positions(game, 6, seed=4)
  boards = positions.see(game, states).observation.reshape(6, -1)
  params = init(network, randomized=True)
  # A line that a symmetry maps onto itself backwards is read in one of two directions:
  # the same only if a pattern and its mirror image are worth the same.
  params = jax.tree.map(lambda x: mirrored(game, np.asarray(x)), params)
  values = apply(network, params, boards)
  for symmetry in game.symmetries:
    image = apply(network, params, boards[:, symmetry])
    np.testing.assert_allclose(image, values, atol=1e-5)


@pytest.mark.parametrize("game_name", ["tictactoe", "connect4", "ttt3d"])
@pytest.mark.parametrize("name", ["crossings", "shared_symmetry", "deep_shared"])
def test_symmetric_boards_have_the_same_value(name, game_name):
  game = jaxgames.make(game_name)
  network = make(game, name, has_bias=True, steepness=0.05)
  states = positions.random_positions(game, 6, seed=4)
  boards = positions.see(game, states).observation.reshape(6, -1)
  params = init(network, randomized=True)
  values = apply(network, params, boards)
  assert np.ptp(values) > 0.001
  for symmetry in game.symmetries:
    image = apply(network, params, boards[:, symmetry])
    np.testing.assert_allclose(image, values, atol=1e-5)


def mirrored(game, table):
  """Returns a table in which patterns are worth what their mirror images are."""
  by_place = table.reshape(-1, *[4] * game.length, table.shape[-1])
  places = tuple(range(1, game.length + 1))
  flipped = by_place.transpose(0, *places[::-1], game.length + 1)
  return (by_place + flipped).reshape(table.shape)


# Four cells, each seen in one of four ways: 256 patterns, 35 whatever their order.
@pytest.mark.parametrize(
  ("name", "num_weights"),
  [
    ("patterns_none", 76 * 256),
    ("patterns_symmetry", 18 * 256),
    ("patterns_all", 256),
    ("patterns_counts", 35),
    ("patterns_of_sides", 2 * (35 + 18 * 256)),
  ],
)
def test_tables_are_shared_as_said(name, num_weights):
  network = make(jaxgames.make("ttt3d"), name)
  assert networks.num_weights(network) == num_weights


# Lines of ttt3d are of 18 classes; 12 of them may be turned around, and have two places
# that differ, where others have four. Crossings: 20 patterns of three other cells and a
# bias, each for two kinds of empty cell, and weights for 12 classes of cells.
@pytest.mark.parametrize(
  ("name", "num_weights"),
  [
    ("shared_symmetry", ((12 * 2 + 6 * 4) + 18) * 4),
    ("shared_all", (4 + 1) * 4),
    ("deep_shared", ((12 * 2 + 6 * 4) + 18 * 6) * 2 + 6),
    ("crossings", 35 + (2 * (20 + 1) + 12) * 3),
    ("deep_crossings", 256 * 6 + (2 * (20 + 1) + 12 * 6) * 2 + 6),
  ],
)
def test_numbers_of_weights_are_as_counted_by_hand(name, num_weights):
  network = make(jaxgames.make("ttt3d"), name)
  assert networks.num_weights(network) == num_weights


def test_shared_detectors_are_those_of_lines_with_equal_weights():
  game = jaxgames.make("ttt3d")
  shared, plain = make(game, "shared_symmetry"), make(game, "small_structured")
  params = init(shared)
  classes = lines.symmetric_lines(game.shape, game.length, game.gravity)[1]
  places = lines.symmetric_places(game.shape, game.length, game.gravity)
  small = params["params"]["sums"]
  expanded = {
    "line_kernel": small["line_kernel"][places],
    "kernel": small["kernel"][classes],
  }
  states = positions.random_positions(game, 8)
  boards = positions.see(game, states).observation.reshape(8, -1)
  values = apply(plain, {"params": {"sums": expanded}}, boards)
  np.testing.assert_allclose(apply(shared, params, boards), values, atol=1e-6)


def test_crossings_begin_with_next_to_nothing_and_learn():
  game = jaxgames.make("ttt3d")
  network = make(game, "crossings")
  states = positions.random_positions(game, 8)
  boards = positions.see(game, states).observation.reshape(8, -1)
  params = init(network)
  assert np.abs(apply(network, params, boards)).max() < 0.1
  gradient = jax.grad(lambda p: network.apply(p, boards).sum())(params)
  assert np.abs(gradient["params"]["crossing_sums"]["table"]).max() > 0.1


def test_crossings_see_what_a_person_sees():
  game = jaxgames.make("connect4_4x4")
  network = make(game, "crossings", steepness=0.02)
  states = positions.random_positions(game, 12, seed=3)
  boards = positions.see(game, states).observation.reshape(12, -1)
  params = init(network, randomized=True)["params"]
  lines_only = {"params": {"sums": params["sums"]}}
  plain = apply(make(game, "patterns_counts", steepness=0.02), lines_only, boards)
  values = apply(network, {"params": params}, boards)
  for board, value, without in zip(boards, values, plain, strict=True):
    worth = np.arctanh(without) / 0.02 + cross(game, params["crossing_sums"], board)
    np.testing.assert_allclose(value, np.tanh(0.02 * worth), atol=1e-4)


def cross(game, params, board):
  """Returns what the empty cells are worth, one after the other."""
  table, bias, kernel = (
    np.asarray(params[name]) for name in ("table", "bias", "kernel")
  )
  counts = list(itertools.combinations_with_replacement(range(4), game.length - 1))
  classes = lines.cell_classes(game.shape, game.gravity)
  seen = [read_digit(game, board, cell) for cell in range(game.num_cells)]
  worth = 0.0
  for cell in np.flatnonzero(board == 0):
    kind = 1 if seen[cell] == 3 else 0
    total = bias[kind].copy()
    for line in game.lines:
      if cell in line:
        others = tuple(sorted(seen[other] for other in line if other != cell))
        total += table[kind * len(counts) + counts.index(others)]
    worth += total**2 @ kernel[classes[cell], :, 0]
  return worth
