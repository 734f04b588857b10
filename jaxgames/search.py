"""Monte Carlo tree search for one position; `jax.vmap` makes it many.

The tree is a set of arrays with a row for each simulation, as in mctx. It differs in
how results are backed up: mctx carries the tree through a loop that ends at different
times in different games, so that every step of it copies every tree; here the path down
is recorded and one scatter updates it, so that a simulation costs the same however
large the tree has grown. tests/jaxgames/test_search.py compares the
visits with mctx's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib

__all__ = [
  "Advice",
  "EvaluateFn",
  "Evaluation",
  "SelectFn",
  "Tree",
  "prior_bound",
  "search",
  "tree_bytes",
  "upper_confidence_bound",
]


class Evaluation(NamedTuple):
  """The evaluation of a position when it is added to the tree.

  Attributes:
    result: `[]` float32, the expected result, 1 if the first player surely wins and -1
      if the second does.
    advice: any arrays, for the choice of an action there.
  """

  result: chex.Array
  advice: Any = ()


class Advice(NamedTuple):
  """The advice that `prior_bound` needs in a position.

  Attributes:
    priors: `[num_actions]` float32, how often to try each action; never where it is 0.
    values: `[num_actions]` float32, what an action that was not tried may be worth to
      the player to move.
  """

  priors: chex.Array
  values: chex.Array


# Evaluates a position that is not over: `(state, key)`.
EvaluateFn = Callable[[game_lib.State, chex.PRNGKey], Evaluation]

# Chooses an action in the tree: `(key, visits, values, is_legal, advice)`, to `[]`
# int32. Between key and advice all are `[num_actions]`. Values are mean results for the
# player to move.
SelectFn = Callable[[chex.PRNGKey, jax.Array, jax.Array, jax.Array, Any], jax.Array]

NO_CHILD = -1


class Tree(NamedTuple):
  """A search tree; node 0 is the root, simulation i adds node i + 1.

  Attributes:
    states: `[num_nodes]` the positions.
    children: `[num_nodes, num_actions]` int32, the node after each action.
    visits: `[num_nodes, num_actions]` float32, simulations through each action.
    results: `[num_nodes, num_actions]` float32, the sum of their results for the
      player to move.
    advice: `[num_nodes, ...]` from the evaluations.
  """

  states: game_lib.State
  children: chex.Array
  visits: chex.Array
  results: chex.Array
  advice: Any


class _Path(NamedTuple):
  """The path from the root down to a position that is new or over.

  Attributes:
    nodes: `[num_cells]` int32, the nodes passed.
    actions: `[num_cells]` int32, the actions taken there.
    depth: `[]` int32, how many of them are valid.
    node: `[]` int32, the node arrived at.
    is_active: `[]` bool, whether the path continues.
    key: for the choices to come.
  """

  nodes: chex.Array
  actions: chex.Array
  depth: chex.Array
  node: chex.Array
  is_active: chex.Array
  key: chex.PRNGKey


def upper_confidence_bound(exploration: chex.Numeric) -> SelectFn:
  """Returns the rule of the dqn paper, equation 1: w / n + c sqrt(t) / n.

  Untried actions come first, and ties are broken at random. A draw is half a win.
  """

  def select(
    key: chex.PRNGKey,
    visits: jax.Array,
    values: jax.Array,
    is_legal: jax.Array,
    advice: Any,
  ) -> jax.Array:
    del advice
    bonus = exploration * jnp.sqrt(visits.sum()) / jnp.maximum(visits, 1.0)
    bound = (values + 1.0) / 2.0 + bonus
    is_untried = is_legal & (visits == 0)
    tie_breaks = jax.random.uniform(key, visits.shape)
    score = jnp.where(
      is_untried.any(),
      jnp.where(is_untried, tie_breaks, -1.0),
      jnp.where(is_legal, bound + 1e-6 * tie_breaks, -1.0),
    )
    return jnp.argmax(score).astype(jnp.int32)

  return select


def prior_bound(exploration: chex.Numeric) -> SelectFn:
  """Returns the rule of AlphaZero: w / n + c p sqrt(t) / (1 + n).

  Here t counts the visits of a position, of which the first chose no action; w / n is
  from -1 to 1, and the advice's value for an untried action.
  """

  def select(
    key: chex.PRNGKey,
    visits: jax.Array,
    values: jax.Array,
    is_legal: jax.Array,
    advice: Advice,
  ) -> jax.Array:
    del key
    bonus = exploration * advice.priors * jnp.sqrt(1.0 + visits.sum()) / (1.0 + visits)
    bound = jnp.where(visits == 0, advice.values, values) + bonus
    may_be_tried = is_legal & (advice.priors > 0)
    return jnp.argmax(jnp.where(may_be_tried, bound, -jnp.inf)).astype(jnp.int32)

  return select


def search(
  game: game_lib.LineGame,
  state: game_lib.State,
  key: chex.PRNGKey,
  *,
  evaluate_fn: EvaluateFn,
  select_fn: SelectFn,
  num_simulations: int,
) -> Tree:
  """Grows a tree from a position.

  Args:
    game: the game.
    state: the root.
    key: consumed.
    evaluate_fn: evaluates the root and each new position once.
    select_fn: chooses an action in each position on the path down.
    num_simulations: how often to descend and add a position.
  """

  def simulate(simulation: jax.Array, tree: Tree) -> Tree:
    key_down, key_evaluate = jax.random.split(jax.random.fold_in(key, simulation))
    path = _descend(game, tree, key_down, select_fn)
    tree, leaf = _expand(game, tree, path, simulation + 1)
    found = evaluate_fn(leaf, key_evaluate)
    advice = jax.tree.map(
      lambda xs, x: xs.at[simulation + 1].set(x), tree.advice, found.advice
    )
    result = jnp.where(leaf.is_over, leaf.winner.astype(jnp.float32), found.result)
    return _back_up(game, tree._replace(advice=advice), path, result)

  chex.assert_rank(state.num_moves, 0)
  # No simulation has this number. Of the root's evaluation only the advice is used.
  advice = evaluate_fn(state, jax.random.fold_in(key, num_simulations)).advice
  tree = _plant(game, state, advice, num_simulations)
  return jax.lax.fori_loop(0, num_simulations, simulate, tree)


def tree_bytes(game: game_lib.LineGame, num_simulations: int) -> int:
  """Returns the memory that a tree takes, apart from advice."""
  state = jax.eval_shape(game.init)
  tree = jax.eval_shape(lambda state: _plant(game, state, (), 1), state)
  num_nodes = 2
  total = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
  return total // num_nodes * (num_simulations + 1)


def _plant(
  game: game_lib.LineGame, state: game_lib.State, advice: Any, num_simulations: int
) -> Tree:
  """Returns a tree with room for all simulations that holds only the root."""
  shape = (num_simulations + 1, game.num_actions)
  states, all_advice = jax.tree.map(
    lambda x: jnp.broadcast_to(x, (*shape[:1], *x.shape)), (state, advice)
  )
  return Tree(
    states=states,
    children=jnp.full(shape, NO_CHILD, jnp.int32),
    visits=jnp.zeros(shape, jnp.float32),
    results=jnp.zeros(shape, jnp.float32),
    advice=all_advice,
  )


def _descend(
  game: game_lib.LineGame, tree: Tree, key: chex.PRNGKey, select_fn: SelectFn
) -> _Path:
  """Descends from the root to a position that is not in the tree yet, or is over."""

  def descend(path: _Path) -> _Path:
    key, key_select = jax.random.split(path.key)
    state = jax.tree.map(lambda x: x[path.node], tree.states)
    visits, results = tree.visits[path.node], tree.results[path.node]
    values = results / jnp.maximum(visits, 1.0)
    advice = jax.tree.map(lambda x: x[path.node], tree.advice)
    action = select_fn(key_select, visits, values, game.legal_actions(state), advice)
    child = tree.children[path.node, action]
    is_known = child != NO_CHILD
    return _Path(
      nodes=path.nodes.at[path.depth].set(path.node),
      actions=path.actions.at[path.depth].set(action),
      depth=path.depth + 1,
      node=jnp.where(is_known, child, path.node),
      is_active=is_known & ~tree.states.is_over[child],
      key=key,
    )

  nothing = jnp.zeros(game.num_cells, jnp.int32)
  is_active = ~tree.states.is_over[0]
  start = _Path(nothing, nothing, jnp.int32(0), jnp.int32(0), is_active, key)
  return jax.lax.while_loop(lambda path: path.is_active, descend, start)


def _expand(
  game: game_lib.LineGame, tree: Tree, path: _Path, new_node: jax.Array
) -> tuple[Tree, game_lib.State]:
  """Adds the position that the path leads to, and returns it."""
  parent, action = path.nodes[path.depth - 1], path.actions[path.depth - 1]
  is_new = tree.children[parent, action] == NO_CHILD
  before = jax.tree.map(lambda x: x[path.node], tree.states)
  # For a path that ends in a known position that is over, this changes nothing; the
  # node's room stays unused.
  leaf = game.step(before, action)
  child = jnp.where(is_new, new_node, tree.children[parent, action])
  return (
    tree._replace(
      states=jax.tree.map(lambda xs, x: xs.at[new_node].set(x), tree.states, leaf),
      children=tree.children.at[parent, action].set(child),
    ),
    leaf,
  )


def _back_up(
  game: game_lib.LineGame, tree: Tree, path: _Path, result: jax.Array
) -> Tree:
  """Counts a result for every action on the path."""
  depths = np.arange(game.num_cells, dtype=np.int32)
  is_on_path = depths < path.depth
  is_first = (tree.states.num_moves[0] + depths) % 2 == 0
  nowhere = tree.children.shape[0]
  nodes = jnp.where(is_on_path, path.nodes, nowhere)
  for_mover = jnp.where(is_first, result, -result)
  visits = tree.visits.at[nodes, path.actions].add(1.0, mode="drop")
  results = tree.results.at[nodes, path.actions].add(for_mover, mode="drop")
  return tree._replace(visits=visits, results=results)
