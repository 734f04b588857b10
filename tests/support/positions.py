"""Random positions for tests, and what is to be seen in them.

All that is compiled here is compiled once for each game: batches have one size.
"""

from collections.abc import Callable
import functools
from typing import NamedTuple

import jax
import numpy as np

import jaxgames
from jaxgames import players
from tests.support import quick

BATCH = 64


class View(NamedTuple):
  """What the methods of a game say of positions; see there."""

  board: np.ndarray
  observation: np.ndarray
  legal: np.ndarray
  landing: np.ndarray


@functools.partial(quick.jit, static_argnums=0)
def _play(game: jaxgames.LineGame, seed: int, part: int):
  player = players.Random(game)

  def ply(state: jaxgames.State, key: jax.Array):
    action = player.act((), state, key)
    return game.step(state, action), (state, action)

  def play(key: jax.Array):
    keys = jax.random.split(key, game.num_cells)
    final, (states, actions) = jax.lax.scan(ply, game.init(), keys)
    return final, states, actions

  key = jax.random.fold_in(jax.random.key(seed), part)
  return jax.vmap(play)(jax.random.split(key, BATCH))


def random_games(game: jaxgames.LineGame, num_games: int, seed: int = 0):
  """Returns final states `[n]`, states before each ply and actions `[n, plies]`."""
  parts = [_play(game, seed, part) for part in range(-(-num_games // BATCH))]
  return jax.tree.map(lambda *xs: np.concatenate(xs)[:num_games], *parts)


def random_positions(game: jaxgames.LineGame, num: int, seed: int = 0):
  """Returns `[num]` positions that are not over, from all stages of random games."""
  _, states, _ = random_games(game, num, seed)
  generator = np.random.default_rng(seed)
  num_plies = (~states.is_over).sum(axis=1)
  plies = generator.integers(0, num_plies)
  return jax.tree.map(lambda x: x[np.arange(num), plies], states)


def position(states: jaxgames.State, index: int) -> jaxgames.State:
  """Returns one of many positions."""
  return jax.tree.map(lambda x: x[index], states)


def repeat(state: jaxgames.State, num: int) -> jaxgames.State:
  """Returns one position many times."""
  return jax.tree.map(lambda x: np.repeat(np.asarray(x), num), state)


def see(game: jaxgames.LineGame, states: jaxgames.State) -> View:
  """Returns what is to be seen in `[n]` positions."""
  return _in_batches(functools.partial(_see, game), states)


def step(
  game: jaxgames.LineGame, states: jaxgames.State, actions: np.ndarray
) -> jaxgames.State:
  """Returns `[n]` positions after a move in each."""
  return _in_batches(functools.partial(_step, game), states, actions.astype(np.int32))


def _in_batches(function: Callable, *trees):
  """Applies a compiled function to numpy rows, in padded batches of one size."""
  num_rows = len(jax.tree.leaves(trees)[0])
  parts = []
  for start in range(0, num_rows, BATCH):
    rows = np.minimum(np.arange(start, start + BATCH), num_rows - 1)
    parts.append(function(*jax.tree.map(lambda x, rows=rows: x[rows], trees)))
  return jax.tree.map(lambda *xs: np.concatenate(xs)[:num_rows], *parts)


@functools.partial(quick.jit, static_argnums=0)
def _see(game: jaxgames.LineGame, states: jaxgames.State) -> View:
  methods = (game.board, game.observe, game.legal_actions, game.landing_cells)
  return View(*(jax.vmap(method)(states) for method in methods))


@functools.partial(quick.jit, static_argnums=0)
def _step(
  game: jaxgames.LineGame, states: jaxgames.State, actions: jax.Array
) -> jaxgames.State:
  return jax.vmap(game.step)(states, actions)
