"""A memory of transitions on the device: a ring from which batches are drawn.

In the shapes, `N` is its capacity and `B` the number of games in parallel.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

__all__ = ["Replay", "Transitions", "add", "draw", "empty"]


class Transitions(NamedTuple):
  """Moves and what came of them, `[...]` of them.

  Attributes:
    boards: `[..., num_cells]` int8, before the move, 1 the mover's stones.
    actions: `[...]` int32, the moves.
    rewards: `[...]` float32, for the mover.
    discounts: `[...]` float32, what the value of the next board is multiplied by: 0
      once the game is over, below 0 if it is the other player's to move.
    next_boards: `[..., num_cells]` int8, seen by the player to move.
  """

  boards: chex.Array
  actions: chex.Array
  rewards: chex.Array
  discounts: chex.Array
  next_boards: chex.Array


class Replay(NamedTuple):
  """The newest transitions.

  Attributes:
    rows: `[N]` them; those not yet written are zeros.
    place: `[]` int32, where the next one goes.
    num_held: `[]` int32, how many there are.
  """

  rows: Transitions
  place: chex.Array
  num_held: chex.Array


def empty(capacity: int, num_cells: int) -> Replay:
  """Returns a memory that holds nothing."""
  rows = Transitions(
    boards=jnp.zeros((capacity, num_cells), jnp.int8),
    actions=jnp.zeros(capacity, jnp.int32),
    rewards=jnp.zeros(capacity, jnp.float32),
    discounts=jnp.zeros(capacity, jnp.float32),
    next_boards=jnp.zeros((capacity, num_cells), jnp.int8),
  )
  return Replay(rows, place=jnp.int32(0), num_held=jnp.int32(0))


def add(replay: Replay, new: Transitions, is_kept: chex.Array) -> Replay:
  """Writes transitions over the oldest, without gaps.

  Args:
    replay: with room for all of the new ones.
    new: `[B]`.
    is_kept: `[B]` bool; the others are left out. Nothing is copied if all are.
  """
  chex.assert_equal_shape([is_kept, new.actions])
  chex.assert_type(is_kept, bool)
  capacity = replay.rows.actions.shape[0]
  order = jnp.cumsum(is_kept, dtype=jnp.int32)
  # What is out of range is not written.
  places = jnp.where(is_kept, (replay.place + order - 1) % capacity, capacity)
  rows = jax.tree.map(
    lambda old, values: old.at[places].set(values, mode="drop"), replay.rows, new
  )
  return Replay(
    rows=rows,
    place=(replay.place + order[-1]) % capacity,
    num_held=jnp.minimum(replay.num_held + order[-1], capacity),
  )


def draw(replay: Replay, key: chex.PRNGKey, num: int) -> Transitions:
  """Returns `[num]` transitions, each drawn from all; zeros if there are none.

  Args:
    replay: the memory.
    key: consumed.
    num: how many.
  """
  places = jax.random.randint(key, (num,), 0, jnp.maximum(replay.num_held, 1))
  return jax.tree.map(lambda rows: rows[places], replay.rows)
