"""The tabular learner, against a plain-Python twin and hand-worked numbers."""

import functools

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
from tests.twins import tabular as tabular_twin
from train import config as config_lib
from train.learners.tabular import learner as tabular
from train.learners.tabular import opponents as opponents_lib
from train.run import programs

ALL = ("attack-defense", "random", "defense-attack", "attack", "defense", "combined")


def make(*, game="tictactoe", opponent="attack-defense", **settings):
  return programs.make_learner(
    config_lib.RunConfig(
      game=game,
      learner={"kind": "tabular", **settings},
      opponent=opponent,
      games=1000,
      test={"every": 1000, "games": 10, "against": "random"},
    )
  )


def train(learner, num_games, opponent=0):
  """Returns a trial after some games."""

  @quick.jit
  def run(key, until_games):
    state = training.begin(learner, key, opponent)
    return training.advance(learner, state, until_games)

  return run(jax.random.key(0), num_games)


def place_of(game, moves):
  """Returns where the position after some moves is in the graph."""
  graph = graph_lib.of(game)
  place = 0
  for move in moves:
    place = int(graph.successors[place, move])
  return place


def boards_of(game):
  graph = graph_lib.of(game)
  boards = np.asarray(quick.jit(jax.vmap(game.board))(graph.states))
  return [tuple(board) for board in boards.reshape(-1, game.num_cells).tolist()]


@pytest.mark.parametrize(
  ("game", "opponent", "rules", "settings"),
  [
    ("tictactoe", "attack-defense", ("win", "block"), {}),
    ("tictactoe", "random", (), {"visits": "own"}),
    ("tictactoe", "defense-attack", ("block", "win"), {"values": "old"}),
    ("tictactoe", "attack", ("win",), {"random_games": "drawn", "ties": "first"}),
    ("tictactoe", "defense", ("block",), {"opening": "own", "random_every": 0}),
    ("connect4_4x4", "attack-defense", ("win", "block"), {"discount": 0.9}),
    (
      "tictactoe",
      "attack-defense",
      ("win", "block"),
      {"random_moves": 0.3, "random_updates": False},
    ),
    (
      "connect4_4x4",
      "defense-attack",
      ("block", "win"),
      {"starts": "always", "initial": 0.1, "draw": 0.0},
    ),
  ],
)
def test_twin_learns_the_same_table(game, opponent, rules, settings):
  learner = make(game=game, opponent=opponent, **settings)
  num_games = 60
  state = train(learner, num_games)
  twin = tabular_twin.Twin(learner.game, learner.settings, rules)
  num_coins = learner.game.num_cells if "random_moves" in settings else 0
  shape = (2 + learner.game.num_cells + num_coins,)
  key = jax.random.key(0)
  for number in range(num_games):
    twin.play(np.asarray(jax.random.bits(jax.random.fold_in(key, number), shape)))
  expected = [twin.value(board) for board in boards_of(learner.game)]
  np.testing.assert_allclose(state.utilities, expected, rtol=1e-6, atol=1e-7)
  assert len(twin.table) > 80
  assert int(state.num_losses) == sum(twin.lost)


def test_hand_worked_game():
  # The opponent wins the top row. Backwards: -1, then a quarter of the way each time.
  learner = make()
  moves = [0, 3, 1, 4, 2]
  places = [place_of(learner.game, moves[:n]) for n in range(6)]
  visited = jnp.array([*places, *places[-1:] * 4])
  state = training.begin(learner, jax.random.key(0))
  game = tabular._Game(visited, jnp.zeros(9, bool))
  updated, values = learner._updates(state, game)
  np.testing.assert_array_equal(updated, visited)
  expected = [-(0.25**5), -(0.25**4), -(0.25**3), -(0.25**2), -0.25, -1, -1, -1, -1, -1]
  np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_trials_with_different_opponents_are_as_they_are_alone():
  together = make(opponent={f"o{i}": name for i, name in enumerate(ALL)})

  @quick.jit
  def run(opponents):
    begin = functools.partial(training.begin, together, jax.random.key(0))
    states = jax.vmap(begin)(opponents)
    turn = functools.partial(together.step, is_active=jnp.bool_(True))
    return jax.lax.fori_loop(0, 300, lambda _, states: jax.vmap(turn)(states), states)

  states = run(jnp.arange(6, dtype=jnp.int32))
  for number in (0, 5):
    alone = train(make(opponent=ALL[number]), 300)
    np.testing.assert_array_equal(states.utilities[number], alone.utilities)
  assert len(np.unique(np.asarray(states.utilities), axis=0)) == 6


def test_losses_are_counted_over_the_last_games():
  learner = make(window=20)
  twin = tabular_twin.Twin(learner.game, learner.settings, ("win", "block"))
  key = jax.random.key(0)
  for number in range(67):
    twin.play(np.asarray(jax.random.bits(jax.random.fold_in(key, number), (11,))))
    if number + 1 in (7, 20, 67):
      state, metrics = learner.report(train(learner, number + 1))
      recent = twin.lost[-20:]
      assert float(metrics["loss_ratio"]) == pytest.approx(sum(recent) / len(recent))
      assert int(metrics["lost_games"]) == sum(twin.lost)
      last = max(n for n, lost in enumerate(twin.lost, start=1) if lost)
      assert int(state.last_loss) == last
  assert 5 <= float(metrics["game_length"]) <= 9


@pytest.mark.parametrize("losses_count", ["all", "scripted"])
def test_a_trial_ends_after_enough_games_without_a_loss(losses_count):
  # A scripted opponent that never wins on purpose, every second game a random one.
  learner = make(
    opponent="defense",
    random_every=2,
    patience=30,
    check_every=10,
    losses_count=losses_count,
  )
  state = train(learner, 5000)
  games, last = int(state.num_games), int(state.last_loss)
  assert games < 5000
  assert games % 10 == 0
  assert 30 <= games - last < 40
  assert bool(learner.is_done(state))
  later = training.advance(learner, state, 6000)
  assert int(later.num_games) == games


def test_patience_zero_never_ends():
  learner = make(patience=0)
  assert not learner.is_done(training.begin(learner, jax.random.key(0)))
  assert int(train(learner, 200).num_games) == 200


def test_symmetric_positions_share_a_value():
  learner = make(symmetry=True)
  state = train(learner, 500)
  graph = learner.graph
  is_touched = np.asarray(state.utilities) != 0
  assert (graph.representatives[is_touched] == np.flatnonzero(is_touched)).all()
  table = learner.agent(learner.parameters(state)).table
  for moves in ([0, 4, 8], [2, 4, 6]):
    place = place_of(learner.game, moves)
    assert float(table[place]) == float(table[place_of(learner.game, [0, 4, 8])])
  assert int(is_touched.sum()) > 50


def test_self_goes_where_the_learner_fares_worst():
  learner = make(opponent="self", random_every=0)
  game, state = learner.game, training.begin(learner, jax.random.key(0))
  opening = place_of(game, [4, 0])
  worst = place_of(game, [4, 0, 8])
  utilities = state.utilities.at[worst].set(-0.5)
  successors = learner.successors[opening]
  found = learner.opponents.choices(
    jnp.int32(opponents_lib.SELF),
    jnp.int32(opening),
    utilities[successors],
    jnp.uint32(learner.graph.legal_actions[opening]),
  )
  assert int(found) == 1 << 8


def test_the_player_goes_to_what_is_worth_most():
  game = jaxgames.make("connect4_4x4")
  table = np.zeros(graph_lib.of(game).num_states, np.float32)
  table[place_of(game, [0, 1])] = 0.5
  table[place_of(game, [0, 3])] = 0.5
  player = players.TableGreedy(game, table, -1)
  state = game.from_moves([0])
  act = quick.jit(jax.vmap(functools.partial(player.act, (), state)))
  actions = act(jax.random.split(jax.random.key(0), 100))
  assert set(np.unique(actions).tolist()) == {1, 3}
  # For the other side what is worth least: here, everything but one opening.
  table[place_of(game, [2])] = 1.0
  act = quick.jit(jax.vmap(functools.partial(player.act, (), game.init())))
  assert set(np.unique(act(jax.random.split(jax.random.key(0), 100)))) == {0, 1, 3}


@pytest.mark.parametrize(
  ("fields", "message"),
  [
    ({"opponent": "mcts:simulations=5"}, "opponent is 'mcts.*chooses evenly"),
    ({"game": "connect4", "opponent": "random"}, "too large"),
    ({"learning_rate": 1.5}, r"learning_rate"),
    ({"opponent": {}}, "at least one opponent"),
    ({"opponent": {"a b": "random"}}, "letters, digits"),
    ({"opponent": {"a": "rondom"}}, "no player 'rondom': did you mean 'random'"),
    ({"opponent": 3}, "must be a player, or players by name"),
  ],
)
def test_bad_input_is_explained(fields, message):
  with pytest.raises(ValueError, match=message):
    make(**fields)


def test_games_in_parallel_are_refused():
  config = config_lib.RunConfig(
    game="tictactoe",
    learner={"kind": "tabular"},
    opponent="random",
    games=10,
    parallel_games=4,
    test={"every": 10, "games": 10, "against": "random"},
  )
  with pytest.raises(ValueError, match=r"parallel_games is 4.*use more trials"):
    programs.make_learner(config)
