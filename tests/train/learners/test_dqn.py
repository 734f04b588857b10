"""The DQN learner: updates by hand, its plain twin, its memory and its settings."""

import functools

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from tests.support import quick
from tests.support import training
from tests.twins import dqn as dqn_twin
from train import config as config_lib
from train.learners.common import schedule
from train.learners.dqn import evaluation as dqn_evaluation
from train.learners.dqn import opponents as dqn_opponents
from train.learners.dqn import q_updates
from train.learners.dqn import replay as replay_lib
from train.run import programs


def make(*, game="tictactoe", opponent="random", lanes=1, network=None, **settings):
  network = {"hidden": [4], "activation": "tanh", **(network or {})}
  learner = {
    "kind": "dqn",
    "network": network,
    "replay": 50,
    "batch": 3,
    "optimizer": "sgd",
    "evaluation_games": 8,
    **settings,
  }
  return programs.make_learner(
    config_lib.RunConfig(
      game=game,
      learner=learner,
      opponent=opponent,
      games=1000,
      parallel_games=lanes,
      test={"every": 500, "games": 10, "against": "random"},
    )
  )


begin = training.begin_compiled


def rows(*numbers):
  """Returns transitions that differ in their actions."""
  num = len(numbers)
  return replay_lib.Transitions(
    boards=jnp.zeros((num, 9), jnp.int8),
    actions=jnp.array(numbers, jnp.int32),
    rewards=jnp.array(numbers, jnp.float32),
    discounts=jnp.zeros(num, jnp.float32),
    next_boards=jnp.ones((num, 9), jnp.int8),
  )


def test_replay_wraps_around_and_leaves_out_what_is_not_kept():
  memory = replay_lib.empty(5, 9)
  add = quick.jit(replay_lib.add)
  memory = add(memory, rows(1, 2, 3), jnp.array([True, False, True]))
  assert memory.rows.actions.tolist() == [1, 3, 0, 0, 0]
  assert (int(memory.place), int(memory.num_held)) == (2, 2)
  memory = add(memory, rows(4, 5, 6), jnp.ones(3, bool))
  assert (int(memory.place), int(memory.num_held)) == (0, 5)
  memory = add(memory, rows(7, 8, 9), jnp.array([False, True, True]))
  assert memory.rows.actions.tolist() == [8, 9, 4, 5, 6]
  assert memory.rows.rewards.tolist() == [8, 9, 4, 5, 6]
  assert (int(memory.place), int(memory.num_held)) == (2, 5)
  chex.assert_trees_all_equal(add(memory, rows(1, 1, 1), jnp.zeros(3, bool)), memory)


def test_replay_draws_from_all_that_it_holds_and_nothing_else():
  @quick.jit
  def draw(key):
    memory = replay_lib.empty(9, 9)
    memory = replay_lib.add(memory, rows(1, 2, 3, 4), jnp.ones(4, bool))
    return replay_lib.draw(memory, key, 4000).actions

  found = np.bincount(draw(jax.random.key(0)), minlength=9)
  assert np.flatnonzero(found).tolist() == [1, 2, 3, 4]
  assert found[1:5].min() > 900


@pytest.mark.parametrize(
  ("fields", "expected"),
  [
    # Rewards of 1, 0 and -0.5. The target network's outputs are 0.1 times the action's
    # number, the online network's 0.1 times 8 less the number. After the second move
    # 8 is taken; after the third the game is over.
    ({}, (1 + 0.5 * 0.8, -0.5 * 0.8, -0.5)),
    ({"target_moves": "legal"}, (1 + 0.5 * 0.8, -0.5 * 0.7, -0.5)),
    ({"double": True}, (1 + 0.5 * 0.0, -0.5 * 0.0, -0.5)),
    ({"double": True, "target_moves": "legal"}, (1.0, -0.5 * 0.1, -0.5)),
  ],
)
def test_targets_by_hand(fields, expected):
  learner = make(**fields)
  state = begin(learner)
  numbers = jnp.arange(9, dtype=jnp.float32)

  def with_outputs(outputs):
    params = jax.tree.map(jnp.zeros_like, state.online.params)
    params["params"]["layers_1"]["bias"] = outputs
    return params

  batch = replay_lib.Transitions(
    boards=jnp.zeros((3, 9), jnp.int8),
    actions=jnp.zeros(3, jnp.int32),
    rewards=jnp.array([1.0, 0.0, -0.5]),
    discounts=jnp.array([0.5, -0.5, 0.0]),
    next_boards=jnp.array(
      [[0] * 9, [1, 0, 0, 0, 0, 0, 0, 0, -1], [1, -1, 1, -1, 1, -1, -1, 1, 1]],
      jnp.int8,
    ),
  )
  online = state.online._replace(
    params=with_outputs(0.1 * (8 - numbers)), target_params=with_outputs(0.1 * numbers)
  )
  np.testing.assert_allclose(
    quick.jit(learner.updates.targets)(online, batch), expected, rtol=1e-6
  )


def test_update_by_hand():
  learner = make(learning_rate=0.3, network={"bias": True})
  state = begin(learner)
  # Nothing but the outputs' biases: output 4 is 0.5, and all the others 0.
  params = jax.tree.map(jnp.zeros_like, state.online.params)
  params["params"]["layers_1"]["bias"] = jnp.zeros(9).at[4].set(0.5)
  batch = rows(4, 4, 7)._replace(rewards=jnp.array([1.0, -1.0, 1.0]))
  step = quick.jit(learner.updates.step)
  after, error = step(learner.updates.init(params), batch, jnp.int32(0))
  # Errors 0.5, -1.5 and 1: the mean square is 3.5 / 3, and each output moves by a rate
  # of 0.3 times two thirds of its errors.
  assert float(error) == pytest.approx(3.5 / 3)
  bias = np.zeros(9)
  bias[[4, 7]] = 0.5 - 0.2, 0.2
  np.testing.assert_allclose(
    after.params["params"]["layers_1"]["bias"], bias, rtol=1e-6
  )


TWINS = (
  {"invalid": "penalized", "lanes": 2},
  {"invalid": "ignored", "lanes": 3, "starts": "alternate", "double": True},
  {"lanes": 3, "starts": "never", "target_moves": "legal", "updates": 2},
  {"lanes": 2, "opponent": "self", "target_moves": "legal", "symmetries": True},
  {"lanes": 2, "opponent": "self", "invalid": "penalized", "double": True},
  {
    "game": "connect4_4x4",
    "lanes": 2,
    "network": {"hidden": [5, 3], "legal_moves": True, "bias": False},
    "stores_invalid": True,
    "invalid": "ignored",
    "symmetries": True,
  },
)


@pytest.mark.parametrize("fields", TWINS)
def test_learner_equals_its_plain_twin(fields):
  sizes = {"replay": 8, "warmup": 5, "target_every": 3, "learning_rate": 0.2}
  learner = make(**sizes, discount=0.8, **fields)
  game, settings = learner.game, learner.settings
  num_lanes, num_turns = learner.num_lanes, 14
  watch, state = quick.jit(functools.partial(_watch, learner)), begin(learner)
  online = dqn_twin.Network(learner.network, state.online.params)
  slow, num_updates = online.copy(), 0
  has_opponent = learner.opponent is not None
  table = [
    dqn_twin.Lane(game, settings, bool(is_first), has_opponent)
    for is_first in state.games.is_first
  ]
  memory, num_added = [None] * settings.replay, 0
  for _ in range(num_turns):
    seen = jax.device_get(watch(state))
    for number, lane in enumerate(table):
      row = lane.turn(int(seen["actions"][number]), int(seen["answers"][number]))
      if row is not None:
        memory[num_added % settings.replay] = row
        num_added += 1
      if not any(lane.cells) and settings.starts == "alternate" and has_opponent:
        lane.is_first = (number + lane.rounds) % 2 == 0
    _check_memory(seen["after"].replay, memory, num_added)
    for drawn, turned in zip(seen["drawn"], seen["turned"], strict=True):
      if num_added < 5:
        continue
      batch = [memory[place] for place in drawn]
      if settings.symmetries:
        pairs = zip(batch, turned, strict=True)
        batch = [dqn_twin.turned(game, row, symmetry) for row, symmetry in pairs]
      examples = [
        (row[0], row[1], dqn_twin.target(settings, online, slow, row)) for row in batch
      ]
      online.update(examples, settings.learning_rate)
      num_updates += 1
      if num_updates % 3 == 0:
        slow = online.copy()
    state = seen["after"]
  assert num_added > settings.replay
  assert num_updates > 6
  _check_weights(learner, state.online.params, online)
  _check_weights(learner, state.online.target_params, slow)
  assert int(state.games.num_games) == sum(lane.rounds for lane in table)
  assert len(state.games.is_first) == num_lanes


def _watch(learner, state):
  """Returns a turn, and what was drawn on the way."""
  _, key_play, key_learn = jax.random.split(state.key, 3)
  key_choose, key_answer, _ = jax.random.split(key_play, 3)
  choice = learner._choose(state, key_choose)
  states = state.games.states
  games = jax.vmap(learner.game.step)(states, choice.actions)
  games = jax.tree.map(
    lambda new, old: jnp.where(choice.is_mine, new, old), games, states
  )
  answers = choice.actions
  if learner.opponent is not None:
    keys = jax.random.split(key_answer, learner.num_lanes)
    answers = jax.vmap(learner.opponent.act)(state.games.memory, games, keys)
  after = learner.step(state, jnp.bool_(True))
  settings, held = learner.settings, jnp.maximum(after.replay.num_held, 1)
  shape = settings.updates, settings.batch
  key_draw, key_symmetry = jax.random.split(key_learn)
  num_drawn, num_symmetries = shape[0] * shape[1], len(learner.game.symmetries)
  drawn = jax.random.randint(key_draw, (num_drawn,), 0, held)
  turned = jax.random.randint(key_symmetry, (num_drawn,), 0, num_symmetries)
  return {
    "actions": choice.actions,
    "answers": answers,
    "drawn": drawn.reshape(shape),
    "turned": turned.reshape(shape),
    "after": after,
  }


def _check_memory(replay, memory, num_added):
  assert int(replay.num_held) == min(num_added, len(memory))
  assert int(replay.place) == num_added % len(memory)
  for place, row in enumerate(memory):
    if row is None:
      continue
    ours = [leaf[place] for leaf in replay.rows]
    for mine, theirs in zip(ours, row, strict=True):
      np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def _check_weights(learner, params, twin):
  ours = dqn_twin.Network(learner.network, params).weights
  for mine, theirs in zip(ours, twin.weights, strict=True):
    for name in mine:
      np.testing.assert_allclose(mine[name], theirs[name], atol=3e-5, err_msg=name)


def test_target_network_is_copied_at_the_right_times():
  learner = make(lanes=3, batch=3, target_every=4, learning_rate=0.1)
  turn, state = quick.jit(learner.step), begin(learner)
  is_copy = []
  for _ in range(9):
    state = turn(state, jnp.bool_(True))
    leaves = zip(
      jax.tree.leaves(state.online.params),
      jax.tree.leaves(state.online.target_params),
      strict=True,
    )
    # What is computed twice may differ in the last bit.
    is_copy.append(all(np.allclose(a, b, atol=1e-6) for a, b in leaves))
  assert is_copy == [False, False, False, True, False, False, False, True, False]


def test_nothing_is_learnt_before_the_memory_holds_enough():
  learner = make(lanes=2, warmup=7, learning_rate=0.1)
  turn, state = quick.jit(learner.step), begin(learner)
  first = state.online.params
  for _ in range(3):
    state = turn(state, jnp.bool_(True))
    chex.assert_trees_all_equal(state.online.params, first)
  state = turn(state, jnp.bool_(True))
  assert float(state.counts.num_updates) == 1


@pytest.mark.parametrize("invalid", ["penalized", "ignored", "masked"])
def test_moves_that_are_not_possible(invalid):
  learner = make(lanes=200, invalid=invalid, epsilon=1.0, final_epsilon=1.0, replay=500)
  state = begin(learner)
  play = quick.jit(learner._play)
  for key in jax.random.split(jax.random.key(0), 2):
    state, transitions, is_kept = play(state, key)
  # Two stones of nine cells are on the board when each lane chooses again.
  board, action = np.array(transitions.boards), np.array(transitions.actions)
  is_invalid = board[np.arange(200), action] != 0
  if invalid == "masked":
    assert not is_invalid.any()
    return
  assert 20 < is_invalid.sum() < 80
  expected = -0.5 if invalid == "penalized" else 0.0
  assert (np.array(transitions.rewards)[is_invalid] == expected).all()
  np.testing.assert_array_equal(
    np.array(transitions.next_boards)[is_invalid], board[is_invalid]
  )
  assert (np.array(transitions.discounts)[is_invalid] == np.float32(0.95)).all()
  is_kept = np.array(is_kept)
  assert (is_kept[is_invalid] == (invalid == "penalized")).all()
  assert is_kept[~is_invalid].all()


def test_epsilon_falls_exponentially():
  games = jnp.array([0, 100, 1_000_000])
  found = schedule.exponential(0.9, 0.1, 100)(games)
  np.testing.assert_allclose(found, [0.9, 0.1 + 0.8 / np.e, 0.1], rtol=1e-6)


def test_choices_repeated_until_possible_are_as_if_tried_one_by_one():
  rng = np.random.default_rng(0)
  outputs = np.array([0.1, 0.9, 0.3, 0.2, 0.0])
  for legal in ([1, 1, 0, 0, 1], [1, 0, 0, 1, 0]):
    is_legal = np.array(legal, bool)
    tried = np.where(rng.random(40_000) < 0.4, rng.integers(0, 5, 40_000), 1)
    tried = tried[is_legal[tried]]
    expected = np.bincount(tried, minlength=5) / len(tried)
    arrays = jnp.asarray(outputs, jnp.float32), jnp.asarray(is_legal)
    share = float(dqn_evaluation.try_until_legal(*arrays, jnp.float32(0.4)))
    found = share * is_legal / is_legal.sum()
    found[1] += 1 - share if is_legal[1] else 0
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_evaluated_player_moves_at_random_as_often_as_it_should():
  learner = make(network={"bias": True})
  params = jax.tree.map(jnp.zeros_like, begin(learner).online.params)
  params["params"]["layers_1"]["bias"] = jnp.zeros(9).at[4].set(1.0)
  state = learner.game.from_moves([0, 1])
  keys = jax.random.split(jax.random.key(0), 3000)

  def shares(is_masked):
    player = dqn_evaluation.EpsilonGreedy(learner.network, params, 0.3, is_masked)
    act = quick.jit(jax.vmap(functools.partial(player.act, (), state)))
    return np.bincount(act(keys), minlength=9) / 3000

  masked, tried = shares(is_masked=True), shares(is_masked=False)
  assert masked[[0, 1]].sum() == 0 == tried[[0, 1]].sum()
  assert masked[4] == pytest.approx(0.7 + 0.3 / 7, abs=0.03)
  assert tried[4] == pytest.approx((0.7 + 0.3 / 9) / (0.7 + 0.3 * 7 / 9), abs=0.03)


def test_opponent_may_search_beforehand():
  game = jaxgames.LineGame(shape=(2, 3), length=2)
  mixture = players.make(
    game, "sometimes:player=random,other=(mcts:simulations=20),probability=0.1"
  )

  @jax.jit
  def answers(key):
    # As when a learner's programs are built.
    with jax.ensure_compile_time_eval():
      player = dqn_opponents.search_beforehand(mixture, 3)
    assert isinstance(player.other, dqn_opponents.Searched)
    # X has 0 and is to move; every other cell but the far corner wins.
    act = functools.partial(player.other.act, (), game.from_moves([0, 5]))
    return player.other.actions, jax.vmap(act)(jax.random.split(key, 50))

  actions, played = answers(jax.random.key(0))
  graph = graph_lib.of(game)
  is_over = graph.legal_actions == 0
  is_legal = (graph.legal_actions[:, None] >> np.array(actions).astype(np.uint32)) & 1
  assert actions.shape == (graph.num_states, 3)
  assert is_legal[~is_over].all()
  assert set(np.unique(played)) <= {1, 3, 4}
  assert mixture.player is dqn_opponents.search_beforehand(mixture.player, 1)


def test_report_counts_evaluated_games_and_clears():
  learner = make(lanes=4, evaluation_games=50)
  report = quick.jit(learner.report)
  state = quick.jit(functools.partial(training.advance, learner))(begin(learner), 8)
  cleared, metrics = report(state)
  ends = ("wins", "draws", "losses")
  assert sum(int(metrics[f"evaluation_{end}"]) for end in ends) == 50
  assert 5 <= float(metrics["game_length"]) <= 9
  assert float(cleared.counts.games.num_games) == 0
  chex.assert_trees_all_equal(cleared._replace(counts=()), state._replace(counts=()))
  assert isinstance(learner.agent(learner.parameters(state)), players.Chooser)


def test_self_play_halves_the_losses_to_random():
  learner = make(
    opponent="self",
    lanes=32,
    network={"hidden": [40], "activation": "relu"},
    optimizer="adam",
    learning_rate=0.003,
    replay=5000,
    batch=64,
    target_every=50,
    target_moves="legal",
    final_epsilon=0.5,
    symmetries=True,
  )
  before, after = training.losses_to_random(learner, until_games=(0, 4000))
  assert after < before // 2


@pytest.mark.parametrize(
  ("fields", "message"),
  [
    (
      {"game": "connect4", "network": {"outputs": 9}},
      r"learner\.network\.outputs is 9, .* the network has 7",
    ),
    (
      {"network": {"inputs": 18}},
      r"learner\.network\.inputs is 18, .* the network has 9",
    ),
    ({"replay": 2}, "replay is 2, but must be at least batch, which is 3"),
    ({"warmup": 60}, "replay is 50, but must be at least warmup, which is 60"),
    ({"lanes": 51}, r"learner\.replay is 50, .* parallel_games, which is 51"),
    ({"epsilon": 1.5}, "epsilon"),
    ({"final_epsilon": -0.1}, "final_epsilon"),
    ({"evaluation_epsilon": 2.0}, "evaluation_epsilon"),
    (
      {"evaluation_opponent": "nobody"},
      r"learner\.evaluation_opponent[\s\S]*no player",
    ),
    ({"opponent": "self", "draw": 0.2}, r"learner\.draw is 0\.2, .* must be 0\.0"),
    ({"opponent": "self", "loss": -2.0}, r"learner\.loss is -2\.0, .* must be -1\.0"),
    ({"game": "ttt3d", "searches": 2}, r"learner\.searches is 2, .* too many"),
    ({"invalid": "punished"}, "invalid"),
    ({"network": {"hidden": [0]}}, r"hidden\.0"),
    ({"target_every": 0}, "target_every"),
  ],
)
def test_bad_input_is_refused_by_name(fields, message):
  with pytest.raises(ValueError, match=message):
    make(**fields)


@pytest.mark.parametrize("rows_and_columns", [(3, 3), (4, 4)])
def test_room_is_seen_from_the_board(rows_and_columns):
  name = {(3, 3): "tictactoe", (4, 4): "connect4_4x4"}[rows_and_columns]
  game = jaxgames.make(name)
  state = game.from_moves([0, 0, 0, 0, 1] if game.gravity else [0, 4, 8])
  board = game.observe(state).reshape(1, -1)
  np.testing.assert_array_equal(
    q_updates.legal_actions(game, board)[0], game.legal_actions(state)
  )
