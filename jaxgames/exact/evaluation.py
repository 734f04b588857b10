"""Exact evaluation of players in a small game: proofs, and expected results."""

from __future__ import annotations

import functools
import itertools
import typing
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import randomness
from jaxgames.exact import graph as graph_lib

if typing.TYPE_CHECKING:
  # Players import this package, since the expert is a solved game.
  from jaxgames.players import base

__all__ = ["Examination", "Results", "examine", "expected_results"]


class Examination(NamedTuple):
  """What an exhaustive examination of a player found.

  Attributes:
    is_unbeatable: whether no opponent at all can win.
    num_states: how many positions opponents can reach.
    num_lost: how many of them are ends that the player has lost.
    losing_moves: a shortest game that it loses, moves of both sides; or none.
  """

  is_unbeatable: bool
  num_states: int
  num_lost: int
  losing_moves: tuple[int, ...] | None


class Results(NamedTuple):
  """How likely each end of a game is, float32."""

  wins: chex.Array
  draws: chex.Array
  losses: chex.Array


def examine(player: base.Player, *, side: int) -> Examination:
  """Plays a deterministic player against every possible opponent.

  Args:
    player: plays the same move whenever it sees the same position; if it draws random
      numbers, only one sequence of them is examined.
    side: 1 to let the player move first, -1 second.
  """
  if side not in (1, -1):
    raise ValueError(f"side must be 1 (first) or -1 (second), not {side}")
  game = player.game

  def consider(states: game_lib.State, num_moves: int) -> np.ndarray:
    if num_moves % 2 == (0 if side == 1 else 1):
      return graph_lib.in_batches(functools.partial(_chosen_actions, player), states)
    return graph_lib.legal_actions(game, states)

  layers = graph_lib.walk(game, consider)
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


def expected_results(
  graph: graph_lib.Graph, mine: chex.Array, theirs: chex.Array, *, side: int
) -> Results:
  """Returns the results of players that choose evenly among actions of each position.

  Pure, to be compiled. The players come last in the shapes, so that a position's numbers
  lie side by side: P of them cost little more than one.

  Against an opponent that may play any action, a player is unbeatable exactly if its
  losses are 0: what can happen has a probability, and the smallest, one over all orders
  of all moves, is far above the smallest float.

  Args:
    graph: of the game.
    mine: `[num_states, P]` uint32, sets of actions, one of P players in each column.
    theirs: `[num_states]` uint32, those of the opponent of them all. Where the
      opponent begins, every opening is as likely.
    side: 1 if the P players move first, -1 second.

  Returns:
    `[P]` each.
  """
  chex.assert_shape(mine, (graph.num_states, None))
  chex.assert_shape(theirs, (graph.num_states,))
  if side == -1:
    theirs = jnp.concatenate([graph.legal_actions[:1], theirs[1:]])
  results = (graph.states.winner * side)[:, None] == np.array([1, 0, -1], np.int8)
  ends = results.astype(np.float32)[:, :, None]
  layers = list(itertools.pairwise(graph.starts.tolist()))
  last_start, last_stop = layers[-1]
  shape = (last_stop - last_start, 3, mine.shape[1])
  values = jnp.broadcast_to(ends[last_start:], shape)
  for depth, (start, stop) in reversed(list(enumerate(layers[:-1]))):
    is_mine = (depth % 2 == 0) == (side == 1)
    sets = mine[start:stop] if is_mine else theirs[start:stop, None]
    # For an action that is not legal any row will do, since it is not chosen.
    rows = np.maximum(graph.successors[start:stop] - stop, 0)
    mean = _mean(values, rows, sets[:, None])
    is_over = graph.states.is_over[start:stop, None, None]
    values = jnp.where(is_over, ends[start:stop], mean)
  return Results(*values[0])


def _mean(values: jax.Array, rows: np.ndarray, sets: jax.Array) -> jax.Array:
  """Returns the means of rows of a table.

  Args:
    values: `[m, 3, P]`, the table.
    rows: `[n, num_actions]` int, the row that each action leads to.
    sets: `[n, 1, P]` or `[n, 1, 1]` uint32, the actions that count.
  """
  total, count = jnp.float32(0), jnp.float32(0)
  # One by one: gathered all at once they would have to be written to memory first.
  for action in range(rows.shape[1]):
    is_chosen = (sets >> np.uint32(action)) & np.uint32(1) != 0
    total += jnp.where(is_chosen, values[rows[:, action]], 0.0)
    count += is_chosen.astype(jnp.float32)
  return total / count


def _moves_to(layers: list[graph_lib.Layer], depth: int, index: int) -> tuple[int, ...]:
  """Returns moves that lead from the empty board to a position."""
  moves = []
  for layer in layers[depth:0:-1]:
    moves.append(int(layer.action[index]))
    index = layer.parent[index]
  return tuple(reversed(moves))


@jax.jit
def _chosen_actions(player: base.Player, states: game_lib.State) -> jax.Array:
  """Returns `[n, num_actions]` bool, the one action that a player chooses."""

  def choose(state: game_lib.State) -> jax.Array:
    key_begin, key_act = jax.random.split(randomness.key(0))
    action = player.act(player.begin(key_begin, jnp.int32(0)), state, key_act)
    is_chosen = action == np.arange(player.game.num_actions, dtype=np.int32)
    return is_chosen & player.game.legal_actions(state)

  return jax.vmap(choose)(states)
