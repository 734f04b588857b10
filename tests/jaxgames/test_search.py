"""Tree search: the same visits as mctx, and sensible answers."""

import functools

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest

import jaxgames
from jaxgames import search
from tests.support import positions
from tests.support import quick


def evaluate(state, key=None):
  """Judges a position by its bits: any number will do, if it is always the same."""
  del key
  words = jnp.stack([*state.own, *state.other]).astype(jnp.float32)
  weights = np.linspace(1e-4, 2e-3, len(words)).astype(np.float32)
  return jnp.sin(words @ weights + state.num_moves.astype(jnp.float32))


def select(key, visits, values, is_legal, advice=()):
  """Selects by the bound of the dqn paper, the lowest action among equals."""
  del key, advice
  bound = (values + 1) / 2 + 2 * jnp.sqrt(visits.sum()) / jnp.maximum(visits, 1.0)
  bound = jnp.where(visits == 0, 1e6, bound)
  return jnp.argmax(jnp.where(is_legal, bound, -1.0)).astype(jnp.int32)


def for_mover(state, result):
  return jnp.where(state.num_moves % 2 == 0, result, -result)


def mctx_visits(game, states, num_simulations):
  """Returns the visits of mctx's own search, `[batch, num_actions]`."""

  def logits(state):
    return jnp.where(game.legal_actions(state), 0.0, -jnp.inf)

  def expand(before, action):
    after = game.step(before, action)
    won = (~before.is_over & (after.winner != 0)).astype(jnp.float32)
    value = jnp.where(after.is_over, 0.0, for_mover(after, evaluate(after)))
    discount = jnp.where(after.is_over, 0.0, -1.0)
    output = mctx.RecurrentFnOutput(
      reward=won, discount=discount, prior_logits=logits(after), value=value
    )
    return output, after

  def choose(key, tree, node, depth):
    del depth
    values = tree.children_rewards[node]
    values += tree.children_discounts[node] * tree.children_values[node]
    is_legal = jnp.isfinite(tree.children_prior_logits[node])
    visits = tree.children_visits[node].astype(jnp.float32)
    return select(key, visits, values, is_legal)

  value = jax.vmap(lambda state: for_mover(state, evaluate(state)))(states)
  root = mctx.RootFnOutput(
    prior_logits=jax.vmap(logits)(states), value=value, embedding=states
  )
  tree = mctx.search(
    (),
    jax.random.key(0),
    root=root,
    recurrent_fn=lambda params, key, action, state: jax.vmap(expand)(state, action),
    root_action_selection_fn=lambda key, tree, node: choose(key, tree, node, 0),
    interior_action_selection_fn=choose,
    num_simulations=num_simulations,
  )
  return tree.children_visits[:, 0]


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_visits_equal_those_of_mctx(name):
  game = jaxgames.make(name)
  states = positions.random_positions(game, 32, seed=7)

  def visit(state):
    tree = search.search(
      game,
      state,
      jax.random.key(0),
      evaluate_fn=lambda state, key: search.Evaluation(evaluate(state, key)),
      select_fn=select,
      num_simulations=60,
    )
    return tree.visits[0]

  ours = jax.jit(jax.vmap(visit))(states)
  with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
    theirs = jax.jit(lambda states: mctx_visits(game, states, 60))(states)
  np.testing.assert_array_equal(ours, theirs)


@functools.partial(quick.jit, static_argnums=(0, 2, 3))
def quick_search(game, state, select_fn, num_simulations):
  """Searches where every position is worth the same."""
  return search.search(
    game,
    state,
    jax.random.key(0),
    evaluate_fn=lambda state, key: search.Evaluation(jnp.float32(0)),
    select_fn=select_fn,
    num_simulations=num_simulations,
  )


def test_untried_moves_come_first_and_all_visits_are_counted():
  game = jaxgames.make("tictactoe")
  bound = search.upper_confidence_bound(2.0)
  is_legal = jnp.array([True, False, True])
  visits, values = jnp.array([3.0, 0.0, 0.0]), jnp.array([1.0, 0.0, 0.0])
  assert int(bound(jax.random.key(0), visits, values, is_legal, ())) == 2
  tree = quick_search(game, game.init(), bound, 40)
  assert float(tree.visits[0].sum()) == 40
  assert (np.asarray(tree.visits[0]) > 0).all()


def test_bound_is_equation_1():
  bound = search.upper_confidence_bound(0.5)
  visits, is_legal = jnp.array([4.0, 9.0, 3.0]), jnp.array([True, True, True])
  # w/n + c sqrt(t)/n with t = 16: 0.5 + 2/4, 0.9 + 2/9, 0.2 + 2/3; values are 2w/n - 1.
  values = jnp.array([0.0, 0.8, -0.6])
  assert int(bound(jax.random.key(0), visits, values, is_legal, ())) == 1
  values = jnp.array([0.3, 0.8, -0.6])  # the first is now 0.65 + 0.5
  assert int(bound(jax.random.key(0), visits, values, is_legal, ())) == 0


def test_a_root_that_is_over_is_left_alone():
  game = jaxgames.make("tictactoe")
  final, _, _ = positions.random_games(game, 1)
  tree = quick_search(game, positions.position(final, 0), select, 5)
  assert float(tree.visits.sum()) == 0
