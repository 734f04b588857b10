"""A dense numbering of the positions of small games, for tables.

Without gravity a position is a number in base 3, a digit a cell. Under gravity it is a
number with a digit a column, which counts the column's fillings: 2^(height + 1) - 1
of them, 31 for four levels, in place of 81.
"""

import chex
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib

__all__ = ["MOST_NUMBERS", "num_numbers", "number", "number_of_board"]

# A table of bytes over all numbers of a game should take megabytes, not more.
MOST_NUMBERS = 50_000_000


def num_numbers(game: game_lib.LineGame) -> int:
  """Returns one more than the highest number of a position."""
  radix, num_digits = _radix(game)
  return radix**num_digits


def number(game: game_lib.LineGame, state: game_lib.State) -> chex.Array:
  """Returns a position's number, `[]` int32; the view is that of the player to move.

  The side to move follows from the number of stones, so no two positions of a game
  have the same number.
  """
  own = bits.unpack(state.own, game.num_cells)
  other = bits.unpack(state.other, game.num_cells)
  return _number(game, own, other)


def number_of_board(game: game_lib.LineGame, board: chex.Array) -> chex.Array:
  """Returns the number of a position from its board.

  Args:
    game: the rules.
    board: `[num_cells]` int8, as `game.observe` has it.
  """
  chex.assert_shape(board, (game.num_cells,))
  return _number(game, board == 1, board == -1)


def _number(
  game: game_lib.LineGame, is_own: chex.Array, is_other: chex.Array
) -> chex.Array:
  if num_numbers(game) > MOST_NUMBERS:
    raise ValueError(f"{game} has too many positions to number")
  own, other = is_own.astype(jnp.int32), is_other.astype(jnp.int32)
  if game.gravity:
    # A column of height h whose own stones read as the binary number b has digit
    # 2^h - 1 + b, which is the sum below over its stones.
    levels = (1 << np.arange(game.shape[0], dtype=np.int32))[:, None]
    stones = (2 * own + other).reshape(game.shape[0], -1)
    digits = (stones * levels).sum(axis=0)
  else:
    digits = own + 2 * other
  radix, num_digits = _radix(game)
  return (digits * radix ** np.arange(num_digits, dtype=np.int32)).sum()


def _radix(game: game_lib.LineGame) -> tuple[int, int]:
  if game.gravity:
    return 2 ** (game.shape[0] + 1) - 1, game.num_actions
  return 3, game.num_cells
