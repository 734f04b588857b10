"""The critic of the gomoku paper: how likely player 1 is to win, from counted shapes.

Player 1 is one of the two sides, whether it moves first or second. In the shapes below
`S` is the number of shapes of stones.
"""

from typing import NamedTuple

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.gomoku import shapes as shapes_lib
from jaxgames.networks import count_rows
from jaxgames.networks import initializers
from jaxgames.networks import lookup

__all__ = ["Critic", "Situation"]

# What Table 1 has for a count: four steps, and half of what is above four.
CODE_WIDTH = count_rows.NUM_STEPS + 1


class Situation(NamedTuple):
  """What the critic may see of positions, `[...]` of them.

  Attributes:
    counts: `[..., 2, S]` int32, shapes of player 1 and of player 2.
    boards: `[..., num_cells]` int8, 1 player 1's stones, -1 player 2's.
    is_turn: `[...]` bool, whether player 1 is to move.
    is_first: `[...]` bool, whether player 1 moved first.
  """

  counts: chex.Array
  boards: chex.Array
  is_turn: chex.Array
  is_first: chex.Array


class Critic(nn.Module):
  """One layer of sigmoid units, and a sigmoid of their sum (equations 2 to 5).

  The five architectures of section 4.1 have 274, 122, 196, 194 and 452 inputs.

  Attributes:
    game: whose positions it evaluates.
    counts: how counts are given: `coded` by Table 1, `plain`, or not at all (`none`).
    turn: how the inputs say whose turn it is: by two inputs for each of the `shapes` of
      both sides, by `two`, or not at all (`none`).
    sees_first: whether two inputs say which player moved first.
    sees_board: whether two inputs for each cell say whose stone is there.
    hidden: the number of hidden units.
    weight_range: weights are drawn uniformly from minus this to this.
  """

  game: game_lib.LineGame
  counts: options.CriticCounts = "coded"
  turn: options.CriticTurn = "shapes"
  sees_first: bool = True
  sees_board: bool = False
  hidden: int = 100
  weight_range: float = 0.5

  @property
  def drawings(self) -> tuple[str, ...]:
    """The shapes that are counted."""
    return shapes_lib.SHAPES

  @property
  def num_inputs(self) -> int:
    return (
      self._num_count_inputs
      + {"shapes": 4 * len(self.drawings), "two": 2, "none": 0}[self.turn]
      + (2 if self.sees_first else 0)
      + (2 * self.game.num_cells if self.sees_board else 0)
    )

  @property
  def _num_count_inputs(self) -> int:
    num_shapes = 2 * len(self.drawings)
    # Five in a row is there or not, in each case by one input.
    coded = CODE_WIDTH * (num_shapes - 2) + 2
    return {"coded": coded, "plain": num_shapes, "none": 0}[self.counts]

  def setup(self):
    draw = initializers.uniform(self.weight_range)
    self.inner = self.param("inner", draw, (self.num_inputs, self.hidden))
    self.outer = self.param("outer", draw, (self.hidden,))

  def __call__(self, inputs: jax.Array) -> jax.Array:
    """Returns the chance that player 1 wins, `[...]` float32.

    Args:
      inputs: `[..., num_inputs]` float32, from `encode`.
    """
    return self._finish(self.sums(inputs))

  def sums(self, inputs: jax.Array) -> jax.Array:
    """Returns the sums of the hidden units, `[..., hidden]`, for such inputs."""
    chex.assert_axis_dimension(inputs, -1, self.num_inputs)
    return inputs @ self.inner

  def _finish(self, sums: jax.Array) -> jax.Array:
    return jax.nn.sigmoid(jax.nn.sigmoid(sums) @ self.outer)

  def tables(self) -> count_rows.CountRows:
    """Returns what `after` looks up; computed once for all positions."""
    num_shapes, hidden = 2 * len(self.drawings), self.hidden
    codes = self._weights_of_codes()
    turns = jnp.zeros((2, num_shapes, hidden))
    if self.turn == "shapes":
      first = self._num_count_inputs
      weights = self.inner[first : first + 2 * num_shapes]
      turns = weights.reshape(num_shapes, 2, hidden).transpose(1, 0, 2)
    return count_rows.make(codes[:, :-1], turns, codes[:, -1])

  def _weights_of_codes(self) -> jax.Array:
    """Returns `[2 * S, CODE_WIDTH, hidden]`: of the first, second, ... of a shape."""
    num_shapes, hidden = 2 * len(self.drawings), self.hidden
    weights = self.inner[: self._num_count_inputs]
    if self.counts == "none":
      return jnp.zeros((num_shapes, CODE_WIDTH, hidden))
    if self.counts == "plain":
      return jnp.broadcast_to(weights[:, None], (num_shapes, CODE_WIDTH, hidden))
    scale = np.array([1.0] * count_rows.NUM_STEPS + [0.5], np.float32)
    others = weights[2:].reshape(2, -1, CODE_WIDTH, hidden) * scale[None, None, :, None]
    # Of fives the first alone counts.
    fives = jnp.pad(weights[:2, None], ((0, 0), (0, CODE_WIDTH - 1), (0, 0)))
    both = jnp.concatenate([fives[:, None], others], axis=1)
    return both.reshape(num_shapes, CODE_WIDTH, hidden)

  def after(
    self,
    tables: count_rows.CountRows,
    sums: jax.Array,
    changes: count_rows.Changes,
    is_turn: jax.Array,
    cells: jax.Array,
  ) -> jax.Array:
    """Returns the chances that player 1 wins after moves, `[n]` float32.

    The same as encoding each position and calling the critic, but only what the move
    changes is computed.

    Args:
      tables: from `tables`.
      sums: `[n, hidden]`, those of the positions before, but with the turn after.
      changes: of the counts, by `[n]` moves; of no more than fit in.
      is_turn: `[n]` bool, whether it is player 1's turn after them.
      cells: `[n]` int32, where the stones are put.
    """
    total = count_rows.sums_after(tables, sums, changes, is_turn)
    if self.sees_board:
      # Player 1's stones come first; it has moved if it is not its turn.
      first = self.num_inputs - 2 * self.game.num_cells
      rows = jnp.where(is_turn, cells + self.game.num_cells, cells)
      total += lookup.rows(self.inner[first:], rows)
    return self._finish(total)

  def encode(self, situation: Situation) -> jax.Array:
    """Returns the inputs, `[..., num_inputs]` float32; needs no parameters."""
    chex.assert_shape(situation.counts, (..., 2, len(self.drawings)))
    chex.assert_shape(situation.boards, (..., self.game.num_cells))
    counts = situation.counts.reshape(*situation.counts.shape[:-2], -1)
    turn = _either(situation.is_turn)
    parts = []
    if self.counts == "coded":
      parts += _code(situation.counts)
    elif self.counts == "plain":
      parts.append(counts)
    if self.turn == "shapes":
      is_there = (counts > 0)[..., None] & turn[..., None, :]
      parts.append(is_there.reshape(*counts.shape[:-1], -1))
    elif self.turn == "two":
      parts.append(turn)
    if self.sees_first:
      parts.append(_either(situation.is_first))
    if self.sees_board:
      parts += [situation.boards > 0, situation.boards < 0]
    return jnp.concatenate([part.astype(jnp.float32) for part in parts], axis=-1)

  def count(self, board: chex.Array) -> jax.Array:
    """Returns the shapes of both sides, `[2, S]` int32.

    Args:
      board: `[*shape]` int8, 1 the stones of the side that comes first.
    """
    chex.assert_shape(board, self.game.shape)
    sides = [shapes_lib.count(self.game, self.drawings, b) for b in (board, -board)]
    return jnp.stack(sides)


def _code(counts: jax.Array) -> list[jax.Array]:
  """Returns the inputs of Table 1 for `[..., 2, S]` counts; five in a row is first."""
  others = counts[..., 1:]
  steps = [(others >= step).astype(jnp.float32) for step in range(1, CODE_WIDTH)]
  rest = jnp.maximum(others - 4, 0).astype(jnp.float32) / 2
  code = jnp.stack([*steps, rest], axis=-1)
  return [counts[..., 0] > 0, code.reshape(*counts.shape[:-2], -1)]


def _either(condition: jax.Array) -> jax.Array:
  """Returns a condition and its opposite, `[..., 2]` bool."""
  return jnp.stack([condition, ~condition], axis=-1)
