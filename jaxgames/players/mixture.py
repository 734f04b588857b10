"""Players made of players: another one for some moves, or for some games."""

from collections.abc import Callable, Sequence

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["EveryNthGame", "OnePerGame", "SomeMoves", "make_every", "make_sometimes"]

# Under vmap every branch is computed, so a mixture costs as much as all its players.


@struct.dataclass
class SomeMoves(base.PlayerBase):
  """Plays as `player`, but each move with a probability as `other`."""

  player: base.Player
  other: base.Player
  probability: chex.Numeric

  @property
  def game(self) -> game_lib.LineGame:
    return self.player.game

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> base.Memory:
    return _begin_all((self.player, self.other), key, game_number)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    key_choice, key_act = jax.random.split(key)
    actions = _act_all((self.player, self.other), memory, state, key_act)
    is_other = jax.random.uniform(key_choice) < self.probability
    return actions[is_other.astype(jnp.int32)]

  def map_players(self, fn: Callable[[base.Player], base.Player]) -> "SomeMoves":
    return SomeMoves(fn(self.player), fn(self.other), self.probability)


@struct.dataclass
class OnePerGame(base.PlayerBase):
  """Plays each game as one of several players, each as likely."""

  players: tuple[base.Player, ...]

  @property
  def game(self) -> game_lib.LineGame:
    return self.players[0].game

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> base.Memory:
    key_choice, key_begin = jax.random.split(key)
    chosen = base.draw(key_choice, jnp.int32(len(self.players)))
    return chosen, _begin_all(self.players, key_begin, game_number)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    chosen, memories = memory
    return _act_all(self.players, memories, state, key)[chosen]

  @property
  def parts(self) -> tuple[base.Player, ...]:
    return self.players

  def map_players(self, fn: Callable[[base.Player], base.Player]) -> "OnePerGame":
    return OnePerGame(tuple(fn(player) for player in self.players))


@struct.dataclass
class EveryNthGame(base.PlayerBase):
  """Plays as `player`, but every `every`-th game, from game 0 on, as `other`."""

  player: base.Player
  other: base.Player
  every: chex.Numeric

  @property
  def game(self) -> game_lib.LineGame:
    return self.player.game

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> base.Memory:
    is_other = game_number % self.every == 0
    return is_other, _begin_all((self.player, self.other), key, game_number)

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    is_other, memories = memory
    actions = _act_all((self.player, self.other), memories, state, key)
    return actions[is_other.astype(jnp.int32)]

  def map_players(self, fn: Callable[[base.Player], base.Player]) -> "EveryNthGame":
    return EveryNthGame(fn(self.player), fn(self.other), self.every)


def make_sometimes(
  game: game_lib.LineGame,
  *,
  player: base.Player,
  other: base.Player,
  probability: float,
) -> SomeMoves:
  """Returns a mixture of two players, move by move.

  Raises:
    ValueError: if the probability is none.
  """
  del game
  if not 0 <= probability <= 1:
    raise ValueError(f"probability must be from 0 to 1, not {probability}")
  return SomeMoves(player, other, probability)


def make_every(
  game: game_lib.LineGame, *, player: base.Player, other: base.Player, every: int
) -> EveryNthGame:
  """Returns a mixture of two players, game by game.

  Raises:
    ValueError: if `every` is less than 1.
  """
  del game
  if every < 1:
    raise ValueError(f"every must be at least 1, not {every}")
  return EveryNthGame(player, other, every)


def _begin_all(
  players: Sequence[base.Player], key: chex.PRNGKey, game_number: chex.Array
) -> base.Memory:
  keys = jax.random.split(key, len(players))
  return tuple(player.begin(keys[i], game_number) for i, player in enumerate(players))


def _act_all(
  players: Sequence[base.Player],
  memories: base.Memory,
  state: game_lib.State,
  key: chex.PRNGKey,
) -> jax.Array:
  """Returns `[num_players]` int32, what each of them would play."""
  keys = jax.random.split(key, len(players))
  actions = [
    player.act(memories[i], state, keys[i]) for i, player in enumerate(players)
  ]
  return jnp.stack(actions)
