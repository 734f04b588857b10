"""The Q learner: the paper's worked example, its plain twin, and its settings."""

import functools

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from jaxgames import networks
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from tests.support import quick
from tests.support import training
from tests.twins import qlearning as qlearning_twin
from train import config as config_lib
from train.learners.qlearning import learner as qlearning
from train.run import programs

# Table 1 of the paper: what the network is shown before each move of 5-9-3-8-7.
MOVES = (4, 8, 2, 7, 6)
STATES = (
  (0, 0, 0, 0, 0, 0, 0, 0, 0),
  (0, 0, 0, 0, -1, 0, 0, 0, 0),
  (0, 0, 0, 0, 1, 0, 0, 0, -1),
  (0, 0, -1, 0, -1, 0, 0, 0, 1),
  (0, 0, 1, 0, 1, 0, 0, -1, -1),
)
POSSIBLE = (
  (1, 1, 1, 1, 1, 1, 1, 1, 1),
  (1, 1, 1, 1, 0, 1, 1, 1, 1),
  (1, 1, 1, 1, 0, 1, 1, 1, 0),
  (1, 1, 0, 1, 0, 1, 1, 1, 0),
  (1, 1, 0, 1, 0, 1, 1, 0, 0),
)
# Table 2: what it should have said.
DESIRED = (
  (0.5, 0.5, 0.5, 0.5, 0.25, 0.5, 0.5, 0.5, 0.5),
  (0.5, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.25),
  (0.5, 0.5, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0),
  (0.5, 0.5, 0, 0.5, 0, 0.5, 0.5, 0.1, 0),
  (0.5, 0.5, 0, 0.5, 0, 0.5, 1, 0, 0),
)
# Eight ways to number the squares, written out by hand.
NUMBERINGS = (
  "123456789",
  "321654987",
  "789456123",
  "987654321",
  "147258369",
  "741852963",
  "369258147",
  "963852741",
)


def make(*, game="tictactoe", opponent="self", lanes=1, network=None, **settings):
  network = {"hidden": [4], "weight_range": 1.0, **(network or {})}
  return programs.make_learner(
    config_lib.RunConfig(
      game=game,
      learner={"kind": "qlearning", "network": network, **settings},
      opponent=opponent,
      games=1000,
      parallel_games=lanes,
      test={"every": 500, "games": 10, "against": "random"},
    )
  )


begin = training.begin_compiled


def shown_games(learner, params):
  """Returns the game of the worked example as the learner would have seen it."""
  num_plies = learner.game.num_cells
  boards = np.zeros((num_plies, 9), np.int8)
  is_legal = np.zeros((num_plies, 9), bool)
  boards[: len(MOVES)], is_legal[: len(MOVES)] = STATES, POSSIBLE
  outputs = learner.network.apply(params, jnp.asarray(boards), jnp.asarray(is_legal))
  actions = np.zeros((num_plies, 1), np.int32)
  actions[: len(MOVES), 0] = MOVES
  end = functools.reduce(learner.game.step, MOVES, learner.game.init())
  return qlearning.Episodes(
    boards=jnp.asarray(boards)[:, None],
    is_legal=jnp.asarray(is_legal)[:, None],
    outputs=outputs[:, None],
    actions=jnp.asarray(actions),
    is_best=jnp.ones((num_plies, 1), bool),
    ends=jax.tree.map(lambda leaf: leaf[None], end),
  )


@functools.cache
def worked_example():
  """Returns the game with its desired outputs and copies, all outputs being 0.5."""
  learner = make()
  # Without weights all sums are 0, whose sigmoid is 0.5.
  params = jax.tree.map(jnp.zeros_like, begin(learner).params)

  @quick.jit
  def see(params):
    games = shown_games(learner, params)
    desired = learner._desired(games)
    return games, desired, learner._examples(games, desired)

  return jax.device_get(see(params))


def test_network_is_shown_what_the_paper_shows():
  game = jaxgames.make("tictactoe")
  for ply in range(len(MOVES)):
    state = game.from_moves(MOVES[:ply])
    assert tuple(np.ravel(game.observe(state)).tolist()) == STATES[ply]
    assert tuple(np.array(game.legal_actions(state)).astype(int)) == POSSIBLE[ply]


def test_worked_example_gives_table_2_digit_for_digit():
  games, desired, _ = worked_example()
  num_moves = len(MOVES)
  outputs = np.float32(0.5) * np.array(POSSIBLE, np.float32)
  np.testing.assert_array_equal(games.outputs[:num_moves, 0], outputs)
  np.testing.assert_array_equal(desired[:num_moves, 0], np.float32(DESIRED))
  assert not desired[num_moves:].any()


def test_eight_copies_are_the_eight_numberings():
  _, _, examples = worked_example()
  assert examples.boards.shape == (9, 8, 1, 9)
  numberings = [[int(digit) - 1 for digit in text] for text in NUMBERINGS]
  for ply in range(len(MOVES)):
    row = 8 - ply  # The last move comes first.
    found = [
      (*examples.boards[row, copy, 0], *examples.desired[row, copy, 0])
      for copy in range(8)
    ]
    expected = [
      (*np.int8(STATES[ply])[order], *np.float32(DESIRED[ply])[order])
      for order in numberings
    ]
    assert sorted(found) == sorted(expected)
    is_free = (examples.boards[row] == 0).all(axis=1)
    np.testing.assert_array_equal(examples.is_legal[row].all(axis=1), is_free)


def test_a_quarter_turn_by_hand():
  _, _, examples = worked_example()
  last = 8 - 4  # The fifth move, of nine plies from the last to the first.
  by_board = {
    tuple(board.tolist()): desired
    for board, desired in zip(
      examples.boards[last, :, 0], examples.desired[last, :, 0], strict=True
    )
  }
  # X is to move, and wins at +; turned clockwise:
  #   . . X      + . .
  #   . X .  ->  O X .
  #   + O O      O . X
  desired = by_board[0, 0, 0, -1, 1, 0, -1, 0, 1]
  assert desired.tolist() == [1, 0.5, 0.5, 0, 0, 0.5, 0, 0.5, 0]


@pytest.mark.parametrize(
  ("is_updated", "first"),
  [
    # A draw: both last moves are worth 0.4. Before that half of 0.9, which was not the
    # move made, and half of 0.4, which was.
    ((True, True, True, True), [0.45, 0.6]),
    # What is not updated stays as it was.
    ((False, True, True, True), [0.2, 0.6]),
  ],
)
def test_desired_outputs_by_hand(is_updated, first):
  desired = quick.jit(
    functools.partial(qlearning.desired_outputs, discount=0.5, rewards=(1.0, 0.4, 0.1))
  )(
    jnp.array([[0.2, 0.6], [0.3, 0.4], [0.9, 0.8], [0.3, 0.1]]),
    jnp.array([0, 1, 1, 0], jnp.int32),
    jnp.array(is_updated),
    jnp.int32(4),
    jnp.bool_(False),
  )
  expected = [first, [0.3, 0.2], [0.9, 0.4], [0.4, 0.1]]
  np.testing.assert_allclose(desired, expected, rtol=1e-6)


@pytest.mark.parametrize(
  "fields",
  [
    {},
    {"lanes": 3, "epsilon": 0.5, "steps": "position"},
    {"lanes": 2, "steps": "example", "passes": 2, "gradient": "mean"},
    {
      "game": "connect4_4x4",
      "lanes": 2,
      "network": {"hidden": [5, 3], "bias": True, "activation": "tanh"},
    },
    {
      "symmetric_copies": False,
      "network": {"legal_moves": False},
      "epsilon": 0.5,
      "random_answers": "ignored",
      "lanes": 3,
    },
    {"lanes": 4, "minibatch": 2, "steps": "position"},
  ],
)
def test_learner_equals_its_plain_twin(fields):
  learner = make(**{"learning_rate": 0.5, "discount": 0.8, "draw": 0.6, **fields})
  state = begin(learner)
  twin = qlearning_twin.Network(learner.network, state.params)

  @quick.jit
  def watch(state):
    games = learner._play(state, jax.random.split(state.key)[1])
    return games, learner._step(state)

  for _ in range(4):
    games, state = watch(state)
    all_moves, all_best = [], []
    for lane, length in enumerate(np.asarray(games.ends.num_moves)):
      moves = np.asarray(games.actions)[:length, lane].tolist()
      is_best = np.asarray(games.is_best)[:length, lane].tolist()
      shown, has_won = qlearning_twin.replay(learner.game, moves)
      assert has_won == abs(int(games.ends.winner[lane]))
      for (board, legal), move, best in zip(shown, moves, is_best, strict=True):
        assert legal[move]
        outputs, _ = twin.forward(board, legal)
        lack = qlearning_twin.lacks_of_best(outputs, legal, move)
        assert lack < 1e-5 if best else lack > -1e-5
        assert best or learner.settings.epsilon > 0
      all_moves.append(moves)
      all_best.append(is_best)
    settings, size = learner.settings, learner.minibatch
    qlearning_twin.learn(twin, learner.game, settings, all_moves, all_best, size)
  ours = qlearning_twin.Network(learner.network, state.params).weights
  for mine, theirs in zip(ours, twin.weights, strict=True):
    for name in mine:
      np.testing.assert_allclose(mine[name], theirs[name], atol=3e-5, err_msg=name)
  assert int(state.num_games) == 4 * learner.num_lanes


def test_trial_that_waits_stays_as_it_is():
  learner = make(lanes=2)
  state = begin(learner)
  turn = quick.jit(learner.step)
  chex.assert_trees_all_equal(turn(state, jnp.bool_(False)), state)
  after = turn(state, jnp.bool_(True))
  assert int(after.num_games) == 2
  _, metrics = learner.report(after)
  assert 5 <= float(metrics["game_length"]) <= 9
  cleared, _ = learner.report(after)
  assert float(cleared.counts.games.num_games) == 0


def test_moves_within_the_margin_are_drawn():
  learner = make(lanes=2000, margin=0.1)
  outputs = jnp.tile(jnp.array([[0.5, 0.45, 0.2, 0.0, 0.41, 0.39, 0, 0, 0]]), (2000, 1))
  is_legal = jnp.tile(jnp.arange(9)[None] != 0, (2000, 1))
  draw = quick.jit(learner._choose)
  # The highest output is of a move that is not possible.
  actions, is_best = draw(outputs, is_legal, jnp.float32(0), jax.random.key(0))
  found = np.bincount(actions)
  assert is_best.all()
  assert np.flatnonzero(found).tolist() == [1, 4, 5]
  assert found[[1, 4, 5]].min() > 500
  actions, is_best = draw(outputs, is_legal, jnp.float32(1), jax.random.key(1))
  assert np.unique(actions).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
  np.testing.assert_array_equal(is_best, np.isin(actions, [1, 4, 5]))


@pytest.mark.parametrize("name", ["tictactoe", "connect4_4x4"])
def test_player_chooses_the_highest_outputs(name):
  game = jaxgames.make(name)
  network = networks.QNetwork(game, (6,), activation="relu", output_activation="tanh")
  graph = graph_lib.of(game)
  states = jax.tree.map(lambda leaf: leaf[:300], graph.states)

  @quick.jit
  def see(key):
    boards = jax.vmap(game.observe)(states).reshape(300, -1)
    legal = jax.vmap(game.legal_actions)(states)
    params = network.init(key, boards, legal)
    player = players.QGreedy(network, params)
    sets = player.action_sets(graph._replace(states=states))
    cells = jax.vmap(lambda state: bits.unpack(player.choices(state), game.num_cells))
    playable = jax.vmap(lambda state: bits.unpack(game.playable_cells(state), 16))
    values = network.apply(params, boards, legal)
    return values, legal, sets, cells(states), playable(states)

  values, legal, sets, cells, playable = jax.device_get(see(jax.random.key(0)))
  best = np.where(legal, values, -np.inf).max(axis=1, keepdims=True)
  is_best = legal & (values >= best - 1e-6)
  chosen = (sets[:, None] >> np.arange(game.num_actions)) & 1 == 1
  assert (chosen <= is_best).all()
  assert (chosen.any(axis=1) == legal.any(axis=1)).all()
  assert (cells <= playable[:, : game.num_cells]).all()
  assert (cells.sum(axis=1) == chosen.sum(axis=1)).all()
  assert isinstance(players.QGreedy(network, {}), players.Chooser)


def test_outputs_may_be_those_of_all_moves():
  game = jaxgames.make("tictactoe")
  network = networks.QNetwork(
    game, (5, 4), "relu", "identity", sees_moves=False, masks_outputs=False
  )
  boards, legal = jnp.ones((2, 9), jnp.int8), jnp.zeros((2, 9), bool)
  outputs, params = quick.jit(network.init_with_output)(
    jax.random.key(0), boards, legal
  )
  assert params["params"]["layers_0"]["kernel"].shape == (9, 5)
  assert np.asarray(outputs).any()


def test_self_play_halves_the_losses_to_random():
  learner = make(
    lanes=16,
    learning_rate=0.05,
    discount=0.9,
    epsilon=0.5,
    steps="position",
    network={"hidden": [30], "bias": True, "weight_range": 0.5},
  )
  before, after = training.losses_to_random(learner, until_games=(0, 12_000))
  assert after < before // 2


@pytest.mark.parametrize(
  ("fields", "message"),
  [
    (
      {"game": "connect4", "network": {"outputs": 9}},
      r"learner\.network\.outputs is 9, .* the network has 7",
    ),
    (
      {"network": {"inputs": 18, "legal_moves": False}},
      r"learner\.network\.inputs is 18, .* the network has 9",
    ),
    ({"opponent": "random"}, "opponent is 'random', .* must be 'self'"),
    ({"network": {"hidden": [0]}}, r"hidden\.0"),
    ({"discount": 1.5}, "discount"),
    ({"loss": 2.0}, "loss"),
    ({"draw": -0.5}, "draw"),
    ({"steps": "game"}, "steps"),
    ({"network": {"activation": "cosine"}}, "activation"),
  ],
)
def test_bad_input_is_refused_by_name(fields, message):
  with pytest.raises(ValueError, match=message):
    make(**fields)
