"""The player that the dqn paper evaluates: now and then it moves at random."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames import networks
from jaxgames.players import base

__all__ = ["EpsilonGreedy", "choose", "try_until_legal"]


@struct.dataclass
class EpsilonGreedy(base.Memoryless):
  """Plays the move with the highest output, or at times a random one.

  Attributes:
    network: judges moves.
    params: the network's parameters.
    epsilon: the share of choices that are random.
    is_masked: whether it chooses among the legal moves; else among all, and again
      until the move is legal.
  """

  network: networks.QNetwork = struct.field(pytree_node=False)
  params: chex.ArrayTree
  epsilon: chex.Numeric
  is_masked: bool = struct.field(pytree_node=False)

  @property
  def game(self) -> game_lib.LineGame:
    return self.network.game

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    boards = self.game.observe(state).reshape(1, -1)
    is_legal = self.game.legal_actions(state)
    outputs = jnp.asarray(self.network.apply(self.params, boards, is_legal[None]))[0]
    epsilon = jnp.float32(self.epsilon)
    if not self.is_masked:
      epsilon = try_until_legal(outputs, is_legal, epsilon)
    return choose(outputs, is_legal, epsilon, key)


def choose(
  outputs: chex.Array, is_allowed: chex.Array, epsilon: chex.Array, key: chex.PRNGKey
) -> jax.Array:
  """Returns one of the allowed moves, `[]` int32: the best, or at times any.

  Args:
    outputs: `[num_actions]` float32.
    is_allowed: `[num_actions]` bool.
    epsilon: `[]` float32, how often any.
    key: consumed.
  """
  key_whether, key_which = jax.random.split(key)
  best = jnp.argmax(jnp.where(is_allowed, outputs, -jnp.inf)).astype(jnp.int32)
  random = jax.random.bits(key_which, (), jnp.uint32)
  anything = base.draw_allowed(random, is_allowed)
  return jnp.where(jax.random.uniform(key_whether) < epsilon, anything, best)


def try_until_legal(
  outputs: chex.Array, is_legal: chex.Array, epsilon: chex.Array
) -> jax.Array:
  """Returns how often a move is random if choices are repeated until one is legal.

  Where the best of all moves is not legal, only chance leads on: always. Else the
  best is tried with 1 - epsilon, and some legal move is drawn with a share of
  epsilon; what is not legal falls away.

  Args:
    outputs: `[num_actions]` float32.
    is_legal: `[num_actions]` bool.
    epsilon: `[]` float32, how often a choice among all moves is random.
  """
  drawn = epsilon * is_legal.mean(dtype=jnp.float32)
  share = drawn / jnp.maximum(drawn + 1.0 - epsilon, 1e-9)
  return jnp.where(is_legal[jnp.argmax(outputs)], share, 1.0)
