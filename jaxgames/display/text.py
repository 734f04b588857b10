"""A position drawn with characters."""

from collections.abc import Iterable

import numpy as np

from jaxgames import game as game_lib
from jaxgames.display import layout
from jaxgames.display import notation

__all__ = ["draw"]

SYMBOLS = {1: "X", -1: "O", 0: "."}
TEXT_WIDTH = 80


def draw(game: game_lib.LineGame, state: game_lib.State) -> str:
  """Draws a position with characters.

  X is the first player, O the second; brackets are around the stones of a winning
  line. Beside or around the board is what a person types to make a move.

  Args:
    game: any board.
    state: one position of it.
  """
  picture = layout.lay_out(game, state)
  blocks = [_draw_panel(picture, panel) for panel in picture.panels]
  if picture.is_numbered:
    blocks += _draw_keys(game)
  return _side_by_side(blocks)


def _draw_panel(picture: layout.Picture, panel: layout.Panel) -> list[str]:
  """Returns the lines of one level with its labels."""
  num_rows, num_columns = panel.cells.shape
  width = max(2, len(str(num_columns - 1)))
  is_won = np.isin(panel.cells, picture.won_lines)
  rows = [
    _draw_row([SYMBOLS[int(picture.stones[cell])] for cell in cells], width, wins)
    for cells, wins in zip(panel.cells, is_won, strict=True)
  ]
  columns = _draw_row(map(str, range(num_columns)), width)
  if picture.is_upright:
    return [*rows, "-" * len(columns), columns]
  if picture.is_numbered:
    return [f" {panel.title or 'board'}", *rows]
  indent = len(str(num_rows - 1))
  lines = [f"{row:>{indent}} {marks}" for row, marks in enumerate(rows)]
  lines.append(" " * (indent + 1) + columns)
  if picture.has_letters:
    letters = map(notation.column_letters, range(num_columns))
    lines.insert(0, " " * (indent + 1) + _draw_row(letters, width))
  return [panel.title, *lines] if panel.title else lines


def _draw_row(marks: Iterable[str], width: int, wins: Iterable[bool] = ()) -> str:
  """Returns marks in columns, with room for a bracket on either side of each."""
  marks = list(marks)
  wins = list(wins) or [False] * len(marks)
  return "".join(
    f"{'[' + mark:>{width}}]" if has_won else f"{mark:>{width}} "
    for mark, has_won in zip(marks, wins, strict=True)
  )


def _draw_keys(game: game_lib.LineGame) -> list[list[str]]:
  """Returns boards that show the number of every action."""
  actions = np.arange(game.num_actions).reshape(notation.action_axes(game))
  levels = actions if actions.ndim == 3 else actions[None]
  width = max(2, len(str(game.num_actions - 1)))
  return [
    [
      f" numbers {level}" if actions.ndim == 3 else " numbers",
      *(_draw_row(map(str, row), width) for row in rows),
    ]
    for level, rows in enumerate(levels)
  ]


def _side_by_side(blocks: list[list[str]]) -> str:
  """Joins blocks of equal height from left to right, as many as fit into a line."""
  gap = "   "
  bands: list[list[list[str]]] = [[]]
  room = TEXT_WIDTH
  for block in blocks:
    width = max(map(len, block))
    if bands[-1] and room < width:
      bands.append([])
      room = TEXT_WIDTH
    bands[-1].append([line.ljust(width) for line in block])
    room -= width + len(gap)
  return "\n\n".join(
    "\n".join(gap.join(line).rstrip() for line in zip(*band, strict=True))
    for band in bands
  )
