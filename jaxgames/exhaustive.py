"""Exhaustive work on small games: every position, perfect play, proof of perfection.

All three walk the game stone by stone: a position with n stones is followed by
positions with n + 1, so one layer after the other is expanded, by the game's own rules
in compiled batches, and freed of duplicates.
"""

from collections.abc import Callable
import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import numbering
from jaxgames.players import base

__all__ = [
  "Examination",
  "Solution",
  "examine",
  "is_solvable",
  "reachable_states",
  "solve",
]

# Layers are padded to a multiple of this, so that few shapes are compiled.
BATCH = 4096

# Solving takes seconds up to about this many positions to number.
MOST_SOLVABLE = 5_000_000

# A loss now; a later one is nearer to 0 by one for each move until then.
LOSS = -100


class Layer(NamedTuple):
  """All positions with a number of stones, each once, as numpy arrays.

  Attributes:
    states: the positions, `[n]` in front of each leaf.
    parent: `[n]` int, the index of a position in the layer before that leads here.
    action: `[n]` int, the move that leads from there.
    edges: `[m, 3]` int, every move into this layer: from which index of the layer
      before, by which action, to which index of this one.
  """

  states: game_lib.State
  parent: np.ndarray
  action: np.ndarray
  edges: np.ndarray


class Solution(NamedTuple):
  """Perfect play, as tables over `numbering.number`.

  Attributes:
    score: `[num_numbers]` int8 for the player to move: 0 draw, above 0 a win, the
      higher the sooner, below 0 a loss; 0 for numbers of no position.
    best_actions: `[num_numbers]` uint32, a set of the actions with the best score.
    num_states: how many positions can be reached.
  """

  score: np.ndarray
  best_actions: np.ndarray
  num_states: int


class Examination(NamedTuple):
  """What an exhaustive examination of a player found.

  Attributes:
    is_unbeatable: whether no opponent at all can win.
    num_states: how many positions opponents can bring about.
    num_lost: how many of them are ends that the player has lost.
    losing_moves: a shortest game that it loses, moves of both sides; or none.
  """

  is_unbeatable: bool
  num_states: int
  num_lost: int
  losing_moves: tuple[int, ...] | None


def is_solvable(game: game_lib.LineGame) -> bool:
  """Returns whether a game is small enough to be solved here."""
  return game.num_actions <= 32 and numbering.num_numbers(game) <= MOST_SOLVABLE


def reachable_states(game: game_lib.LineGame) -> list[Layer]:
  """Returns every position that play can reach, by number of stones."""
  return _walk(game, lambda states, num_moves: _legal_actions(game, states))


@functools.lru_cache
def solve(game: game_lib.LineGame) -> Solution:
  """Returns perfect play: the soonest win, else a draw, else the latest loss."""
  if not is_solvable(game):
    raise ValueError(
      f"{game} is too large to solve: it has up to {numbering.num_numbers(game):.1e} "
      f"positions to number, and at most {MOST_SOLVABLE:.1e} are tried"
    )
  layers = reachable_states(game)
  score = np.zeros(numbering.num_numbers(game), np.int8)
  best_actions = np.zeros(score.shape, np.uint32)
  next_scores = np.zeros(0, np.int8)
  for layer, following in zip(layers[::-1], [None, *layers[:0:-1]], strict=True):
    # Whoever is to move in a position that is won has lost it.
    is_lost = np.asarray(layer.states.is_over & (layer.states.winner != 0))
    scores = np.where(is_lost, LOSS, 0).astype(np.int8)
    actions = np.zeros(scores.shape, np.uint32)
    if following is not None and len(following.edges):
      scores, actions = _back_up(scores, following.edges, next_scores)
    numbers = _in_batches(functools.partial(_numbers, game), layer.states)
    score[numbers], best_actions[numbers] = scores, actions
    next_scores = scores
  return Solution(score, best_actions, sum(len(layer.parent) for layer in layers))


def examine(player: base.Player, *, side: int) -> Examination:
  """Plays a deterministic player against every possible opponent.

  Args:
    player: plays the same move whenever it meets the same position; of one that
      draws random numbers only one course of them is examined.
    side: 1 to let the player move first, -1 second.
  """
  if side not in (1, -1):
    raise ValueError(f"side must be 1 (first) or -1 (second), not {side}")
  game = player.game

  def consider(states: game_lib.State, num_moves: int) -> np.ndarray:
    if num_moves % 2 == (0 if side == 1 else 1):
      return _in_batches(functools.partial(_chosen_actions, player), states)
    return _legal_actions(game, states)

  layers = _walk(game, consider)
  lost = [np.flatnonzero(layer.states.winner == -side) for layer in layers]
  losing_moves = None
  for depth, indices in enumerate(lost):
    if len(indices):
      losing_moves = _moves_to(layers, depth, int(indices[0]))
      break
  return Examination(
    is_unbeatable=losing_moves is None,
    num_states=sum(len(layer.parent) for layer in layers),
    num_lost=sum(map(len, lost)),
    losing_moves=losing_moves,
  )


def _walk(
  game: game_lib.LineGame,
  considered_fn: Callable[[game_lib.State, int], np.ndarray],
) -> list[Layer]:
  """Returns the layers that the considered moves, `[n, num_actions]` bool, reach."""
  nowhere = np.zeros(1, np.int64)
  root = jax.tree.map(lambda x: np.asarray(x)[None], game.init())
  layers = [Layer(root, nowhere, nowhere, np.zeros((0, 3), np.int64))]
  while True:
    states = layers[-1].states
    is_considered = considered_fn(states, len(layers) - 1)
    parent, action = np.nonzero(is_considered)
    if not len(parent):
      return layers
    before = jax.tree.map(lambda x, rows=parent: x[rows], states)
    after = _in_batches(functools.partial(_step, game), before, action.astype(np.int32))
    boards = np.stack([*after.own, *after.other], axis=1)
    _, first, place = np.unique(boards, axis=0, return_index=True, return_inverse=True)
    unique = jax.tree.map(lambda x, rows=first: x[rows], after)
    edges = np.stack([parent, action, place.ravel()], axis=1)
    layers.append(Layer(unique, parent[first], action[first], edges))


def _back_up(
  scores: np.ndarray, edges: np.ndarray, next_scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Returns the scores of a layer and its best actions from the layer after it."""
  parent, action, place = edges.T
  theirs = next_scores[place]
  mine = (-theirs + np.sign(theirs)).astype(np.int8)
  best = np.full(scores.shape, np.iinfo(np.int8).min, np.int8)
  np.maximum.at(best, parent, mine)
  is_best = mine == best[parent]
  actions = np.zeros(scores.shape, np.uint32)
  np.bitwise_or.at(
    actions, parent[is_best], np.uint32(1) << action[is_best].astype(np.uint32)
  )
  goes_on = np.zeros(scores.shape, bool)
  goes_on[parent] = True
  return np.where(goes_on, best, scores), actions


def _moves_to(layers: list[Layer], depth: int, index: int) -> tuple[int, ...]:
  """Returns moves that lead from the empty board to a position."""
  moves = []
  for layer in layers[depth:0:-1]:
    moves.append(int(layer.action[index]))
    index = layer.parent[index]
  return tuple(reversed(moves))


def _in_batches(function: Callable, *trees: chex.ArrayTree) -> chex.ArrayTree:
  """Applies a compiled function to numpy rows, in padded batches of one size."""
  num_rows = len(jax.tree.leaves(trees)[0])
  parts = []
  for start in range(0, num_rows, BATCH):
    rows = np.minimum(np.arange(start, start + BATCH), num_rows - 1)
    part = function(*jax.tree.map(lambda x, rows=rows: x[rows], trees))
    parts.append(jax.tree.map(np.asarray, part))
  return jax.tree.map(lambda *xs: np.concatenate(xs)[:num_rows], *parts)


def _legal_actions(game: game_lib.LineGame, states: game_lib.State) -> np.ndarray:
  return _in_batches(functools.partial(_legal, game), states)


@functools.partial(jax.jit, static_argnums=0)
def _legal(game: game_lib.LineGame, states: game_lib.State) -> jax.Array:
  return jax.vmap(game.legal_actions)(states)


@functools.partial(jax.jit, static_argnums=0)
def _step(
  game: game_lib.LineGame, states: game_lib.State, actions: jax.Array
) -> game_lib.State:
  return jax.vmap(game.step)(states, actions)


@functools.partial(jax.jit, static_argnums=0)
def _numbers(game: game_lib.LineGame, states: game_lib.State) -> jax.Array:
  return jax.vmap(functools.partial(numbering.number, game))(states)


@jax.jit
def _chosen_actions(player: base.Player, states: game_lib.State) -> jax.Array:
  """Returns `[n, num_actions]` bool, the one action that a player chooses."""

  def choose(state: game_lib.State) -> jax.Array:
    key_begin, key_act = jax.random.split(jax.random.key(0))
    action = player.act(player.begin(key_begin, jnp.int32(0)), state, key_act)
    is_chosen = action == np.arange(player.game.num_actions, dtype=np.int32)
    return is_chosen & player.game.legal_actions(state)

  return jax.vmap(choose)(states)
