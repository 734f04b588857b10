"""Exact results: by plain recursion, by sampling, and against the exhaustive proof."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.exact import evaluation
from jaxgames.exact import graph as graph_lib
from tests.support import quick
from train.config import checks
from train.run import exact


def noisy_player(game, seed, side=-1):
  """Returns a player with a random opinion of every position."""
  size = graph_lib.of(game).num_states
  table = np.random.default_rng(seed).normal(size=size).astype(np.float32)
  # Some equal ones, so that there are choices.
  return players.TableGreedy(game, np.round(table, 1), side)


def examine(game, agents, opponents, starts):
  """Returns the metrics of players of the same kind."""
  examiner = exact.Examiner(game, opponents, starts)
  trees = jax.tree.map(lambda *leaves: np.stack(leaves), *agents)
  return quick.jit(lambda trees: examiner(trees, lambda agent: agent))(trees)


def recursive_results(graph, mine, theirs, side, place=0, depth=0):
  """Returns wins, draws and losses from a position on, plainly."""
  if graph.states.is_over[place]:
    return np.array([graph.states.winner[place] * side == end for end in (1, 0, -1)])
  is_mine = (depth % 2 == 0) == (side == 1)
  sets = mine if is_mine else theirs
  if depth == 0 and side == -1:
    sets = graph.legal_actions
  actions = [a for a in range(9) if int(sets[place]) >> a & 1]
  parts = [
    recursive_results(
      graph, mine, theirs, side, int(graph.successors[place, action]), depth + 1
    )
    for action in actions
  ]
  return np.mean(parts, axis=0)


@pytest.mark.parametrize("side", [1, -1])
def test_results_agree_with_plain_recursion(side):
  game = jaxgames.make("tictactoe")
  graph = graph_lib.of(game)
  agents = [noisy_player(game, seed, side) for seed in (0, 1)]
  mine = np.stack([players.tabulate(agent) for agent in agents], axis=1)
  theirs = players.tabulate(players.make(game, "attack"))
  compute = quick.jit(
    lambda mine: evaluation.expected_results(graph, mine, theirs, side=side)
  )
  found = np.stack(compute(mine))
  for column in range(2):
    expected = recursive_results(graph, mine[:, column], theirs, side)
    np.testing.assert_allclose(found[:, column], expected, atol=1e-6)
  assert np.ptp(found, axis=1).max() > 0.01


def test_sampled_games_agree():
  game = jaxgames.make("connect4_4x4")
  agent, random = noisy_player(game, 2), players.make(game, "random")
  num_games = 20_000
  score = quick.play_match(agent, random, jax.random.key(0), num_games=num_games)
  for starts, side in (("always", 0), ("never", 1)):
    metrics = examine(game, [agent], ["random"], starts)
    for end in ("wins", "draws", "losses"):
      share = float(metrics[f"random_{end}"][0])
      sampled = int(getattr(score, end)[side]) / (num_games // 2)
      spread = np.sqrt(max(share * (1 - share), 1e-4) / (num_games // 2))
      assert abs(sampled - share) < 4.5 * spread


def test_unbeatable_is_what_the_exhaustive_examination_says():
  game = jaxgames.make("tictactoe")
  size = graph_lib.of(game).num_states
  # Without equals, so that it always plays the same.
  opinion = np.random.default_rng(3).permutation(size).astype(np.float32)
  for player, is_unbeatable in (
    (players.make(game, "expert:ties=first"), True),
    (players.TableGreedy(game, opinion, -1), False),
  ):
    metrics = examine(game, [player], ["expert:ties=first"], "never")
    assert evaluation.examine(player, side=-1).is_unbeatable == is_unbeatable
    assert bool(metrics["unbeatable"][0]) == is_unbeatable
    assert float(metrics["expert_wins"][0]) == 0


def test_many_agents_are_examined_in_blocks():
  game = jaxgames.make("tictactoe")
  agents = [noisy_player(game, seed) for seed in range(34)]
  together = examine(game, agents, ["random"], "alternate")
  assert exact.MOST_TOGETHER < 34
  alone = examine(game, agents[20:22], ["random"], "alternate")
  for name, values in alone.items():
    np.testing.assert_allclose(values, together[name][20:22], atol=1e-6)
  total = sum(together[f"random_{end}"] for end in ("wins", "draws", "losses"))
  np.testing.assert_allclose(total, jnp.ones(34), atol=1e-5)


def test_agents_must_choose_by_the_position():
  game = jaxgames.make("tictactoe")
  with pytest.raises(ValueError, match="cannot be tested exactly"):
    examine(game, [players.make(game, "mcts")], ["random"], "never")


@pytest.mark.parametrize(
  ("game", "opponents", "message"),
  [
    ("connect4", ["random"], "too many positions"),
    ("tictactoe", ["mcts"], "'mcts' does not choose evenly"),
    ("tictactoe", ["expert", "expert:ties=first"], "same name"),
    ("tictactoe", ["exprt"], "no player 'exprt': did you mean 'expert'"),
  ],
)
def test_what_cannot_be_exact_is_refused(game, opponents, message):
  with pytest.raises(ValueError, match=message):
    checks.check_exact(jaxgames.make(game), tuple(opponents))


def test_representatives_are_the_same_for_all_symmetries():
  for name, num_classes in (("tictactoe", 765), ("connect4_4x4", None)):
    game = jaxgames.make(name)
    graph = graph_lib.of(game)
    assert (graph.representatives[graph.representatives] == graph.representatives).all()
    found = len(np.unique(graph.representatives))
    # Known: 765 positions of tic-tac-toe that no reflection or rotation makes equal.
    assert found == (num_classes or found)
    assert found < graph.num_states / 1.9
