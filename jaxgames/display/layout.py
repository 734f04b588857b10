"""What is drawn of a position, computed on the host: the part all pictures share."""

import functools
from typing import NamedTuple

import jax
import numpy as np

from jaxgames import game as game_lib
from jaxgames.display import notation

__all__ = ["Panel", "Picture", "lay_out"]


class Panel(NamedTuple):
  """One level of a board, or all of a board of two axes.

  Attributes:
    title: its name, empty if there is only one panel.
    cells: `[rows, columns]` cell numbers, the first row drawn on top.
  """

  title: str
  cells: np.ndarray


class Picture(NamedTuple):
  """A position and how its board is shown.

  Attributes:
    stones: `[num_cells]` int8, 1 first player, -1 second player, 0 empty.
    won_lines: `[num_won, length]` int32, the cells of the winner's full lines.
    last_cell: the cell of the last stone, if it is known.
    standing: how the game stands, in words.
    panels: the board's levels, all of one size.
    actions: `[num_cells]` int, the action that fills each cell.
    is_hanging: `[num_cells]` bool, whether a cell is above an empty one.
    is_upright: whether the board is seen from its side, columns from left to right.
    is_numbered: whether actions are shown in place, not as rows and columns.
    has_letters: whether columns have letters.
  """

  stones: np.ndarray
  won_lines: np.ndarray
  last_cell: int | None
  standing: str
  panels: list[Panel]
  actions: np.ndarray
  is_hanging: np.ndarray
  is_upright: bool
  is_numbered: bool
  has_letters: bool


def lay_out(
  game: game_lib.LineGame, state: game_lib.State, last_action: int | None = None
) -> Picture:
  """Returns what there is to draw.

  Raises:
    ValueError: if `state` is not one position of the game, or `last_action` cannot have
      led to it.
  """
  _check_state(game, state)
  stones = np.asarray(_jitted_board(game, state)).ravel()
  winner = int(state.winner)
  is_won = (stones[game.lines] == winner).all(axis=1) & (winner != 0)
  actions = np.arange(game.num_cells) % game.num_actions
  # Without gravity there are as many actions as cells, and every cell is on the floor.
  floor = np.ones(game.num_actions, np.int8)
  below = np.concatenate([floor, stones])[: game.num_cells]
  is_upright = game.gravity and len(game.shape) == 2
  is_numbered = notation.is_numbered(game)
  return Picture(
    stones=stones,
    won_lines=game.lines[is_won],
    last_cell=None if last_action is None else _find_last(game, stones, last_action),
    standing=_describe(state),
    panels=_panels(game),
    actions=actions,
    is_hanging=below == 0,
    is_upright=is_upright,
    is_numbered=is_numbered and not is_upright,
    has_letters=not is_numbered and len(notation.action_axes(game)) == 2,
  )


def _check_state(game: game_lib.LineGame, state: game_lib.State) -> None:
  """Refuses what is not one position of the game."""
  if np.ndim(state.num_moves):
    raise ValueError(
      f"one position can be drawn, not a batch of shape {np.shape(state.num_moves)}: "
      "pick one, for example jax.tree.map(lambda leaf: leaf[0], states)"
    )
  if len(state.own) != game.num_words:
    raise ValueError(
      f"this is no position of the game: it has {len(state.own)} words a side, a board "
      f"of shape {game.shape} has {game.num_words}"
    )


@functools.partial(jax.jit, static_argnums=0)
def _jitted_board(game: game_lib.LineGame, state: game_lib.State) -> jax.Array:
  return game.board(state)


def _panels(game: game_lib.LineGame) -> list[Panel]:
  cells = np.arange(game.num_cells).reshape(game.shape)
  if len(game.shape) == 2:
    return [Panel("", cells[::-1] if game.gravity else cells)]
  return [Panel(f"level {level}", plane) for level, plane in enumerate(cells)]


def _find_last(game: game_lib.LineGame, stones: np.ndarray, action: int) -> int:
  """Returns the cell that the last move filled: the highest stone of its column."""
  name = notation.action_name(game, action)
  column = range(int(action), game.num_cells, game.num_actions)
  filled = [cell for cell in column if stones[cell]]
  mover = 1 if np.count_nonzero(stones) % 2 else -1
  if not filled or stones[filled[-1]] != mover:
    raise ValueError(f"action {name} cannot have been the last move of this position")
  return filled[-1]


def _describe(state: game_lib.State) -> str:
  """Returns how a game stands, in words."""
  names = {1: "X, the first player,", -1: "O, the second player,"}
  winner, num_moves = int(state.winner), int(state.num_moves)
  if winner:
    standing = f"{names[winner]} has won"
  elif state.is_over:
    standing = "a draw"
  else:
    standing = f"{names[-1 if num_moves % 2 else 1]} is to move"
  return f"{num_moves} {'stone' if num_moves == 1 else 'stones'}: {standing}"
