"""A second structured layer: what empty cells are worth in which several lines meet.

Sums over lines cannot see a fork, two lines that lack the same cell: each line says the
same whether they meet or not. So each empty cell has units of its own, joined only to
the lines through it. A table gives, for each pattern of a line as one of its cells sees
it, a row of numbers, one for each unit, and a unit is the square of its bias plus the
sum of its numbers over the cell's lines: so each two lines that meet have a say that is
the product of their numbers. All cells and lines share one table, in which the line's
other cells are told by counts alone, whatever their order.

In the shapes, `B` is the number of boards and `A` that of actions.
"""

import functools
from typing import Any, NamedTuple

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import lines
from jaxgames.networks import codes as codes_lib
from jaxgames.networks import lookup

__all__ = ["CrossingSums"]

# The ways to see an empty cell. Under gravity some are out of reach.
EMPTY = (codes_lib.OUT_OF_REACH, codes_lib.PLAYABLE)

# Of the numbers at the start: units differ, and are next to nothing until they learn.
SCALE = 0.01


class _Layout(NamedTuple):
  """How lines are seen from cells, numpy.

  Attributes:
    weights: `[num_cells, n]` float32, with `offsets` from the digits of cells to codes,
      one for each cell and each line through it.
    offsets: `[1, n]` int32; a cell's first line has rows of its own, with the bias.
    groups: cells that have as many lines as each other, `[num_lines, num_cells]` codes
      after those of the group before.
  """

  weights: np.ndarray
  offsets: np.ndarray
  groups: tuple["_Group", ...]


class _Group(NamedTuple):
  """Cells through which equally many lines pass."""

  num_lines: int
  cells: tuple[int, ...]


class CrossingTables(NamedTuple):
  """What a board's cells look up.

  Attributes:
    rows: `[2 * 4^length, units]`, by code.
    kernel: `[num_cells, units, width]`, in the order of the layout's groups.
  """

  rows: chex.Array
  kernel: chex.Array


class CrossingSums(nn.Module):
  """Sums over the units of empty cells, each of which sees the lines through its cell.

  Cells that a symmetry of the board maps onto each other have the same outgoing
  weights, so that symmetric boards have the same sums.

  Attributes:
    game: whose boards and lines these are.
    width: the number of sums.
    units: how many each cell has.
  """

  game: game_lib.LineGame
  width: int
  units: int

  def setup(self):
    num_rows = int(_rows_of_codes(self.game.length).max())
    num_classes = int(_cell_classes(self.game).max()) + 1
    small = nn.initializers.normal(SCALE)
    self.table = self.param("table", small, (num_rows, self.units))
    self.bias = self.param("bias", small, (len(EMPTY), self.units))
    self.kernel = self.param(
      "kernel", _alternating, (num_classes, self.units, self.width)
    )

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, width]` for boards `[B, num_cells]` of -1, 0, 1."""
    return self._sum(self.tables(), self._codes(boards))

  def tables(self) -> CrossingTables:
    """Returns what all boards look up."""
    # The last row is of cells with a stone: zeros, and so are their units.
    rows = jnp.pad(self.table, ((0, 1), (0, 0)))[_rows_of_codes(self.game.length)]
    bias = (
      jnp.zeros((codes_lib.NUM_DIGITS, self.units)).at[np.array(EMPTY)].set(self.bias)
    )
    first = rows.reshape(codes_lib.NUM_DIGITS, -1, self.units) + bias[:, None]
    order = [cell for group in _layout(self.game).groups for cell in group.cells]
    return CrossingTables(
      rows=jnp.concatenate([rows, first.reshape(rows.shape)]),
      kernel=self.kernel[_cell_classes(self.game)[order]],
    )

  def after(
    self, tables: CrossingTables, boards: jax.Array, cells: jax.Array
  ) -> jax.Array:
    """Returns the sums `[B, A, width]` after an own stone in one of several cells.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8.
      cells: `[B, A]` int32, playable cells.
    """
    changes = jnp.asarray(_code_changes(self.game))
    codes = self._codes(boards)[:, None] + lookup.look_up(changes, cells)
    totals = self._sum(tables, codes.reshape(-1, codes.shape[-1]))
    return totals.reshape(*cells.shape, self.width)

  def _codes(self, boards: jax.Array) -> jax.Array:
    layout = _layout(self.game)
    return codes_lib.codes(self.game, boards, layout.weights, layout.offsets)

  def _sum(self, tables: CrossingTables, codes: jax.Array) -> jax.Array:
    """Returns the sums `[B, width]` from codes `[B, n]`."""
    units, begin = [], 0
    for num_lines, cells in _layout(self.game).groups:
      end = begin + num_lines * len(cells)
      here = codes[:, begin:end].reshape(-1, num_lines, len(cells))
      totals = lookup.sum_of(tables.rows, here.transpose(0, 2, 1))
      units.append(totals * totals)
      begin = end
    flat = jnp.concatenate(units, axis=1).reshape(len(codes), -1)
    return flat @ tables.kernel.reshape(-1, self.width)


def _alternating(
  key: chex.PRNGKey, shape: tuple[int, ...], dtype: Any = jnp.float32
) -> jax.Array:
  """Returns weights `[num_classes, units, width]`, 1 and -1 in turn."""
  # A square has no sign of its own: half of the units speak for a board, half against.
  del key
  num_classes, num_units, width = shape
  signs = jnp.asarray(1 - 2 * (np.arange(num_units) % 2), dtype)
  return jnp.broadcast_to(signs[None, :, None], (num_classes, num_units, width))


@functools.lru_cache
def _rows_of_codes(length: int) -> np.ndarray:
  """Returns `[4^length]` int32, the row behind each code: the cell, then the others."""
  by_counts = codes_lib.number_by_counts(length - 1)
  num_counts = int(by_counts.max()) + 1
  of_stones = np.full_like(by_counts, len(EMPTY) * num_counts)
  rows = [of_stones] * codes_lib.NUM_DIGITS
  for kind, digit in enumerate(EMPTY):
    rows[digit] = kind * num_counts + by_counts
  return np.concatenate(rows).astype(np.int32)


@functools.lru_cache
def _layout(game: game_lib.LineGame) -> _Layout:
  through = lines.lines_through(game.shape, game.length)
  num_through = (through >= 0).sum(axis=1)
  bases = codes_lib.NUM_DIGITS ** np.arange(game.length)
  weights, offsets, groups = [], [], []
  for num_lines in np.unique(num_through[num_through > 0]):
    cells = np.flatnonzero(num_through == num_lines)
    groups.append(_Group(int(num_lines), tuple(cells.tolist())))
    for slot in range(num_lines):
      for cell in cells:
        line = game.lines[through[cell, slot]]
        of_code = np.zeros(game.num_cells, np.float32)
        of_code[line[line != cell]] = bases[:-1]
        of_code[cell] = bases[-1]
        weights.append(of_code)
        offsets.append(0 if slot else codes_lib.NUM_DIGITS**game.length)
  return _Layout(
    weights=np.stack(weights, axis=1),
    offsets=np.array(offsets, np.int32)[None],
    groups=tuple(groups),
  )


@functools.lru_cache
def _code_changes(game: game_lib.LineGame) -> np.ndarray:
  """Returns `[num_cells, n]` int32, what an own stone in a cell changes."""
  return codes_lib.code_changes(game, _layout(game).weights)


def _cell_classes(game: game_lib.LineGame) -> np.ndarray:
  return lines.cell_classes(game.shape, game.gravity)
