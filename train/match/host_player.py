"""Who plays when a game is played move by move on the host, not in a program."""

from collections.abc import Sequence
from typing import Protocol

import chex
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["ForfeitError", "HostPlayer", "Seat"]


class ForfeitError(Exception):
  """A player has lost the game by what it did; the message says by what."""


class HostPlayer(Protocol):
  """One side of a game that is played on the host."""

  def begin(self, game_number: int) -> None:
    """Prepares for a new game.

    Args:
      game_number: which game of a series this is, from 0.

    Raises:
      ForfeitError: if it cannot play this game.
    """
    ...

  def choose(self, state: game_lib.State, actions: Sequence[int]) -> int:
    """Returns a legal action.

    Args:
      state: a position in which it is to move.
      actions: the moves that led there, of both sides.

    Raises:
      ForfeitError: if it has none to offer.
    """
    ...

  def close(self) -> None:
    """Gives back whatever it holds."""
    ...


class Seat:
  """A compiled player at the table, with a new key for every move."""

  def __init__(self, player: base.Player, key: chex.PRNGKey):
    """Sits down for a first game.

    Args:
      player: who plays.
      key: consumed.
    """
    self.player = player
    self.is_compiled = False
    self._key = key
    self.begin(0)

  def begin(self, game_number: int) -> None:
    self._key, key_begin = jax.random.split(self._key)
    self._memory = self.player.begin(key_begin, jnp.int32(game_number))

  def choose(self, state: game_lib.State, actions: Sequence[int] = ()) -> int:
    del actions
    self._key, key_move = jax.random.split(self._key)
    self.is_compiled = True
    return int(_act(self.player, self._memory, state, key_move))

  def close(self) -> None:
    pass


# Compiled once for a kind of player. The player is an argument, so that its weights are
# none of the program's constants.
@jax.jit
def _act(
  player: base.Player, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
) -> jax.Array:
  return player.act(memory, state, key)
