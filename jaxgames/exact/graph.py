"""A small game as a graph: every position that play can reach, numbered from 0.

A position with n stones is followed by positions with n + 1, so one layer after the
other is expanded, by the game's own rules in compiled batches, without duplicates.
"""

from collections.abc import Callable
import functools
from typing import NamedTuple

import chex
import jax
import numpy as np

from jaxgames import game as game_lib
from jaxgames.exact import numbering

__all__ = ["Graph", "Layer", "in_batches", "is_small", "of", "walk"]

# Layers are padded to a multiple of this, so that few shapes are compiled.
BATCH = 4096

# Expanding takes seconds up to about this many positions to number.
MOST_NUMBERS = 5_000_000


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


class Graph(NamedTuple):
  """The positions of a game, by number of stones, as numpy arrays.

  Position 0 is the empty board. Where a move is not legal, or the game is over, the
  successor of a position is the position itself.

  Attributes:
    states: the positions, `[n]` in front of each leaf.
    successors: `[n, num_actions]` int32, the position after each action.
    legal_actions: `[n]` uint32, a set of actions.
    starts: `[num_layers + 1]` int, the first position of each layer, and their number.
    numbers: `[n]` int32, the positions' `numbering.number`.
    indices: `[num_numbers]` int32, the positions by number; 0 where there is none.
    representatives: `[n]` int32, the lowest of the positions that are symmetric to each.
  """

  states: game_lib.State
  successors: np.ndarray
  legal_actions: np.ndarray
  starts: np.ndarray
  numbers: np.ndarray
  indices: np.ndarray
  representatives: np.ndarray

  @property
  def num_states(self) -> int:
    return len(self.successors)


def is_small(game: game_lib.LineGame) -> bool:
  """Returns whether all positions of a game can be enumerated in seconds."""
  return game.num_actions <= 32 and numbering.num_numbers(game) <= MOST_NUMBERS


@functools.lru_cache
def of(game: game_lib.LineGame) -> Graph:
  """Returns the graph of a game.

  Raises:
    ValueError: if the game is too large.
  """
  if not is_small(game):
    raise ValueError(
      f"{game} is too large to solve: it has up to {numbering.num_numbers(game):.1e} "
      f"positions to number, and at most {MOST_NUMBERS:.1e} are tried"
    )
  layers = walk(game, lambda states, num_moves: legal_actions(game, states))
  starts = np.cumsum([0, *(len(layer.parent) for layer in layers)])
  states = jax.tree.map(lambda *xs: np.concatenate(xs), *(x.states for x in layers))
  itself = np.arange(starts[-1], dtype=np.int32)
  successors = np.repeat(itself[:, None], game.num_actions, axis=1)
  is_legal = np.zeros(successors.shape, bool)
  for layer, start, next_start in zip(layers[1:], starts, starts[1:], strict=False):
    parent, action, place = layer.edges.T
    successors[start + parent, action] = next_start + place
    is_legal[start + parent, action] = True
  actions = np.uint32(1) << np.arange(game.num_actions, dtype=np.uint32)
  numbers = in_batches(functools.partial(_numbers, game), states)
  indices = np.zeros(numbering.num_numbers(game), np.int32)
  indices[numbers] = itself
  return Graph(
    states=states,
    successors=successors,
    legal_actions=(is_legal * actions).sum(axis=1, dtype=np.uint32),
    starts=starts,
    numbers=numbers,
    indices=indices,
    representatives=_representatives(game, states, indices),
  )


def walk(
  game: game_lib.LineGame,
  considered_fn: Callable[[game_lib.State, int], np.ndarray],
) -> list[Layer]:
  """Returns the layers that some moves reach from the empty board.

  Args:
    game: the rules.
    considered_fn: says of a layer's positions and their number of stones which moves
      are considered, `[n, num_actions]` bool.
  """
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
    after = in_batches(functools.partial(_step, game), before, action.astype(np.int32))
    boards = np.stack([*after.own, *after.other], axis=1)
    _, first, place = np.unique(boards, axis=0, return_index=True, return_inverse=True)
    unique = jax.tree.map(lambda x, rows=first: x[rows], after)
    edges = np.stack([parent, action, place.ravel()], axis=1)
    layers.append(Layer(unique, parent[first], action[first], edges))


def legal_actions(game: game_lib.LineGame, states: game_lib.State) -> np.ndarray:
  """Returns `[n, num_actions]` bool for many positions."""
  return in_batches(functools.partial(_legal, game), states)


def in_batches(function: Callable, *trees: chex.ArrayTree) -> chex.ArrayTree:
  """Applies a compiled function to numpy rows, in padded batches of one size."""
  num_rows = len(jax.tree.leaves(trees)[0])
  parts = []
  for start in range(0, num_rows, BATCH):
    rows = np.minimum(np.arange(start, start + BATCH), num_rows - 1)
    part = function(*jax.tree.map(lambda x, rows=rows: x[rows], trees))
    parts.append(jax.tree.map(np.asarray, part))
  return jax.tree.map(lambda *xs: np.concatenate(xs)[:num_rows], *parts)


def _representatives(
  game: game_lib.LineGame, states: game_lib.State, indices: np.ndarray
) -> np.ndarray:
  """Returns for each position the lowest of its reflections and rotations."""
  boards = in_batches(functools.partial(_observe, game), states)
  numbers = [
    in_batches(functools.partial(_numbers_of_boards, game), boards[:, cells])
    for cells in game.symmetries
  ]
  return indices[np.stack(numbers)].min(axis=0)


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


@functools.partial(jax.jit, static_argnums=0)
def _observe(game: game_lib.LineGame, states: game_lib.State) -> jax.Array:
  return jax.vmap(game.observe)(states).reshape(-1, game.num_cells)


@functools.partial(jax.jit, static_argnums=0)
def _numbers_of_boards(game: game_lib.LineGame, boards: jax.Array) -> jax.Array:
  return jax.vmap(functools.partial(numbering.number_of_board, game))(boards)
