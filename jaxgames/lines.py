"""The geometry of a board, as numpy tables: its lines and its symmetries.

Cells are numbered row-major over the board's shape. Everything here is computed
once for a shape and kept.
"""

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np

__all__ = [
  "Direction",
  "Shape",
  "action_symmetries",
  "cell_symmetries",
  "directions",
  "lines_through",
  "steps",
  "symmetric_lines",
  "winning_lines",
]

Shape = tuple[int, ...]


class Direction(NamedTuple):
  """One way in which lines run.

  Attributes:
    stride: how far apart neighbouring cells of such a line are; always positive.
    starts: the first cell of every such line, ascending.
  """

  stride: int
  starts: tuple[int, ...]


@functools.lru_cache
def directions(shape: Shape, length: int) -> tuple[Direction, ...]:
  """Returns the directions in which lines of a length fit on a board.

  Rows come first (along the last axis), then the other axes, then the diagonals of
  planes, then those of the cube: the order in which a person would look.
  """
  strides = _strides(shape)
  return tuple(
    Direction(
      stride=sum(d * s for d, s in zip(step, strides, strict=True)),
      starts=_line_starts(shape, length, step),
    )
    for step in steps(shape, length)
  )


@functools.lru_cache
def steps(shape: Shape, length: int) -> tuple[Shape, ...]:
  """Returns, in the order of `directions`, how each moves along the board's axes."""
  ways = [
    step
    for step in itertools.product((-1, 0, 1), repeat=len(shape))
    if any(step) and next(filter(None, step)) > 0
  ]
  ways.sort(key=lambda step: (sum(map(abs, step)), step))
  return tuple(step for step in ways if _line_starts(shape, length, step))


@functools.lru_cache
def winning_lines(shape: Shape, length: int) -> np.ndarray:
  """Returns `[num_lines, length]` int32, the cells of every line, ascending."""
  lines = [
    [start + i * direction.stride for i in range(length)]
    for direction in directions(shape, length)
    for start in direction.starts
  ]
  return _frozen(np.array(lines, np.int32))


@functools.lru_cache
def lines_through(shape: Shape, length: int) -> np.ndarray:
  """Returns `[num_cells, most]` int32: the lines that pass through each cell.

  Cells with fewer lines than the busiest one are filled up with -1.
  """
  through: list[list[int]] = [[] for _ in range(math.prod(shape))]
  for number, line in enumerate(winning_lines(shape, length)):
    for cell in line:
      through[cell].append(number)
  most = max(map(len, through))
  padded = [numbers + [-1] * (most - len(numbers)) for numbers in through]
  return _frozen(np.array(padded, np.int32))


@functools.lru_cache
def cell_symmetries(shape: Shape, gravity: bool) -> np.ndarray:
  """Returns the ways in which a board may be turned and mirrored.

  Under gravity the height, axis 0, stays as it is.

  Returns:
    `[num_symmetries, num_cells]` int32; `flat_board[table[i]]` is the board after
    symmetry `i`, and symmetry 0 changes nothing.
  """
  cells = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
  return _frozen(np.stack([image.ravel() for image in _images(cells, int(gravity))]))


@functools.lru_cache
def symmetric_lines(
  shape: Shape, length: int, gravity: bool
) -> tuple[np.ndarray, np.ndarray]:
  """Returns which lines a symmetry of the board maps onto each other.

  Returns:
    `[num_lines, length]` int32, the cells of every line in an order in which lines of a
    class correspond, and `[num_lines]` int32, the number of its class. Some symmetry
    may still map a line onto itself backwards.
  """
  lines = winning_lines(shape, length)
  order: dict[frozenset[int], tuple[np.ndarray, int]] = {}
  num_classes = 0
  for line in lines:
    if frozenset(line.tolist()) in order:
      continue
    for symmetry in cell_symmetries(shape, gravity):
      image = symmetry[line]
      order.setdefault(frozenset(image.tolist()), (image, num_classes))
    num_classes += 1
  found = [order[frozenset(line.tolist())] for line in lines]
  oriented = np.array([cells for cells, _ in found], np.int32)
  classes = np.array([number for _, number in found], np.int32)
  return _frozen(oriented), _frozen(classes)


@functools.lru_cache
def action_symmetries(shape: Shape, gravity: bool) -> np.ndarray:
  """Returns the symmetries as they act on actions.

  Returns:
    `[num_symmetries, num_actions]` int32, in the order of `cell_symmetries`;
    `legal[table[i]]` are the legal actions after symmetry `i`.
  """
  return cell_symmetries(shape[1:], False) if gravity else cell_symmetries(shape, False)


def _images(array: np.ndarray, num_fixed_axes: int) -> list[np.ndarray]:
  """Returns an array under every mirroring and exchange of axes that keeps its shape."""
  free = range(num_fixed_axes, array.ndim)
  images = []
  for order in itertools.permutations(free):
    turned = array.transpose(*range(num_fixed_axes), *order)
    if turned.shape != array.shape:
      continue
    for num_flips in range(len(free) + 1):
      for flipped in itertools.combinations(free, num_flips):
        images.append(np.flip(turned, flipped))
  return images


def _line_starts(shape: Shape, length: int, step: Shape) -> tuple[int, ...]:
  """Returns the cells from which a line in the direction of `step` fits."""
  reach = length - 1
  ranges = [
    range(max(0, -reach * d), size - max(0, reach * d))
    for size, d in zip(shape, step, strict=True)
  ]
  strides = _strides(shape)
  return tuple(
    sorted(
      sum(i * s for i, s in zip(place, strides, strict=True))
      for place in itertools.product(*ranges)
    )
  )


def _strides(shape: Shape) -> Shape:
  """Returns by how much a cell's number grows along each axis."""
  return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def _frozen(table: np.ndarray) -> np.ndarray:
  """Makes a table read-only, since all callers share it."""
  table.flags.writeable = False
  return table
