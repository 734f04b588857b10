"""Search guided by ratings: what steers it, and what it sees that they do not."""

from flax import struct
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import arena
from jaxgames import networks
from jaxgames import players
from jaxgames import search
from jaxgames.players import base
from jaxgames.players import guided
from jaxgames.players import value_greedy
from tests.support import positions
from tests.support import quick
from train.run import agents

TICTACTOE = jaxgames.make("tictactoe")


@struct.dataclass
class Likes(base.Memoryless):
  """Likes one cell, wherever it is legal, and knows nothing of positions."""

  game: jaxgames.LineGame = struct.field(pytree_node=False)
  favourite: int = 0

  def rate_actions(self, state, ties):
    numbers = jnp.arange(self.game.num_actions, dtype=jnp.int32)
    ratings = jnp.where(numbers == self.favourite, 1.0, 1e-6 * ties)
    return jnp.where(self.game.legal_actions(state), ratings, -jnp.inf)

  def evaluate(self, state):
    del state
    return jnp.float32(0)


@struct.dataclass
class Unimpressed(Likes):
  """Sees no move that is worth a rating."""

  def rate_actions(self, state, ties):
    del state
    return jnp.full_like(ties, -jnp.inf)


def network_agent(game):
  network = networks.ValueNetwork(game, hidden=(5,))
  params = network.init(jax.random.key(3), jnp.zeros((1, game.num_cells), jnp.int8))
  tables = network.apply(params, method="tables")
  return value_greedy.ValueGreedy(network, params, tables, counts_wins=True)


@quick.jit
def act_one(player, state, key):
  return player.act((), state, key)


@quick.jit
def act_many(player, states, keys):
  return jax.vmap(player.act, in_axes=(None, 0, 0))((), states, keys)


@quick.jit
def grow(player, state):
  return player.grow(state, jax.random.key(0))


def choose(player, moves, seed=0):
  state = player.game.from_moves(moves)
  return int(act_one(player, state, jax.random.key(seed)))


def select(priors, hopes, visits, values, is_legal=(True, True, True)):
  """Returns what is selected with c = 2."""
  priors, hopes, visits, values = (
    jnp.array(numbers, jnp.float32) for numbers in (priors, hopes, visits, values)
  )
  advice = search.Advice(priors, hopes)
  rule = search.prior_bound(2.0)
  return int(rule(jax.random.key(0), visits, values, jnp.array(is_legal), advice))


def test_bound_weighs_results_and_priors():
  # With 8 visits sqrt(t) is 3: the bonus is 6 p / (1 + n), here 0.6, 0.45 and 0.6.
  priors, hopes, visits = [0.5, 0.3, 0.2], [1.0, 1.0, 1.0], [4, 3, 1]
  assert select(priors, hopes, visits, [0.2, 0.3, 0.1]) == 0
  assert select(priors, hopes, visits, [0.2, 0.4, 0.1]) == 1
  assert select(priors, hopes, visits, [0.2, 0.3, 0.25]) == 2
  assert select(priors, hopes, visits, [0.2, 0.3, 0.25], (True, True, False)) == 0


def test_what_is_untried_is_worth_what_the_advice_says():
  # The bonus is 0.33, 1.8 and 1.2.
  priors, visits, values = [0.5, 0.3, 0.2], [8, 0, 0], [0.9, 9.0, 9.0]
  assert select(priors, [9.0, -0.9, 0.0], visits, values) == 0
  assert select(priors, [9.0, -0.9, 0.1], visits, values) == 2
  assert select(priors, [9.0, -0.5, 0.0], visits, values) == 1


def test_what_has_no_prior_is_never_tried():
  assert select([0.0, 0.6, 0.4], [9.0, 0.0, 0.0], [0, 5, 3], [9.0, -1.0, -1.0]) != 0


def test_priors_steer_visits_and_equal_ones_explore_evenly():
  state = TICTACTOE.init()
  # At a high temperature all priors are equal, and no end of a game is in reach.
  even = guided.Guided(Likes(TICTACTOE), 45, exploration=1e3, temperature=1e6)
  np.testing.assert_array_equal(grow(even, state).visits[0], np.full(9, 5.0))
  # A prior of e / (e + 8) and eight of 1 / (e + 8).
  steered = guided.Guided(Likes(TICTACTOE), 430, exploration=1e3, temperature=1.0)
  tree = grow(steered, state)
  np.testing.assert_allclose(tree.advice.priors[0, :2], [0.2536, 0.0933], atol=1e-4)
  np.testing.assert_allclose(tree.visits[0, :2], [109, 40], atol=1.5)


@pytest.mark.parametrize("seed", range(3))
def test_a_win_at_once_is_taken(seed):
  # X has 0 and 1, O has 3 and 4; X likes 8.
  player = guided.Guided(Likes(TICTACTOE, 8), 2)
  assert choose(player, [0, 3, 1, 4], seed) == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_loss_in_two_plies_is_avoided(seed):
  # X threatens 2; O likes 8.
  assert choose(guided.Guided(Likes(TICTACTOE, 8), 2), [0, 4, 1], seed) == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_loss_in_four_plies_is_avoided(seed):
  # X has two corners, O the centre. In a third corner, which it likes, O must see that
  # X takes the last one and threatens twice.
  moves = [0, 4, 8]
  hasty = guided.Guided(Likes(TICTACTOE, 2), 1, temperature=0.5)
  assert choose(hasty, moves, seed) == 2
  player = guided.Guided(Likes(TICTACTOE, 2), 200, temperature=0.5)
  assert choose(player, moves, seed) in (1, 3, 5, 7)


@pytest.mark.parametrize(
  ("moves", "result", "actions"),
  [
    # X completes 0, 1, 2, though O threatens 5.
    ([0, 3, 1, 4], 1, [2]),
    # O must stop 2.
    ([0, 4, 1], 0, [2]),
    # O would have to stop 1 and 5.
    ([0, 4, 8, 6, 2], 1, [1, 5]),
  ],
)
def test_what_is_forced_is_evaluated_and_tried_alone(moves, result, actions):
  player = guided.Guided(Likes(TICTACTOE, 7))
  found = player._evaluate(TICTACTOE.from_moves(moves), jax.random.key(0))
  assert float(found.result) == result
  assert np.flatnonzero(found.advice.priors).tolist() == actions


def test_untried_moves_are_hoped_to_be_worse_by_as_much_as_their_ratings():
  player = guided.Guided(Likes(TICTACTOE, 4))
  advice = player._evaluate(TICTACTOE.from_moves([0]), jax.random.key(0)).advice
  np.testing.assert_allclose(advice.values[4], 0.0)
  np.testing.assert_allclose(np.delete(advice.values, 4), -1.0, atol=1e-5)


def test_moves_are_legal_though_none_is_rated():
  player = guided.Guided(Unimpressed(TICTACTOE), 12)
  assert choose(player, [0, 1, 2, 4, 3, 5, 7, 6]) == 8
  final, _, _ = positions.random_games(TICTACTOE, 1)
  tree = grow(player, positions.position(final, 0))
  assert all(np.isfinite(leaf).all() for leaf in tree.advice)


def test_many_positions_are_searched_as_one_with_the_same_key():
  player = guided.Guided(network_agent(TICTACTOE), 30)
  states = positions.random_positions(TICTACTOE, 8, seed=2)
  keys = jax.random.split(jax.random.key(0), 8)
  found = [
    int(act_one(player, positions.position(states, i), keys[i])) for i in range(8)
  ]
  assert act_many(player, states, keys).tolist() == found
  assert act_many(player, states, keys).tolist() == found


def test_lowers_for_accelerators_with_a_network():
  game = jaxgames.make("ttt3d")
  player = guided.Guided(network_agent(game), 4)
  states = positions.random_positions(game, 8)
  keys = jax.random.split(jax.random.key(0), 8)
  act = jax.vmap(guided.Guided.act, in_axes=(None, None, 0, 0))
  export = jax.export.export(jax.jit(act), platforms=["cuda", "tpu"])
  assert "callback" not in export(player, (), states, keys).mlir_module()


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ("player=random", "its player must rate moves, as"),
    ("simulations=3", "player 'guided' needs the option 'player'"),
    ("player=(ladder:level=2),simulations=0", "simulations must be at least 1, not 0"),
    ("player=(ladder:level=2),exploration=-1", "exploration must be 0 or more, not -1"),
    ("player=(ladder:level=2),temperature=0", "temperature must be above 0, not 0"),
    (
      "player=(ladder:level=2),temperature=nan",
      "temperature must be a number of at most 3e.38, not 'nan'",
    ),
    ("player=(ladder:level=2),width=3", "player 'guided' has no option 'width'"),
  ],
)
def test_wrong_options_are_refused_in_one_line(options, message):
  with pytest.raises(ValueError, match=message) as caught:
    players.make(TICTACTOE, f"guided:{options}")
  assert "\n" not in str(caught.value)


def test_a_searching_agent_for_ttt3d_comes_with_the_project(monkeypatch):
  monkeypatch.chdir("/")
  game = jaxgames.make("ttt3d")
  spec = agents.default_opponent("ttt3d")
  assert spec == "guided:player=ttt3d,simulations=400"
  agent = agents.make(game, spec)
  # Its network alone wins 99 of 100 games against the benchmark.
  score = arena.play_match(
    agent.player, players.make(game, "benchmark"), jax.random.key(0), num_games=200
  )
  assert int(score.wins.sum()) > 190
  # Three stones of X on the floor and nothing to fear: it completes the line.
  state = game.from_moves([0, 12, 1, 13, 2, 15])
  assert int(act_one(agent.replace(simulations=8), state, jax.random.key(0))) == 3
