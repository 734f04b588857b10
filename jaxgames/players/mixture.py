"""Players made of players: another one for some moves, or for some games."""

from collections.abc import Sequence

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.players import base

__all__ = ["EveryNthGame", "OnePerGame", "SomeMoves"]

# Under vmap every branch is computed, so a mixture costs as much as all its players.


@struct.dataclass
class SomeMoves:
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


@struct.dataclass
class OnePerGame:
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


@struct.dataclass
class EveryNthGame:
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
