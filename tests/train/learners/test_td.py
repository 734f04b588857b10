"""The TD learner against its plain twin, and what its settings promise."""

import functools

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pydantic
import pytest

from tests.support import quick
from tests.support import training
from tests.twins import td as td_twin
from train import config as config_lib
from train.learners.common import schedule
from train.learners.td import settings as td_settings
from train.run import programs

NETWORK = {"hidden": [5], "detectors": 2, "bias": True}


def make(*, game="connect4_4x4", opponent="self", lanes=1, network=NETWORK, **settings):
  return programs.make_learner(
    config_lib.RunConfig(
      game=game,
      learner={"kind": "td", "network": network, **settings},
      opponent=opponent,
      games=100,
      parallel_games=lanes,
      test={"every": 50, "games": 10, "against": "random"},
    )
  )


begin = training.begin_compiled


def follow(learner, num_turns, seed=0):
  """Plays turns, and lets the twin learn from the same moves; returns both weights."""
  settings, lanes = learner.settings, range(learner.num_lanes)
  state = begin(learner, jax.random.key(seed))
  twin = td_twin.Network(learner.network, state.params)
  decay = settings.discount * settings.trace
  games = [td_twin.Lane(decay, settings.trace_length) for _ in lanes]

  @quick.jit
  def watch(state):
    """Returns the learner's move, the positions after the answer, and the next state."""
    keys = jax.random.split(state.key, 4)
    move = learner._move(state, keys[1])
    after = move.states
    if learner.opponent is not None:
      games = state.games._replace(states=after)
      after = learner._answer(state._replace(games=games), keys[2]).games.states
    return move, after, learner._step(state)

  for _ in range(num_turns):
    move, after, state = watch(state)
    move, after = jax.device_get((move, after))
    updates, endings = [], [[] for _ in lanes]
    for i in lanes:
      side = int(move.side[i]) if move.is_made[i] else None
      is_over, has_won = bool(move.states.is_over[i]), move.states.winner[i] != 0
      target = settings.discount * twin.forward(move.boards[i])[0]
      if is_over and not settings.updates_terminal:
        target = 1.0 if has_won else 0.0
      if settings.exploration_target == "greedy":
        target = float(move.targets[i])
      updates.append(games[i].due_update(side, target, move.has_target[i]))
      if side is None:
        continue
      games[i].moved(side, move.boards[i], move.has_target[i])
      if is_over:
        if learner.opponent is None:
          endings[i].append((games[i].previous[1 - side], -1.0 if has_won else 0.0))
        if settings.updates_terminal:
          endings[i].append((games[i].previous[side], 1.0 if has_won else 0.0))
    for i in lanes:
      if after.is_over[i] and not move.states.is_over[i]:
        result = -1.0 if after.winner[i] != 0 else 0.0
        endings[i].append((games[i].previous[0], result))
    update_twin(learner, twin, updates)
    for i in lanes:
      if after.is_over[i]:
        games[i].ended(endings[i])
    if not learner.is_spread:
      for _ in range(2):
        now = [game.pending.pop(0) if game.pending else None for game in games]
        update_twin(learner, twin, now)
  return state, twin


def update_twin(learner, twin, updates):
  """Lets the twin learn from one update of each game or none, by minibatches."""
  for begin in range(0, len(updates), learner.minibatch):
    some = updates[begin : begin + learner.minibatch]
    settings = learner.settings
    present = [update for update in some if update]
    twin.update(present, settings.learning_rate, settings.optimizer)


def start(learner, until_games):
  """Returns a trial that has so many games."""
  train = quick.jit(
    lambda key, until: training.advance(learner, training.begin(learner, key), until)
  )
  return train(jax.random.key(0), until_games)


def assert_same_weights(state, twin):
  ours = td_twin.Network(twin.network, state.params).weights
  for name, weights in twin.weights.items():
    np.testing.assert_allclose(ours[name], weights, atol=3e-5, err_msg=name)


@pytest.mark.parametrize(
  "fields",
  [
    {},
    {"lanes": 4},
    {"lanes": 4, "updates_terminal": False, "counts_wins": True},
    {"lanes": 3, "exploration_target": "none", "epsilon": 0.5},
    {"lanes": 3, "exploration_target": "greedy", "epsilon": 0.5},
    {"lanes": 2, "terminal_steps": "at_once"},
    {"lanes": 6, "minibatch": 2},
    {"lanes": 4, "minibatch": 1, "terminal_steps": "at_once"},
    {"opponent": "benchmark", "lanes": 6, "minibatch": 3},
    {"lanes": 1, "terminal_steps": "spread", "discount": 0.9},
    {"opponent": "benchmark"},
    {"opponent": "benchmark", "lanes": 4, "starts": "never"},
    {"opponent": "attack-defense", "lanes": 4, "updates_terminal": False},
    {"opponent": "benchmark", "lanes": 3, "starts": "random", "counts_wins": True},
    {"game": "tictactoe", "network": {"hidden": [7, 4], "detectors": 0}, "lanes": 2},
    {"network": {**NETWORK, "hidden": [], "bias": False, "slope": 1.0}, "lanes": 2},
    {
      "network": {**NETWORK, "linear_output_gradient": True},
      "lanes": 2,
      "learning_rate": 0.02,
    },
    {"lanes": 3, "trace": 0.7, "trace_length": 4, "discount": 0.9},
    {
      "lanes": 3,
      "trace": 0.5,
      "trace_length": 3,
      "exploration_target": "none",
      "epsilon": 0.5,
    },
    {"opponent": "benchmark", "lanes": 2, "trace": 0.8, "trace_length": 5},
    {"lanes": 6, "minibatch": 2, "optimizer": "coherence"},
    {"lanes": 2, "optimizer": "coherence_exponential"},
  ],
)
def test_learner_equals_its_plain_twin(fields):
  learner = make(**{"learning_rate": 0.05, **fields})
  state, twin = follow(learner, 60)
  assert int(state.games.num_games) >= 3
  assert_same_weights(state, twin)


def test_hand_worked_step():
  # One update, one linear unit: V = tanh(x w / 2), with w = 0 everywhere is 0, so that
  # towards a target of 1 each own stone's weight grows by 0.1 * 1 * 0.5.
  learner = make(
    game="tictactoe", network={"hidden": [], "detectors": 0}, learning_rate=0.1
  )
  state = begin(learner)
  state = state._replace(params=jax.tree.map(jnp.zeros_like, state.params))
  (updates, _) = state.previous
  board = jnp.array([[1, -1, 0, 0, 1, 0, 0, 0, -1]], jnp.int8)
  updates = updates._replace(
    boards=board[None], targets=jnp.array([1.0]), weights=jnp.array([[1.0]])
  )
  after = learner._update(state, updates)
  expected = 0.05 * np.asarray(board[0], np.float32)
  kernel = after.params["params"]["sums"]["kernel"][:, 0]
  np.testing.assert_allclose(kernel, expected, rtol=1e-6)
  assert float(after.counts.squared_errors) == 1.0


def test_hand_worked_minibatches():
  # Two games with the same board and target. The second step sees what the first has
  # left: V = tanh(0.05 / 2) = 0.0249948, an error of 0.9750052 and a slope of 0.4996876.
  fields = {"game": "tictactoe", "network": {"hidden": [], "detectors": 0}}
  for minibatch, expected in ((1, 0.05 + 0.1 * 0.9750052 * 0.4996876), (2, 0.1)):
    learner = make(**fields, lanes=2, minibatch=minibatch, learning_rate=0.1)
    state = begin(learner)
    state = state._replace(params=jax.tree.map(jnp.zeros_like, state.params))
    updates = state.previous[0]._replace(
      boards=jnp.zeros((2, 1, 9), jnp.int8).at[:, :, 0].set(1),
      targets=jnp.ones(2),
      weights=jnp.ones((2, 1)),
    )
    after = learner._update(state, updates)
    kernel = after.params["params"]["sums"]["kernel"][:, 0]
    np.testing.assert_allclose(kernel, [expected] + [0.0] * 8, rtol=1e-6)
    assert float(after.counts.num_errors) == 2


def test_minibatches_must_divide_the_games():
  with pytest.raises(
    ValueError, match=r"minibatch is 3, .* parallel_games, which is 4"
  ):
    make(lanes=4, minibatch=3)


def test_one_minibatch_of_all_games_is_the_joint_step_to_the_bit():
  ends = [start(make(lanes=4, **fields), 12) for fields in ({}, {"minibatch": 4})]
  chex.assert_trees_all_equal(*ends)


def test_hand_worked_trace():
  # As above, but the afterstate before is moved by half of the error of 1 as well.
  learner = make(
    game="tictactoe",
    network={"hidden": [], "detectors": 0},
    learning_rate=0.1,
    trace=0.5,
    trace_length=2,
  )
  state = begin(learner)
  state = state._replace(params=jax.tree.map(jnp.zeros_like, state.params))
  boards = jnp.array(
    [[[1, -1, 0, 0, 1, 0, 0, 0, -1], [1, -1, 0, 0, 0, 0, 0, 0, 0]]], jnp.int8
  )
  updates = state.previous[0]._replace(
    boards=boards, targets=jnp.array([1.0]), weights=jnp.array([[1.0, 0.5]])
  )
  after = learner._update(state, updates)
  kernel = after.params["params"]["sums"]["kernel"][:, 0]
  expected = [0.075, -0.075, 0, 0, 0.05, 0, 0, 0, -0.05]
  np.testing.assert_allclose(kernel, expected, rtol=1e-6)
  assert float(after.counts.squared_errors) == 1.0
  assert float(after.counts.num_errors) == 1.0


@pytest.mark.parametrize(
  ("fields", "part"),
  [({"trace": 0.5}, "trace_length 1"), ({"trace_length": 4}, "trace is 0.0")],
)
def test_half_a_trace_is_refused(fields, part):
  with pytest.raises(ValueError, match=part):
    make(**fields)


def test_layers_have_rates_of_their_own():
  fields = {"lanes": 2, "learning_rate": 0.5}
  rates = {"line_kernel": 2.0, "line_bias": 2.0, "layers_0": 0.5}
  plain, scaled = make(**fields), make(**fields, layer_rates=[2.0, 1.0, 0.5])
  state = begin(plain)
  updates = state.previous[0]._replace(
    boards=jnp.ones((2, 1, plain.game.num_cells), jnp.int8),
    targets=jnp.array([1.0, -0.5]),
    weights=jnp.ones((2, 1)),
  )
  moved, scaled_moved = (
    jax.tree.map(
      np.subtract, quick.jit(learner._update)(state, updates).params, state.params
    )
    for learner in (plain, scaled)
  )

  def compare(path, step, found):
    rate = next((r for name, r in rates.items() if name in str(path)), 1.0)
    np.testing.assert_allclose(found, rate * step, atol=1e-6, err_msg=str(path))
    assert np.abs(step).max() > 1e-4

  jax.tree_util.tree_map_with_path(compare, moved, scaled_moved)


def test_rates_for_another_number_of_layers_are_refused():
  with pytest.raises(
    ValueError, match=r"layer_rates \[2.0, 0.5\] are 2, .* has 3 layers"
  ):
    make(network=NETWORK, layer_rates=[2.0, 0.5])


def test_adam_takes_steps_of_the_learning_rate():
  learner = make(optimizer="adam", learning_rate=0.01)
  state = begin(learner)
  updates = state.previous[0]._replace(
    boards=jnp.ones((1, 1, 16), jnp.int8),
    targets=jnp.array([1.0]),
    weights=jnp.ones((1, 1)),
  )
  after = quick.jit(learner._update)(state, updates)
  moved = jax.tree.map(np.subtract, after.params, state.params)
  sizes = np.concatenate([np.abs(leaf).ravel() for leaf in jax.tree.leaves(moved)])
  # The first step of Adam has the same size for all weights that have a gradient.
  np.testing.assert_allclose(sizes, 0.01, rtol=1e-2)


def test_mean_gradient_is_the_sum_over_the_number_of_games():
  summed, mean = make(lanes=4), make(lanes=4, gradient="mean")
  state = begin(summed)
  updates = state.previous[0]._replace(
    boards=jnp.ones((4, 1, 16), jnp.int8),
    targets=jnp.array([1.0, 0.0, -1.0, 0.5]),
    weights=jnp.ones((4, 1)),
  )
  moved_by = [
    jax.tree.map(
      np.subtract, quick.jit(learner._update)(state, updates).params, state.params
    )
    for learner in (summed, mean)
  ]
  chex.assert_trees_all_close(
    moved_by[0], jax.tree.map(lambda x: 4 * np.asarray(x), moved_by[1]), atol=1e-6
  )


def test_learning_rate_falls_linearly():
  games = jnp.array([0, 50, 100, 120])
  rates = schedule.linear(0.4, 0.1, 100)(games)
  np.testing.assert_allclose(rates, [0.4, 0.25, 0.1, 0.1], rtol=1e-6)
  np.testing.assert_allclose(schedule.linear(0.4, None, 100)(games), 0.4, rtol=1e-6)


def test_advance_stops_at_the_first_turn_with_enough_games():
  learner = make(lanes=8)
  advance = jax.jit(functools.partial(training.advance, learner))
  turn = jax.jit(learner._step)
  state = begin(learner)
  ahead = advance(state, 5)
  while state.games.num_games < 5:
    state = turn(state)
  chex.assert_trees_all_equal(state, ahead)
  chex.assert_trees_all_equal(advance(ahead, 5), ahead)


def test_no_lane_idles_and_games_are_counted_once():
  learner = make(lanes=16)
  state = start(learner, 200)
  assert int(state.games.num_games) == int(state.games.rounds.sum())
  assert (state.games.rounds >= 5).all()
  assert not state.games.states.is_over.any()
  _, metrics = learner.report(state)
  assert 7 <= float(metrics["game_length"]) <= 16
  cleared, _ = learner.report(state)
  assert float(cleared.counts.games.num_games) == 0


@pytest.mark.parametrize(
  ("starts", "is_first"),
  [
    ("always", lambda lanes, rounds: lanes >= 0),
    ("never", lambda lanes, rounds: lanes < 0),
    ("alternate", lambda lanes, rounds: (lanes + rounds) % 2 == 0),
  ],
)
def test_who_starts(starts, is_first):
  learner = make(lanes=8, opponent="random", starts=starts)
  state = begin(learner)
  turn, lanes = quick.jit(learner._step), np.arange(8)
  for _ in range(20):
    expected = is_first(lanes, np.asarray(state.games.rounds))
    np.testing.assert_array_equal(state.games.is_first, expected)
    # The first player has moved one stone more, or as many.
    is_even = np.asarray(state.games.states.num_moves) % 2 == 0
    is_new = np.asarray(state.games.states.num_moves) == 0
    np.testing.assert_array_equal(is_even[~is_new], expected[~is_new])
    state = turn(state)
  assert int(state.games.num_games) > 8


def test_self_play_halves_the_losses_to_random():
  learner = make(
    game="tictactoe",
    lanes=16,
    learning_rate=0.02,
    network={"hidden": [16], "detectors": 4, "bias": True, "slope": 1.0},
  )
  before, after = training.losses_to_random(learner, until_games=(0, 6000))
  assert after < before // 2


@pytest.mark.parametrize(
  ("network", "said"),
  [
    ({"detectors": 4, "patterns": "all"}, "patterns or detectors, not both"),
    ({"detectors": 4, "sides": True}, "only in a network of patterns"),
    ({"detectors": 0, "patterns": []}, "at least 1 item"),
    ({"detectors": -1}, "greater than or equal to 0"),
  ],
)
def test_networks_that_cannot_be_are_refused(network, said):
  with pytest.raises(pydantic.ValidationError, match=said):
    td_settings.NetworkSettings(**network)


@pytest.mark.parametrize(
  "network",
  [
    {"hidden": [], "detectors": 0, "patterns": ["counts"], "sides": True},
    {"hidden": [4], "detectors": 2, "bias": True},
  ],
)
def test_every_weight_of_networks_beyond_the_paper_learns(network):
  learner = make(lanes=8, network=network, learning_rate=0.05)
  state = begin(learner)
  turn = quick.jit(learner._step)
  after = functools.reduce(lambda now, _: turn(now), range(30), state)
  for old, new in zip(*map(jax.tree.leaves, (state.params, after.params)), strict=True):
    assert np.isfinite(new).all()
    assert not np.array_equal(old, new)
