"""Opponents that search, made fast: all positions are searched before training."""

import functools

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import players
from jaxgames import randomness
from jaxgames.exact import graph as graph_lib
from jaxgames.exact import numbering
from jaxgames.players import base

__all__ = ["Searched", "search_beforehand"]

# Positions searched at a time.
BATCH = 512


@struct.dataclass
class Searched(base.Memoryless):
  """Plays one of the moves that searches of the position have found.

  Attributes:
    game: a small one.
    actions: `[num_states, searches]` int8, the move that each search found, by the
      position's index in the game's graph.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  actions: chex.Array

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    places = jnp.asarray(graph_lib.of(self.game).indices)
    found = jnp.asarray(self.actions)[places[numbering.number(self.game, state)]]
    return found[base.draw(key, jnp.int32(found.shape[0]))].astype(jnp.int32)


def search_beforehand(player: players.Player, searches: int) -> players.Player:
  """Returns a player whose searches, if it makes any, are made now, on the host.

  Args:
    player: any; the players that it is made of are prepared too.
    searches: how many of each position.
  """
  if player.is_search:
    # A search has no arrays, so it can be the key of a cache.
    found = _search_all(player, searches)  # type: ignore[arg-type]
    return Searched(player.game, found)
  return player.map_players(lambda part: search_beforehand(part, searches))


@functools.lru_cache
def _search_all(player: players.Player, searches: int) -> np.ndarray:
  """Returns `[num_states, searches]` int8, what searches of all positions find."""
  states = graph_lib.of(player.game).states
  num_states = len(states.num_moves)

  @jax.jit
  def search(key: chex.PRNGKey) -> jax.Array:
    keys = jax.random.split(key, num_states)
    return jax.lax.map(
      lambda both: player.act((), *both), (states, keys), batch_size=BATCH
    )

  # One after the other: the trees of all searches would take much memory.
  keys = jax.random.split(randomness.key(0), searches)
  found = [np.asarray(search(keys[i]), np.int8) for i in range(searches)]
  return np.stack(found, axis=1)
