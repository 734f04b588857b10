"""A first layer of tables: what each pattern of stones on a line is worth.

A cell of a line is seen in one of four ways, see `codes`. So a line of four has 256
patterns, and a weight, or a row of them, for each.

Lines may share tables in several ways at once: then a pattern is worth the sum of what
all tables say, one that learns fast from all lines and one that distinguishes them.
"""

from collections.abc import Sequence
import functools
from typing import NamedTuple

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import lines
from jaxgames import options
from jaxgames.networks import codes
from jaxgames.networks import lookup

__all__ = ["PatternSums", "Sharing"]

Sharing = options.PatternSharing


class _Layout(NamedTuple):
  """How tables are laid out, numpy.

  Attributes:
    weights: `[num_cells, n]` float32, with `offsets` from the digits of cells to codes,
      one for each line and table: `n` is their product.
    offsets: `[1, n]` int32.
    rows: `[num_codes]` int32, the row of the parameters behind each code.
  """

  weights: np.ndarray
  offsets: np.ndarray
  rows: np.ndarray


class PatternSums(nn.Module):
  """Sums over the lines of a board of what their patterns are worth.

  Attributes:
    game: whose boards and lines these are.
    width: the number of sums.
    sharings: for each table, which lines have it in common: `none`, those that a
      `symmetry` of the board maps onto each other, `all`, or all with the `counts` of a
      pattern's digits alone, whatever their order.
    has_sides: whether the player who moved first has tables of its own, and the second
      player others.
  """

  game: game_lib.LineGame
  width: int
  sharings: tuple[Sharing, ...]
  has_sides: bool = False

  def setup(self):
    num_rows = int(_layout(self.game, self.sharings).rows.max()) + 1
    shape = (num_rows * (2 if self.has_sides else 1), self.width)
    # Zero, since a pattern that was never seen is worth nothing.
    self.table = self.param("table", nn.initializers.zeros_init(), shape)

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, width]` for boards `[B, num_cells]` of -1, 0, 1."""
    chex.assert_shape(boards, (None, self.game.num_cells))
    return _sum_of_rows(self.tables(), self._encode(boards, is_after=True))

  def tables(self, num_boards: int | None = None) -> jax.Array:
    """Returns `[num_codes, width]`, for each side if they have their own."""
    del num_boards
    rows = _layout(self.game, self.sharings).rows
    if len(rows) == rows.max() + 1:
      return self.table
    by_side = self.table.reshape(-1, rows.max() + 1, self.width)
    return by_side[:, rows].reshape(-1, self.width)

  def after(self, tables: jax.Array, boards: jax.Array, cells: jax.Array) -> jax.Array:
    """Returns the sums `[B, A, width]` after an own stone in one of several cells.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8.
      cells: `[B, A]` int32, playable cells.
    """
    present = self._encode(boards, is_after=False)
    changes = jnp.asarray(_code_changes(self.game, self.sharings))
    return _sum_of_rows(tables, present[:, None] + lookup.rows(changes, cells))

  def _encode(self, boards: jax.Array, *, is_after: bool) -> chex.Array:
    """Returns `[B, n]` int32, the row of each line's pattern in each table.

    Args:
      boards: `[B, num_cells]` int8.
      is_after: whether the player who sees the board has just moved, or is to move.
    """
    layout = _layout(self.game, self.sharings)
    found = codes.encode(self.game, boards, layout.weights, layout.offsets)
    if not self.has_sides:
      return found
    num_stones = jnp.abs(boards).sum(axis=1, dtype=jnp.int32)
    is_second = (num_stones + (1 if is_after else 0)) % 2
    return found + len(layout.rows) * is_second[:, None]


def _sum_of_rows(table: jax.Array, rows: jax.Array) -> jax.Array:
  return lookup.rows(table, rows).sum(axis=-2)


@functools.lru_cache
def _layout(game: game_lib.LineGame, sharings: Sequence[Sharing]) -> _Layout:
  """Returns how the patterns of all lines are read for all tables."""
  num_patterns = codes.NUM_DIGITS**game.length
  weights, offsets, rows = [], [], []
  num_codes = num_rows = 0
  for sharing in sharings:
    oriented, classes = _oriented_lines(game, sharing)
    of_table = np.zeros((game.num_cells, len(oriented)), np.float32)
    for number, cells in enumerate(oriented):
      of_table[cells, number] = codes.NUM_DIGITS ** np.arange(game.length)
    weights.append(of_table)
    offsets.append(num_codes + num_patterns * classes)
    of_codes = np.arange((classes.max() + 1) * num_patterns)
    if sharing == "counts":
      of_codes = codes.number_by_counts(game.length)
    rows.append(num_rows + of_codes)
    num_codes += len(of_codes)
    num_rows += int(of_codes.max()) + 1
  return _Layout(
    weights=np.concatenate(weights, axis=1),
    offsets=np.concatenate(offsets)[None].astype(np.int32),
    rows=np.concatenate(rows).astype(np.int32),
  )


@functools.lru_cache
def _code_changes(game: game_lib.LineGame, sharings: Sequence[Sharing]) -> np.ndarray:
  """Returns `[num_cells, n]` int32, what an own stone in a cell changes."""
  return codes.changes(game, _layout(game, sharings).weights)


def _oriented_lines(
  game: game_lib.LineGame, sharing: Sharing
) -> tuple[np.ndarray, np.ndarray]:
  """Returns the cells of each line in the order of reading, and its class."""
  if sharing == "symmetry":
    return lines.symmetric_lines(game.shape, game.length, game.gravity)
  numbers = np.arange(len(game.lines))
  return game.lines, numbers if sharing == "none" else 0 * numbers
