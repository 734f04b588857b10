"""The ADP learner: steps by hand, its plain twin, its inputs, and its settings."""

import functools
import io
import re

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import rich.console

import jaxgames
from jaxgames import arena
from jaxgames import networks
from jaxgames import players
from jaxgames.gomoku import windows
from jaxgames.players import critic_greedy
from tests.support import quick
from tests.support import runs
from tests.support import training
from tests.twins import adp as adp_twin
from train import config as config_lib
from train.engines import brain as brain_lib
from train.learners.adp import updates as updates_lib
from train.run import agents
from train.run import loop
from train.run import programs

NO_CHANCE = ({"games": 1000, "epsilon": 0.0},)


def make_config(*, game="gomoku:size=7", lanes=2, network=None, **settings):
  learner = {
    "kind": "adp",
    "network": {"hidden": 6, **(network or {})},
    "updates": 3,
    "stages": NO_CHANCE,
    **settings,
  }
  return config_lib.RunConfig(
    game=game,
    learner=learner,
    games=1000,
    parallel_games=lanes,
    test={"every": 500, "games": 4, "against": "random"},
  )


def make(**settings):
  return programs.make_learner(make_config(**settings))


def begin(learner, seed=0):
  return training.begin_compiled(learner, jax.random.key(seed))


def turns(learner, state, num_turns):
  """Returns a trial after some turns."""
  return _turns(learner, num_turns, state)


@functools.partial(quick.jit, static_argnums=(0, 1))
def _turns(learner, num_turns, state):
  return jax.lax.fori_loop(0, num_turns, lambda _, now: learner._step(now), state)


# Learning.


def random_transitions(num, num_inputs, seed=0):
  random = np.random.default_rng(seed)
  sparse = random.random((2, num, num_inputs)) * (
    random.random((2, num, num_inputs)) < 0.4
  )
  return updates_lib.Transitions(
    *(jnp.asarray(part, jnp.float32) for part in sparse),
    rewards=jnp.asarray(random.random(num), jnp.float32),
    discounts=jnp.asarray(random.integers(0, 2, num), jnp.float32),
    weights=jnp.asarray([1, 0, *[1] * (num - 2)][:num], jnp.float32),
  )


@pytest.mark.parametrize("is_fresh", [False, True])
@pytest.mark.parametrize("num_transitions", [1, 5])
def test_steps_are_those_of_gradient_descent(num_transitions, is_fresh):
  learner = make(network={"hidden": 4})
  params = learner.critic.init(jax.random.key(1), jnp.zeros((1, 274)))
  transitions = random_transitions(num_transitions, 274)

  def targets(params):
    values = learner.critic.apply(params, transitions.next_inputs)
    return transitions.rewards + transitions.discounts * values

  def loss(params, targets):
    errors = targets - learner.critic.apply(params, transitions.inputs)
    return 0.5 * (transitions.weights * errors**2).sum()

  expected, fixed = params, targets(params)
  for _ in range(7):
    now = targets(expected) if is_fresh else fixed
    gradient = jax.grad(loss)(expected, now)
    expected = jax.tree.map(lambda w, g: w - 0.3 * g, expected, gradient)
  found, errors = updates_lib.descend(
    params, transitions, 0.3, steps=7, is_fresh=is_fresh
  )
  chex.assert_trees_all_close(found, expected, atol=1e-5)
  values = learner.critic.apply(params, transitions.inputs)
  np.testing.assert_allclose(errors, transitions.weights * (fixed - values), atol=1e-6)


def test_step_by_hand():
  # Two inputs, 1 and 2, one hidden unit with weights 0.5 and -0.25: its sum is 0, it is
  # 0.5, and with an outer weight of 2 the output's sum is 1.
  params = {"params": {"inner": jnp.array([[0.5], [-0.25]]), "outer": jnp.array([2.0])}}
  value = 1 / (1 + np.exp(-1.0))
  transitions = updates_lib.Transitions(
    inputs=jnp.array([[1.0, 2.0]]),
    next_inputs=jnp.zeros((1, 2)),
    rewards=jnp.array([1.0]),
    discounts=jnp.array([0.0]),
    weights=jnp.array([1.0]),
  )
  rate = 0.05 * 0.2**2
  found, errors = updates_lib.descend(
    params, transitions, rate, steps=1, is_fresh=False
  )
  # Equation 11: l alpha e exp(-p) V^2 g, where e is alpha times the difference.
  push = 0.05 * 0.2 * (0.2 * (1 - value)) * np.exp(-1.0) * value**2
  np.testing.assert_allclose(found["params"]["outer"], [2.0 + push * 0.5], rtol=1e-6)
  # Equation 14: with w2 = 2, g^2 exp(-h) = 0.25.
  expected = [[0.5 + push * 2 * 0.25 * 1], [-0.25 + push * 2 * 0.25 * 2]]
  np.testing.assert_allclose(found["params"]["inner"], expected, rtol=1e-6)
  np.testing.assert_allclose(errors, [1 - value], rtol=1e-6)


@pytest.mark.parametrize(
  "fields",
  [
    {"lanes": 1},
    {"lanes": 3, "updates": 2, "discount": 0.9},
    {"lanes": 4, "minibatch": 2, "updates": 2},
    {"game": "gomoku:size=5", "lanes": 1, "distance": 2, "takes_five": False},
  ],
)
def test_learner_equals_its_plain_twin(fields):
  learner = make(**{"learning_rate": 1.0, **fields})
  state = begin(learner)
  twin = adp_twin.Twin(learner, state.params)
  for _ in range(30):
    twin.turn()
  state = turns(learner, state, 30)
  assert int(state.games.num_games) == twin.num_games > 0
  for lane, twin_lane in enumerate(twin.lanes):
    sign = np.where(np.asarray(state.games.states.num_moves)[lane] % 2, -1, 1)
    one = jax.tree.map(lambda leaf, lane=lane: leaf[lane], state.games.states)
    board = np.asarray(learner.game.observe(one)) * sign
    board = board if state.games.is_first[lane] else -board
    assert board.ravel().tolist() == list(twin_lane.board.cells.values())
  np.testing.assert_allclose(state.params["params"]["inner"], twin.inner, atol=2e-5)
  np.testing.assert_allclose(state.params["params"]["outer"], twin.outer, atol=2e-5)


def test_mean_gradient_is_the_sum_over_the_number_of_games():
  summed = make(lanes=4, gradient="sum", learning_rate=0.1)
  mean = make(lanes=4, gradient="mean", learning_rate=0.4)
  ends = [turns(learner, begin(learner), 12).params for learner in (summed, mean)]
  chex.assert_trees_all_close(*ends, atol=1e-6)


def test_counts_are_kept_up_to_date():
  learner = make(lanes=8, game="gomoku", stages=({"games": 9, "epsilon": 0.5},))
  state = turns(learner, begin(learner), 30)
  boards = jax.vmap(learner.game.observe)(state.games.states)
  is_turn = (state.games.states.num_moves % 2 == 0) == state.games.is_first
  boards = jnp.where(is_turn[:, None, None], boards, -boards)
  expected = jax.jit(jax.vmap(learner.critic.count))(boards)
  np.testing.assert_array_equal(state.shapes, expected)
  assert np.asarray(state.shapes).max() > 0


def test_random_moves_may_update_nothing():
  stages = ({"games": 1000, "epsilon": 1.0},)
  learner = make(stages=stages, exploration_updates=False)
  start = begin(learner)
  before_end = turns(learner, start, 5)
  chex.assert_trees_all_equal(before_end.params, start.params)


# What the critic sees.


@pytest.mark.parametrize(
  ("network", "inputs"),
  [
    ({}, 274),
    ({"counts": "plain"}, 122),
    ({"turn": "two"}, 196),
    ({"turn": "none"}, 194),
    ({"counts": "none", "turn": "two", "first": False, "board": True}, 452),
  ],
)
def test_inputs_of_the_five_architectures(network, inputs):
  learner = make(game="gomoku", network={**network, "inputs": inputs})
  situation = networks.Situation(
    counts=jnp.zeros((3, 2, 20), jnp.int32),
    boards=jnp.zeros((3, 225), jnp.int8),
    is_turn=jnp.ones(3, bool),
    is_first=jnp.ones(3, bool),
  )
  assert learner.critic.encode(situation).shape == (3, inputs)


def encode(learner, counts, *, is_turn=True, is_first=True):
  return np.asarray(
    learner.critic.encode(
      networks.Situation(
        counts=jnp.asarray(counts, jnp.int32)[None],
        boards=jnp.zeros((1, learner.game.num_cells), jnp.int8),
        is_turn=jnp.array([is_turn]),
        is_first=jnp.array([is_first]),
      )
    )
  )[0]


@pytest.mark.parametrize(
  ("count", "code"),
  [
    (0, [0, 0, 0, 0, 0]),
    (1, [1, 0, 0, 0, 0]),
    (3, [1, 1, 1, 0, 0]),
    (4, [1, 1, 1, 1, 0]),
    (5, [1, 1, 1, 1, 0.5]),
    (8, [1, 1, 1, 1, 2]),
  ],
)
def test_code_of_a_count_is_that_of_table_1(count, code):
  learner, counts = make(), np.zeros((2, 20), int)
  counts[1, 7] = count
  x = encode(learner, counts)
  start = 2 + 5 * 19 + 5 * 6
  assert x[start : start + 5].tolist() == code
  assert x[: 5 * 38 + 2].sum() == sum(code)


def test_turn_and_first_are_told():
  learner, counts = make(), np.zeros((2, 20), int)
  counts[0, 0], counts[1, 3] = 2, 1
  mine, theirs = (encode(learner, counts, is_turn=turn) for turn in (True, False))
  assert mine[:2].tolist() == [1, 0]
  turns_told = slice(192, 272)
  assert np.flatnonzero(mine[turns_told]).tolist() == [0, 2 * 23]
  assert np.flatnonzero(theirs[turns_told]).tolist() == [1, 2 * 23 + 1]
  assert mine[-2:].tolist() == [1, 0]
  assert encode(learner, counts, is_first=False)[-2:].tolist() == [0, 1]


# Games.


def test_near_stones():
  game = jaxgames.make("gomoku:size=7")
  empty = np.asarray(windows.near_stones(game, game.init(), 1)).reshape(7, 7)
  assert np.argwhere(empty).tolist() == [[3, 3]]
  state = game.from_moves([0, 24])
  found = np.asarray(windows.near_stones(game, state, 1)).reshape(7, 7)
  expected = np.zeros((7, 7), bool)
  expected[:2, :2] = True
  expected[2:5, 2:5] = True
  expected[0, 0] = expected[3, 3] = False
  np.testing.assert_array_equal(found, expected)
  far = np.asarray(windows.near_stones(game, state, 6))
  assert far.sum() == 47


def test_moves_of_many_games_are_judged_as_one_by_one():
  learner = make(lanes=40, game="gomoku", stages=({"games": 9, "epsilon": 0.4},))
  state = turns(learner, begin(learner), 25)
  situations = learner._situations(state)
  judge = functools.partial(critic_greedy.consider, learner.critic, distance=2)
  moves = quick.jit(judge)(state.params, state.games.states, situations)
  assert np.asarray(moves.is_move).sum() > critic_greedy.MOST
  at = quick.jit(functools.partial(critic_greedy.after, learner.critic))
  for lane in (0, 7, 39):
    one = jax.tree.map(
      lambda leaf, lane=lane: leaf[lane][None], (state.games.states, situations)
    )
    for cell in np.flatnonzero(moves.is_move[lane])[::9]:
      after = at(*one, jnp.array([cell], jnp.int32))
      value = learner.critic.apply(state.params, learner.critic.encode(after))
      np.testing.assert_allclose(moves.values[lane, cell], value[0], rtol=1e-5)


def test_moves_that_change_many_counts_are_judged_by_all_inputs(monkeypatch):
  learner = make(lanes=4, stages=({"games": 9, "epsilon": 0.4},))
  state = turns(learner, begin(learner), 12)
  args = (state.params, state.games.states, learner._situations(state))
  judge = functools.partial(critic_greedy.consider, learner.critic, distance=1)
  expected = jax.jit(judge)(*args)
  # So many that they are more than one chunk.
  monkeypatch.setattr(critic_greedy, "MOST_CHANGES", 1)
  monkeypatch.setattr(critic_greedy, "REST", 8)
  found = jax.jit(functools.partial(judge))(*args)
  is_move = np.asarray(expected.is_move)
  np.testing.assert_allclose(found.values[is_move], expected.values[is_move], rtol=1e-5)
  assert (found.values[is_move] != expected.values[is_move]).any()


def test_first_moves_are_random_only_where_they_should_be():
  stages = ({"games": 100, "epsilon": 0.0, "random_opening": True},)
  learner = make(lanes=400, stages=stages, updates=1)
  state = turns(learner, begin(learner), 1)
  cells = np.asarray(jax.vmap(learner.game.observe)(state.games.states)).reshape(
    400, -1
  )
  first = np.abs(cells).argmax(axis=1)
  # In every other lane player 1 moves first, into the centre.
  assert (first[::2] == 24).all()
  assert len(set(first[1::2].tolist())) > 40


def test_stages_follow_each_other():
  stages = (
    {"games": 10, "epsilon": 0.3, "random_opening": True},
    {"games": 5, "epsilon": 0.2},
    {"games": 5, "epsilon": 0.1},
  )
  learner = make(stages=stages)
  found = {}
  for games in (0, 9, 10, 14, 15, 1000):
    epsilon, opening = learner._stage(jnp.int32(games))
    found[games] = round(float(epsilon), 3), bool(opening)
  assert found == {
    0: (0.3, True), 9: (0.3, True), 10: (0.2, False), 14: (0.2, False),
    15: (0.1, False), 1000: (0.1, False),
  }  # fmt: skip


@pytest.mark.parametrize("size", [5, 6])
def test_full_boards_are_draws_and_games_go_on(size):
  learner = make(game=f"gomoku:size={size}", lanes=16, takes_five=False)
  state = begin(learner)
  # A critic that knows nothing plays the last cell near stones.
  params = jax.tree.map(jnp.zeros_like, state.params)
  state = turns(learner, state._replace(params=params), size * size + 3)
  assert int(state.games.num_games) >= 16
  chex.assert_tree_all_finite(state.params)


def test_agent_completes_five_and_takes_its_side():
  learner = make(game="gomoku")
  state = begin(learner)
  game = learner.game
  agent = learner.agent(learner.parameters(state))
  position = game.from_moves([0, 100, 1, 101, 2, 102, 3, 103])
  chosen = np.asarray(agent.act((), position, jax.random.key(0)))
  assert chosen == 4
  assert isinstance(agent, players.Chooser)


# An expert.


def test_who_is_its_own_expert_is_right():
  learner = make(expert="attack", lanes=8, learning_rate=1e-12)
  state = begin(learner)
  # The expert takes itself for player 1 in either seat: a critic that does not tell the
  # players apart is of one mind with it.
  params = jax.tree.map(jnp.zeros_like, state.params)
  state = state._replace(params=params)
  state = state._replace(expert=learner.agent(learner.parameters(state)))
  _, metrics = quick.jit(learner.report)(turns(learner, state, 60))
  assert float(metrics["correct"]) == 1
  assert 0 < float(metrics["moves_counted"]) <= 49


def test_watched_games_are_the_experts():
  learner = make(expert="defense:ties=first", watches=True, lanes=8)
  state = turns(learner, begin(learner), 9)
  for _ in range(5):
    choices = jax.vmap(state.expert.choices)(state.games.states)
    after = turns(learner, state, 1)
    stones = np.asarray(after.games.states.other) & ~np.asarray(state.games.states.own)
    is_new = np.asarray(after.games.states.num_moves) > 0
    assert ((stones & np.asarray(choices)) == stones)[:, is_new].all()
    state = after
  _, metrics = quick.jit(learner.report)(state)
  both = (metrics["correct_player1"], metrics["correct_player2"])
  assert min(both) <= metrics["correct"] <= max(both)


# The loop's demands.


def test_self_teaching_learns_to_win():
  learner = make(
    game="gomoku:size=9",
    lanes=16,
    network={"hidden": 20},
    updates=50,
    learning_rate=0.5,
    stages=({"games": 1000, "epsilon": 0.1},),
  )
  opponent = players.make(learner.game, "attack-defense")
  before = begin(learner)
  after = jax.jit(functools.partial(training.advance, learner))(before, 600)

  @jax.jit
  def wins(state):
    agent, key = learner.agent(learner.parameters(state)), jax.random.key(0)
    return arena.play_match(agent, opponent, key, num_games=60).wins.sum()

  assert int(wins(before)) < 30 < 45 < int(wins(after))


# A run as a user makes it.


# One process makes the run.
shares_run = pytest.mark.xdist_group("adp run")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  """The directory of a small run that was stopped and resumed."""
  directory = tmp_path_factory.mktemp("adp") / "run"
  config = make_config(lanes=2, updates=1).model_copy(update={"trials": 2, "games": 6})
  test = config.test.model_copy(
    update={"every": 3, "also_against": {"rules": "attack"}}
  )
  console = rich.console.Console(file=io.StringIO())
  loop.start(config.model_copy(update={"test": test}), directory, console)
  return directory


@shares_run
def test_tests_against_several_players_are_reported(run):
  for line in runs.lines(run):
    shares = [line[f"rules_{end}"] for end in ("wins", "draws", "losses")]
    assert sum(shares) == pytest.approx(1)
    assert line["wins"] + line["draws"] + line["losses"] == 4


@shares_run
def test_agents_play_on_other_boards_and_look_ahead(run):
  for size in (7, 9):
    game = jaxgames.make(f"gomoku:size={size}")
    player = agents.make(game, f"lookahead:player={run}@1,width=2,depth=2")
    assert player.game == game
    position = game.from_moves([0, 20, 1, 21, 2, 22, 3, 23])
    act = quick.jit(functools.partial(player.act, ()))
    assert int(act(position, jax.random.key(0))) == 4
  with pytest.raises(ValueError, match="not this game"):
    agents.make(jaxgames.make("tictactoe"), str(run))


@shares_run
def test_a_run_may_watch_another(run, tmp_path, console):
  config = make_config(lanes=2, updates=1, expert=f"{run}@1", watches=True)
  loop.start(config.model_copy(update={"games": 4}), tmp_path / "watching", console)
  (line,) = runs.lines(tmp_path / "watching")
  assert 0 <= line["correct"] <= 1
  # What was watched is part of what is saved.
  agent = agents.make(jaxgames.make("gomoku:size=7"), str(tmp_path / "watching"))
  assert isinstance(agent, players.CriticGreedy)


@shares_run
def test_an_agent_is_an_engine(run):
  brain = brain_lib.Brain(brain_lib.make_players_fn([str(run)]), name="run", seed=0)
  assert brain.handle("START 8") == ["OK"]
  (answer,) = brain.handle("BEGIN")
  assert re.fullmatch(r"[34],[34]", answer)


def test_a_critic_that_sees_cells_stays_on_its_board():
  network = {"counts": "none", "turn": "two", "first": False, "board": True}
  learner = make(network=network)
  agent = learner.agent(begin(learner).params)
  with pytest.raises(ValueError, match="this player plays"):
    agent.on(jaxgames.make("gomoku"))


@pytest.mark.parametrize(
  ("fields", "message"),
  [
    ({"game": "connect4"}, "boards with two axes"),
    ({"network": {"inputs": 100}}, "network.inputs is 100, but this network has 274"),
    ({"network": {"counts": "cded"}}, "coded"),
    (
      {"network": {"counts": "none", "turn": "none", "first": False}},
      "must see something",
    ),
    ({"stages": ()}, "stages"),
    ({"stages": ({"games": 5, "epsilon": 1.5},)}, "epsilon"),
    ({"watches": True}, "no expert to watch"),
    ({"expert": "nobody"}, r"learner\.expert[\s\S]*no player 'nobody'"),
    ({"expert": "mcts"}, "does not choose by the position alone"),
  ],
)
def test_bad_input_is_refused_by_name(fields, message):
  with pytest.raises(ValueError, match=message):
    make(**fields)


def test_an_agent_comes_with_the_project(monkeypatch):
  monkeypatch.chdir("/")
  game = jaxgames.make("gomoku")
  spec = agents.default_opponent("gomoku")
  assert spec == "lookahead:player=gomoku"
  player = agents.make(game, spec)
  position = game.from_moves([112, 0, 113, 1, 114, 2])
  # Three in a row in the open, and nothing to fear: an open four wins.
  move = int(quick.jit(functools.partial(player.act, ()))(position, jax.random.key(0)))
  assert move in (111, 115)
  assert agents.default_opponent("connect4") == agents.OTHERWISE
