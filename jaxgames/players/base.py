"""What a player is, and the choice that most of them share."""

from typing import Any, Protocol

import chex
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib

__all__ = ["Memory", "Memoryless", "Player", "choose_first", "choose_uniformly", "draw"]

# What a player decides at the start of a game and keeps until its end.
Memory = Any


class Player(Protocol):
  """A way to play: a frozen pytree whose arrays (weights, tables) are leaves.

  Both methods are pure, take one game, and are batched by `jax.vmap`.
  """

  @property
  def game(self) -> game_lib.LineGame:
    """The game that it plays."""
    ...

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> Memory:
    """Returns what the player keeps in mind for one game.

    Args:
      key: consumed.
      game_number: `[]` int32, which game of a series this is, from 0.
    """
    ...

  def act(self, memory: Memory, state: game_lib.State, key: chex.PRNGKey) -> jax.Array:
    """Returns a legal action, `[]` int32; any number once the game is over.

    Args:
      memory: from `begin`.
      state: a position in which the player is to move.
      key: consumed.
    """
    ...


class Memoryless:
  """A player that begins every game alike."""

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> Memory:
    del key, game_number
    return ()


def draw(key: chex.PRNGKey, limit: chex.Array) -> jax.Array:
  """Returns a number from 0 up to, not including, `limit`, each as likely.

  Args:
    key: consumed.
    limit: `[]` int32, below 2^16.
  """
  # The upper half of a product of 32 by 16 bits, exact without 64-bit integers.
  limit = limit.astype(jnp.uint32)
  random = jax.random.bits(key, (), jnp.uint32)
  low = (random & 0xFFFF) * limit
  high = (random >> 16) * limit
  return ((high + (low >> 16)) >> 16).astype(jnp.int32)


def choose_uniformly(
  game: game_lib.LineGame, cells: bits.Words, key: chex.PRNGKey
) -> jax.Array:
  """Returns the action of one of the cells, each as likely."""
  return game.action_of(bits.nth(cells, draw(key, bits.count(cells))))


def choose_first(game: game_lib.LineGame, cells: bits.Words) -> jax.Array:
  """Returns the lowest action among playable cells."""
  # Under gravity each action has one playable cell at most, so all levels may be laid
  # on top of each other and the lowest action is the lowest bit.
  ground = [
    bits.shift_down(cells, i * game.num_actions)
    for i in range(game.num_cells // game.num_actions)
  ]
  floor = bits.constant((1 << game.num_actions) - 1, game.num_words)
  return bits.first(bits.intersection(bits.union(*ground), floor))
