"""Players of games that are played move by move on the host."""

from collections.abc import Sequence
from typing import Protocol

import chex
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base
from train.run import memory

__all__ = ["CompiledPlayer", "ForfeitError", "HostPlayer"]


class ForfeitError(Exception):
  """A player has forfeited the game; the message is the reason."""


class HostPlayer(Protocol):
  """One side of a game played on the host."""

  def begin(self, game_number: int) -> None:
    """Prepares for a new game.

    Args:
      game_number: the number of the game in a match, from 0.

    Raises:
      ForfeitError: if the player cannot play this game.
    """
    ...

  def choose(self, state: game_lib.State, actions: Sequence[int]) -> int:
    """Returns a legal action.

    Args:
      state: a position with this player to move.
      actions: both sides' moves that led there.

    Raises:
      ForfeitError: if the player makes no move.
    """
    ...

  def close(self) -> None:
    """Releases the player's resources, such as processes."""
    ...


class CompiledPlayer:
  """A compiled player with its memory of the game, and a new key for every move.

  Attributes:
    player: the player.
    is_compiled: whether it has moved before, so that the next move is quick.
  """

  def __init__(self, player: base.Player, key: chex.PRNGKey):
    """Begins a first game.

    Args:
      player: the player.
      key: consumed.

    Raises:
      ValueError: if its search cannot fit into memory.
    """
    memory.check_match((player,), num_games=1)
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


# Compiled once per kind of player. The player is an argument, so that its weights are
# not constants of the program.
@jax.jit
def _act(
  player: base.Player, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
) -> jax.Array:
  return player.act(memory, state, key)
