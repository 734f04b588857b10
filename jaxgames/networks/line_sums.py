"""First layers: from a board to sums that a move changes in few places.

A move changes one cell. So the sums after every possible move are the present sums
plus a row for each move: rows of the weights themselves where each cell has its own
weights. Where lines have detectors, the rows of a table over line patterns: it is
computed once for all games that share the weights, and then a move costs look-ups alone.
For a few games the table is not worth its making, and the detectors of the lines that a
move changes are computed anew.

In the shapes, `B` is the number of boards and `A` that of actions.
"""

from collections.abc import Callable
import functools
from typing import NamedTuple

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import lines
from jaxgames.networks import lookup

__all__ = ["OF_DETECTORS", "CellSums", "LineSums", "LineTables"]

ActivationFn = Callable[[jax.Array], jax.Array]
Initializer = nn.initializers.Initializer

# A cell in a pattern is a digit in base 3: empty, own stone, the other's.
NUM_DIGITS = 3

# From so many boards on a table over line patterns costs less than to compute what each
# move changes, and from so many a matrix from all cells to all detectors costs less than
# one for each line. Measured on a CPU; accelerators do not mind.
LEAST_FOR_TABLES = 32
LEAST_FOR_MATRIX = 2

# The parameters of the detectors themselves; the others belong to the sums over them.
OF_DETECTORS = ("line_kernel", "line_bias")


class CellSums(nn.Module):
  """Sums over the cells of a board.

  Attributes:
    game: whose boards these are.
    width: the number of sums.
    kernel_init: draws the weights.
  """

  game: game_lib.LineGame
  width: int
  kernel_init: Initializer

  def setup(self):
    shape = (self.game.num_cells, self.width)
    self.kernel = self.param("kernel", self.kernel_init, shape)

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, width]` for boards `[B, num_cells]` of -1, 0, 1."""
    chex.assert_shape(boards, (None, self.game.num_cells))
    return boards.astype(jnp.float32) @ self.kernel

  def tables(self, num_boards: int | None = None) -> jax.Array:
    """Returns what `after` looks up; computed once for all boards."""
    del num_boards
    return self.kernel

  def after(self, tables: jax.Array, boards: jax.Array, cells: jax.Array) -> jax.Array:
    """Returns the sums `[B, A, width]` after an own stone in one of several cells.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8.
      cells: `[B, A]` int32, empty cells.
    """
    return self(boards)[:, None] + lookup.rows(tables, cells)


class LineTables(NamedTuple):
  """The numbers of each pattern of each line.

  Attributes:
    detected: `[num_lines * 3^length, detectors]`, the detectors' activations, by line
      and pattern.
    changes: `[num_lines * length * 3^(length - 1), width]`, what an own stone in an
      empty place of a line adds, by line, place, and pattern of the other places.
  """

  detected: chex.Array
  changes: chex.Array


class LineSums(nn.Module):
  """Sums over detectors, each of which sees the cells of one line.

  Stored as one small matrix a line, from its cells to its detectors.

  Attributes:
    game: whose boards and lines these are.
    width: the number of sums.
    detectors: how many each line has.
    has_bias: whether detectors have a bias.
    activation_fn: of the detectors.
    kernel_init: draws the weights.
  """

  game: game_lib.LineGame
  width: int
  detectors: int
  has_bias: bool
  activation_fn: ActivationFn
  kernel_init: Initializer

  def setup(self):
    num_lines, length = self.game.lines.shape
    self.line_kernel = self.param(
      "line_kernel", self.kernel_init, (num_lines, length, self.detectors)
    )
    if self.has_bias:
      self.line_bias = self.param(
        "line_bias", self.kernel_init, (num_lines, self.detectors)
      )
    self.kernel = self.param(
      "kernel", self.kernel_init, (num_lines, self.detectors, self.width)
    )

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, width]` for boards `[B, num_cells]` of -1, 0, 1."""
    chex.assert_shape(boards, (None, self.game.num_cells))
    return self.activation_fn(self._detect(boards)) @ self._flat_kernel

  def _detect(self, boards: jax.Array) -> jax.Array:
    """Returns `[B, num_lines * detectors]`, before their activation."""
    stones = boards.astype(jnp.float32)
    if len(boards) < LEAST_FOR_MATRIX:
      # A product with ones and zeros is exact, and quicker than picking the cells.
      on_lines = (stones @ _cells_of_lines(self.game)).reshape(
        -1, *self.game.lines.shape
      )
      detected = jnp.einsum("blc,lcd->bld", on_lines, self.line_kernel)
    else:
      detected = stones @ self._cell_kernel()
    detected = detected.reshape(len(boards), -1)
    return detected + self.line_bias.reshape(1, -1) if self.has_bias else detected

  def _cell_kernel(self) -> jax.Array:
    """Returns `[num_cells, num_lines * detectors]`, with zeros for cells not on a line."""
    num_lines = len(self.game.lines)
    sparse = jnp.zeros((self.game.num_cells, num_lines, self.detectors))
    sparse = sparse.at[self.game.lines, np.arange(num_lines)[:, None]].set(
      self.line_kernel, unique_indices=True, mode="promise_in_bounds"
    )
    return sparse.reshape(self.game.num_cells, -1)

  @property
  def _flat_kernel(self) -> jax.Array:
    return self.kernel.reshape(-1, self.width)

  def tables(self, num_boards: int | None = None) -> LineTables | None:
    """Returns what `after` looks up; computed once for all boards.

    Args:
      num_boards: how many boards it is for, any number if not given. For a few none is
        made.
    """
    if num_boards is not None and num_boards < LEAST_FOR_TABLES:
      return None
    patterns = _patterns(self.game.length)
    detected = jnp.einsum("pc,lcd->lpd", patterns, self.line_kernel)
    if self.has_bias:
      detected += self.line_bias[:, None]
    active = self.activation_fn(detected)
    by_pattern = functools.reduce(
      jnp.add,
      [active[:, :, d, None] * self.kernel[:, None, d] for d in range(self.detectors)],
    )
    shape = (len(self.game.lines), *[NUM_DIGITS] * self.game.length, self.width)
    by_place = by_pattern.reshape(shape)
    changes = []
    for place in range(self.game.length):
      empty = jax.lax.index_in_dim(by_place, 0, 1 + place, keepdims=False)
      own = jax.lax.index_in_dim(by_place, 1, 1 + place, keepdims=False)
      changes.append((own - empty).reshape(shape[0], -1, self.width))
    return LineTables(
      detected=active.reshape(-1, self.detectors),
      changes=jnp.stack(changes, axis=1).reshape(-1, self.width),
    )

  def after(
    self, tables: LineTables | None, boards: jax.Array, cells: jax.Array
  ) -> jax.Array:
    """Returns the sums `[B, A, width]` after an own stone in one of several cells.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8.
      cells: `[B, A]` int32, empty cells.
    """
    if tables is None:
      return self._after_without_tables(boards, cells)
    present = self._present(tables, boards)
    return present[:, None] + self._changes(tables, boards, cells)

  def _after_without_tables(self, boards: jax.Array, cells: jax.Array) -> jax.Array:
    """Returns the same, computed from what changes in the lines through each cell."""
    through = _places_through(self.game)
    places = lookup.rows(jnp.asarray(np.maximum(through, 0)), cells)
    is_line = lookup.rows(jnp.asarray(through >= 0), cells)[..., None]
    here = lookup.rows(jnp.asarray(np.maximum(through, 0) // self.game.length), cells)

    detected = self._detect(boards)
    active = self.activation_fn(detected)
    by_line = (len(boards), -1, self.detectors)
    stones = lookup.rows(self.line_kernel.reshape(-1, self.detectors), places)
    after = self.activation_fn(_of_lines(detected.reshape(by_line), here) + stones)
    changes = after - _of_lines(active.reshape(by_line), here)
    # Otherwise all changes would be computed again for each of the sums.
    changes = jax.lax.optimization_barrier(jnp.where(is_line, changes, 0.0))

    total = (active @ self._flat_kernel)[:, None]
    for slot in range(through.shape[1]):
      for detector in range(self.detectors):
        rows = here[..., slot] * self.detectors + detector
        change = changes[..., slot, detector, None]
        total += change * lookup.rows(self._flat_kernel, rows)
    return total

  def _present(self, tables: LineTables, boards: jax.Array) -> jax.Array:
    """Returns the sums by the tables, `[B, width]`."""
    # Ends in a product and not in a sum of rows, which the compiler would join with
    # what follows and then compute anew for every action.
    rows = _indices(boards, *_pattern_weights(self.game))
    detected = lookup.rows(tables.detected, rows).reshape(len(boards), -1)
    return detected @ self._flat_kernel

  def _changes(
    self, tables: LineTables, boards: jax.Array, cells: jax.Array
  ) -> jax.Array:
    """Returns `[B, A, width]`: what an own stone in each of `[B, A]` cells would add."""
    rows = _indices(boards, *_change_weights(self.game))
    places = _places_through(self.game)
    num_always = int((places >= 0).all(axis=0).sum())
    places_here = lookup.rows(jnp.asarray(places), cells)
    num_slots = places.shape[1]
    flat = jnp.maximum(places_here, 0).reshape(len(boards), -1)
    rows = jnp.take_along_axis(rows, flat, axis=1, mode="promise_in_bounds")
    rows = rows.reshape(*cells.shape, num_slots)
    total = lookup.sum_of_rows(tables.changes, rows[..., :num_always])
    for slot in range(num_always, num_slots):
      is_line = (places_here[..., slot] >= 0)[..., None]
      total += jnp.where(is_line, lookup.rows(tables.changes, rows[..., slot]), 0.0)
    return total


def _of_lines(by_line: jax.Array, here: jax.Array) -> jax.Array:
  """Returns what boards have for some lines, `[B, ..., n]`.

  Args:
    by_line: `[B, num_lines, n]`.
    here: `[B, ...]` int32, the lines.
  """
  num_boards, num_lines, _ = by_line.shape
  first = num_lines * np.arange(num_boards, dtype=np.int32)
  rows = here + first.reshape(-1, *[1] * (here.ndim - 1))
  return lookup.rows(by_line.reshape(num_boards * num_lines, -1), rows)


def _indices(boards: jax.Array, weights: np.ndarray, offsets: np.ndarray) -> jax.Array:
  """Returns row numbers, digits times weights plus offsets, `[B, n]` int32."""
  # Small whole numbers, exact as floats; and a matrix product is the quickest way.
  digits = jnp.where(boards < 0, jnp.int8(2), boards).astype(jnp.float32)
  found = jnp.dot(digits, weights, precision=jax.lax.Precision.HIGHEST)
  return found.astype(jnp.int32) + offsets


@functools.lru_cache
def _cells_of_lines(game: game_lib.LineGame) -> np.ndarray:
  """Returns `[num_cells, num_lines * length]` float32, 1 for the cell of each place."""
  return np.eye(game.num_cells, dtype=np.float32)[:, game.lines.reshape(-1)]


@functools.lru_cache
def _patterns(length: int) -> np.ndarray:
  """Returns `[3^length, length]` float32, every pattern of a line, as -1, 0, 1."""
  digits = np.indices([NUM_DIGITS] * length).reshape(length, -1).T
  return np.array([0.0, 1.0, -1.0], np.float32)[digits]


@functools.lru_cache
def _pattern_weights(game: game_lib.LineGame) -> tuple[np.ndarray, np.ndarray]:
  """Returns how a line's pattern is read: `[num_cells, num_lines]`, `[1, num_lines]`."""
  num_lines, length = game.lines.shape
  weights = np.zeros((game.num_cells, num_lines), np.float32)
  for place, cells in enumerate(game.lines.T):
    weights[cells, np.arange(num_lines)] = NUM_DIGITS ** (length - 1 - place)
  offsets = NUM_DIGITS**length * np.arange(num_lines, dtype=np.int32)
  return weights, offsets[None]


@functools.lru_cache
def _change_weights(game: game_lib.LineGame) -> tuple[np.ndarray, np.ndarray]:
  """Returns how the pattern around each place of each line is read.

  Returns:
    `[num_cells, num_lines * length]` float32 and `[1, num_lines * length]` int32.
  """
  num_lines, length = game.lines.shape
  weights = np.zeros((game.num_cells, num_lines, length), np.float32)
  for place in range(length):
    others = [i for i in range(length) if i != place]
    for rank, other in enumerate(others):
      cells = game.lines[:, other]
      weights[cells, np.arange(num_lines), place] = NUM_DIGITS ** (length - 2 - rank)
  num_places = num_lines * length
  offsets = NUM_DIGITS ** (length - 1) * np.arange(num_places, dtype=np.int32)
  return weights.reshape(-1, num_places), offsets[None]


@functools.lru_cache
def _places_through(game: game_lib.LineGame) -> np.ndarray:
  """Returns `[num_cells, most]` int32: line times length plus place, or -1."""
  through = lines.lines_through(game.shape, game.length)
  cells = np.arange(game.num_cells)[:, None, None]
  place = (game.lines[through] == cells).argmax(axis=2)
  return np.where(through >= 0, through * game.length + place, -1).astype(np.int32)
