"""A first layer of tables: what each pattern of stones on a line is worth.

A cell of a line is seen in one of four ways: empty and out of reach (under gravity,
with nothing to stand on), an own stone, the other's, or empty and playable now. So a
line of four has 256 patterns, and a weight, or a row of them, for each.
"""

import functools
from typing import Literal

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib

__all__ = ["PatternSums", "Sharing"]

Sharing = Literal["none", "symmetry", "all"]

OUT_OF_REACH, OWN, OTHER, PLAYABLE = range(4)
NUM_DIGITS = 4


class PatternSums(nn.Module):
  """Sums over the lines of a board of what their patterns are worth.

  Attributes:
    game: whose boards and lines these are.
    width: the number of sums.
    sharing: which lines have a table in common: `none`, those that a `symmetry` of the
      board maps onto each other, or `all`.
  """

  game: game_lib.LineGame
  width: int
  sharing: Sharing

  def setup(self):
    _, classes = _oriented_lines(self.game, self.sharing)
    num_rows = (max(classes) + 1) * NUM_DIGITS**self.game.length
    # Zero, since a pattern that was never met is worth nothing.
    self.table = self.param(
      "table", nn.initializers.zeros_init(), (num_rows, self.width)
    )

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, width]` for boards `[B, num_cells]` of -1, 0, 1."""
    return self._look_up(self.table, _codes(self.game, self.sharing, boards))

  def tables(self) -> jax.Array:
    return self.table

  def after(self, tables: jax.Array, boards: jax.Array, cells: jax.Array) -> jax.Array:
    """Returns the sums `[B, A, width]` after an own stone in one of several cells.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8.
      cells: `[B, A]` int32, playable cells.
    """
    # The stone changes the patterns of the lines through its cell, and of those through
    # the cell above, which becomes playable: by the same numbers on any board.
    codes = _codes(self.game, self.sharing, boards)
    changes = jnp.asarray(_code_changes(self.game, self.sharing))
    after = codes[:, None] + changes.at[cells].get(mode="promise_in_bounds")
    return self._look_up(tables, after)

  def _look_up(self, table: jax.Array, codes: jax.Array) -> jax.Array:
    return table.at[codes].get(mode="promise_in_bounds").sum(axis=-2)


def _codes(game: game_lib.LineGame, sharing: Sharing, boards: jax.Array) -> chex.Array:
  """Returns `[B, num_lines]` int32, the row of each line's pattern in the table."""
  weights, offsets = _code_weights(game, sharing)
  is_empty = boards == 0
  has_floor = jnp.ones_like(is_empty)
  if game.gravity:
    below = ~is_empty[:, : -game.num_actions]
    has_floor = has_floor.at[:, game.num_actions :].set(below)
  digits = jnp.where(boards < 0, OTHER, boards.astype(jnp.int32))
  digits = jnp.where(is_empty & has_floor, PLAYABLE, digits)
  # Small whole numbers, exact as floats; and a matrix product is the quickest way.
  found = jnp.dot(
    digits.astype(jnp.float32), weights, precision=jax.lax.Precision.HIGHEST
  )
  return found.astype(jnp.int32) + offsets


@functools.lru_cache
def _code_weights(
  game: game_lib.LineGame, sharing: Sharing
) -> tuple[np.ndarray, np.ndarray]:
  """Returns how patterns are read: `[num_cells, num_lines]`, and `[1, num_lines]`."""
  oriented, classes = _oriented_lines(game, sharing)
  weights = np.zeros((game.num_cells, len(oriented)), np.float32)
  for number, cells in enumerate(oriented):
    weights[list(cells), number] = NUM_DIGITS ** np.arange(game.length)
  offsets = NUM_DIGITS**game.length * np.array(classes, np.int32)
  return weights, offsets[None]


@functools.lru_cache
def _code_changes(game: game_lib.LineGame, sharing: Sharing) -> np.ndarray:
  """Returns `[num_cells, num_lines]` int32, what an own stone in a cell changes."""
  weights = _code_weights(game, sharing)[0].astype(np.int32)
  changes = (OWN - PLAYABLE) * weights
  if game.gravity:
    above = weights[game.num_actions :]
    changes[: -game.num_actions] += (PLAYABLE - OUT_OF_REACH) * above
  return changes


@functools.lru_cache
def _oriented_lines(
  game: game_lib.LineGame, sharing: Sharing
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
  """Returns the cells of each line in the order of reading, and its class."""
  own_order = tuple(map(tuple, game.lines.tolist()))
  if sharing == "none":
    return own_order, tuple(range(len(own_order)))
  if sharing == "all":
    return own_order, (0,) * len(own_order)
  order: dict[frozenset[int], tuple[tuple[int, ...], int]] = {}
  num_classes = 0
  for line in own_order:
    if frozenset(line) in order:
      continue
    for symmetry in game.symmetries:
      image = tuple(int(symmetry[cell]) for cell in line)
      order.setdefault(frozenset(image), (image, num_classes))
    num_classes += 1
  found = [order[frozenset(line)] for line in own_order]
  return tuple(cells for cells, _ in found), tuple(number for _, number in found)
