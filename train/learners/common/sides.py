"""Who sits where in many games: the learner, and whom it plays against.

In the shapes, `B` is the number of games.
"""

from typing import Literal

import chex
import jax
import jax.numpy as jnp

from jaxgames import players
from jaxgames.players import base

__all__ = ["Seats", "Starts"]

# In which games the learner moves first.
Starts = Literal["alternate", "always", "never", "random"]


class Seats:
  """The seats of games that begin again as soon as they end.

  In self-play the learner sits on both sides, and every turn is its own.
  """

  def __init__(self, opponent: players.Player | None, num_games: int, starts: Starts):
    """Prepares the seats.

    Args:
      opponent: on the other side; none in self-play.
      num_games: `B`, how many games go on at a time.
      starts: the games that the learner begins against an opponent.
    """
    self._opponent = opponent
    self._num_games = num_games
    self._starts = starts if opponent is not None else "always"

  def begin(self, key: chex.PRNGKey, rounds: jax.Array) -> base.Memory:
    """Returns what the opponent keeps in mind in the next game of every place.

    Args:
      key: consumed.
      rounds: `[B]` int32, games that ended in each place.
    """
    if self._opponent is None:
      return ()
    keys = jax.random.split(key, self._num_games)
    numbers = jnp.arange(self._num_games, dtype=jnp.int32) + self._num_games * rounds
    return jax.vmap(self._opponent.begin)(keys, numbers)

  def draw(self, key: chex.PRNGKey, rounds: jax.Array) -> jax.Array:
    """Returns `[B]` bool, whether the learner begins the next game of every place."""
    if self._starts == "random":
      return jax.random.bernoulli(key, shape=(self._num_games,))
    if self._starts == "alternate":
      return (jnp.arange(self._num_games, dtype=jnp.int32) + rounds) % 2 == 0
    return jnp.full(self._num_games, self._starts == "always")

  def is_mine(self, is_first: jax.Array, num_moves: jax.Array) -> jax.Array:
    """Returns `[B]` bool, whether it is the learner's turn.

    Args:
      is_first: `[B]` bool, whether the learner began.
      num_moves: `[B]` int32, moves made since.
    """
    if self._opponent is None:
      return jnp.ones_like(is_first)
    return (num_moves % 2 == 0) == is_first
