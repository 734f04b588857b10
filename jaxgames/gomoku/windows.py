"""The surroundings of every cell, line by line, as indices of tables.

The cells near a place in one direction are digits of base 3: 0 empty, 1 a stone of the
side in question, 2 what that side cannot have, the other's stone or the board's edge.
So what a stone would make of a line is one row of a table that is computed once.
"""

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import game as game_lib
from jaxgames import lines

__all__ = ["EMPTY", "OWN", "TAKEN", "around", "digits", "following", "near_stones"]

EMPTY, OWN, TAKEN = 0, 1, 2


def around(game: game_lib.LineGame, board: chex.Array, reach: int) -> jax.Array:
  """Returns the numbers of all cells' surroundings.

  Args:
    game: the board's game.
    board: `[*shape]` int8, 1 a stone of the side in question, -1 the other's.
    reach: how many cells to each side count.

  Returns:
    `[num_cells, num_directions]` int32 below `3 ** (2 * reach)`; the farthest cell
    before the place has the lowest digit, the place itself has none.
  """
  offsets = [*range(-reach, 0), *range(1, reach + 1)]
  return _numbers(game, board, offsets)


def following(game: game_lib.LineGame, board: chex.Array, length: int) -> jax.Array:
  """Returns the numbers of the windows that begin at each cell.

  Args:
    game: the board's game.
    board: `[*shape]` int8, as in `around`.
    length: how many cells a window has, the first included.

  Returns:
    `[num_cells, num_directions]` int32 below `3 ** length`; the first cell has the
    lowest digit, and what is beyond the edge is taken.
  """
  return _numbers(game, board, range(length))


def near_stones(
  game: game_lib.LineGame, state: game_lib.State, distance: int
) -> jax.Array:
  """Returns the empty cells near stones, `[num_cells]` bool; the centre if none are.

  Args:
    game: one without gravity.
    state: a position; once it is over, no cell is returned.
    distance: how far along any axis.
  """
  chex.assert_rank(state.num_moves, 0)
  is_stone = game.observe(state) != 0
  near = is_stone
  for axis in range(near.ndim):
    size = near.shape[axis]
    padding = [(0, 0)] * near.ndim
    padding[axis] = (distance, distance)
    padded = jnp.pad(near, padding)
    for shift in range(2 * distance + 1):
      near |= jax.lax.slice_in_dim(padded, shift, shift + size, axis=axis)
  # One cell, or two or four where a side is even.
  centre = np.zeros(game.shape, bool)
  centre[np.ix_(*([(size - 1) // 2, size // 2] for size in game.shape))] = True
  chosen = jnp.where(state.num_moves == 0, jnp.asarray(centre), near & ~is_stone)
  # Stones may have filled all that is near, but not while any cell is empty.
  return chosen.reshape(-1) & game.legal_actions(state)


def digits(num_digits: int) -> np.ndarray:
  """Returns `[3 ** num_digits, num_digits]` int8: what each number stands for."""
  numbers = np.arange(3**num_digits)[:, None]
  return (numbers // 3 ** np.arange(num_digits) % 3).astype(np.int8)


def _numbers(
  game: game_lib.LineGame, board: chex.Array, offsets: list[int] | range
) -> jax.Array:
  """Returns the numbers whose digits lie at some offsets along each direction."""
  chex.assert_shape(board, game.shape)
  margin = max(map(abs, offsets))
  cells = jnp.where(board < 0, TAKEN, board).astype(jnp.int32)
  padded = jnp.pad(cells, margin, constant_values=TAKEN)
  found = []
  for step in lines.steps(game.shape, game.length):
    number = jnp.zeros(game.shape, jnp.int32)
    # Shifted boards are added up, so that nothing is looked up cell by cell.
    for weight, offset in enumerate(offsets):
      corner = [margin + offset * along for along in step]
      ends = [first + size for first, size in zip(corner, game.shape, strict=True)]
      number += 3**weight * jax.lax.slice(padded, corner, ends)
    found.append(number.reshape(-1))
  return jnp.stack(found, axis=1)
