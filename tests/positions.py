"""Random positions for tests."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import players


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play(game: jaxgames.LineGame, num_games: int, key: jax.Array):
  player = players.Random(game)

  def ply(state: jaxgames.State, key: jax.Array):
    action = player.act((), state, key)
    return game.step(state, action), (state, action)

  def play(key: jax.Array):
    keys = jax.random.split(key, game.num_cells)
    final, (states, actions) = jax.lax.scan(ply, game.init(), keys)
    return final, states, actions

  return jax.vmap(play)(jax.random.split(key, num_games))


def random_games(game: jaxgames.LineGame, num_games: int, seed: int = 0):
  """Returns final states `[n]`, states before each ply and actions `[n, plies]`."""
  played = _play(game, num_games, jax.random.key(seed))
  return jax.tree.map(np.asarray, played)


def random_positions(game: jaxgames.LineGame, num: int, seed: int = 0):
  """Returns `[num]` positions that are not over, from all stages of random games."""
  _, states, _ = random_games(game, num, seed)
  generator = np.random.default_rng(seed)
  num_plies = (~states.is_over).sum(axis=1)
  plies = generator.integers(0, num_plies)
  return jax.tree.map(lambda x: jnp.asarray(x[np.arange(num), plies]), states)


def position(states: jaxgames.State, index: int) -> jaxgames.State:
  """Returns one of many positions."""
  return jax.tree.map(lambda x: x[index], states)
