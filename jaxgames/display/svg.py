"""A position drawn as an SVG image."""

import numpy as np

from jaxgames import game as game_lib
from jaxgames.display import layout
from jaxgames.display import notation

__all__ = ["draw"]

# Sizes in SVG units, even where they are halved: all coordinates are whole numbers.
CELL = 40
LABEL = 24
GAP = 20
SVG_WIDTH = 860

INK = "#1f2d3d"
PAPER = "#f6f4ee"
FAINT = "#7d8894"
FAINTEST = "#c3c8cd"
MARK = "#e0393e"
FILLS = {1: "#2b4f78", -1: "#fff4cf"}
DOTS = {1: "#ffffff", -1: INK}

Points = dict[int, tuple[int, int]]


def draw(
  game: game_lib.LineGame, state: game_lib.State, *, last_action: int | None = None
) -> str:
  """Draws a position as an SVG that needs nothing else.

  The first player's stones are dark, the second's light. Stones of a winning line have
  a ring, the last one a dot. A cell that hangs in the air is shaded.

  Args:
    game: any board.
    state: one position of it.
    last_action: the move that led to the position, if it shall be marked.
  """
  picture = layout.lay_out(game, state, last_action)
  corners, width, height = _lay_out(picture)
  centres = _centres(picture, corners)
  parts = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    f'viewBox="0 0 {width} {height}" role="img" text-anchor="middle" '
    'font-family="Helvetica, Arial, sans-serif" font-size="13">',
    f"<title>{picture.standing}</title>",
    f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>',
  ]
  for panel, (left, top) in zip(picture.panels, corners, strict=True):
    parts += _draw_board(picture, panel, left, top)
    parts += _draw_labels(picture, panel, left, top)
  if picture.is_numbered:
    parts += _draw_cells(picture, centres)
  parts += _draw_won_lines(picture, centres)
  parts += _draw_stones(picture, centres)
  return "\n".join([*parts, "</svg>", ""])


def _lay_out(picture: layout.Picture) -> tuple[list[tuple[int, int]], int, int]:
  """Returns where each panel's cells begin, and the picture's width and height."""
  panels = picture.panels
  num_rows, num_columns = panels[0].cells.shape
  # As much room on the right as the labels take on the left keeps a board centred.
  beside = 0 if picture.is_numbered or picture.is_upright else LABEL
  above = LABEL * (bool(panels[0].title) + picture.has_letters)
  below = 0 if picture.is_numbered else LABEL
  width = beside + num_columns * CELL + beside + GAP
  height = above + num_rows * CELL + below + GAP
  num_bands = -(-len(panels) // max(1, (SVG_WIDTH - GAP) // width))
  across = -(-len(panels) // num_bands)
  corners = [
    (GAP + i % across * width + beside, GAP + i // across * height + above)
    for i in range(len(panels))
  ]
  return corners, GAP + across * width, GAP + num_bands * height


def _centres(picture: layout.Picture, corners: list[tuple[int, int]]) -> Points:
  """Returns the middle of every cell."""
  return {
    int(cell): (left + column * CELL + CELL // 2, top + row * CELL + CELL // 2)
    for panel, (left, top) in zip(picture.panels, corners, strict=True)
    for (row, column), cell in np.ndenumerate(panel.cells)
  }


def _draw_board(
  picture: layout.Picture, panel: layout.Panel, left: int, top: int
) -> list[str]:
  """Draws what is behind a level's cells: holes, or lines that cross in the middle."""
  if picture.is_numbered:
    return []
  num_rows, num_columns = panel.cells.shape
  width, height = num_columns * CELL, num_rows * CELL
  fill = "#9dbad8" if picture.is_upright else "#ecd6a4"
  parts = [
    f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="8" fill="{fill}"/>'
  ]
  x, y = left + CELL // 2, top + CELL // 2
  if picture.is_upright:
    for row, column in np.ndindex(num_rows, num_columns):
      parts.append(
        _draw_circle(x + column * CELL, y + row * CELL, 15, f'fill="{PAPER}"')
      )
  else:
    rows = [f"M{x} {y + row * CELL}h{width - CELL}" for row in range(num_rows)]
    columns = [f"M{x + i * CELL} {y}v{height - CELL}" for i in range(num_columns)]
    parts.append(f'<path d="{"".join(rows + columns)}" stroke="#a58a57"/>')
  return parts


def _draw_labels(
  picture: layout.Picture, panel: layout.Panel, left: int, top: int
) -> list[str]:
  """Draws a level's title and the names of its rows and columns."""
  num_rows, num_columns = panel.cells.shape
  half_cell, half_label = CELL // 2, LABEL // 2
  parts = []
  if panel.title:
    y = top - half_label - LABEL * picture.has_letters
    parts.append(_draw_text(left + num_columns * half_cell, y, panel.title, INK))
  if picture.is_numbered:
    return parts
  for column in range(num_columns):
    x = left + column * CELL + half_cell
    parts.append(_draw_text(x, top + num_rows * CELL + half_label, str(column), FAINT))
    if picture.has_letters:
      letters = notation.column_letters(column)
      parts.append(_draw_text(x, top - half_label, letters, INK))
  if not picture.is_upright:
    for row in range(num_rows):
      y = top + row * CELL + half_cell
      parts.append(_draw_text(left - half_label, y, str(row), INK))
  return parts


def _draw_cells(picture: layout.Picture, centres: Points) -> list[str]:
  """Draws squares with the numbers of the actions that fill them."""
  parts = []
  for cell, (x, y) in centres.items():
    hangs = picture.is_hanging[cell]
    parts.append(
      f'<rect x="{x - CELL // 2 + 1}" y="{y - CELL // 2 + 1}" width="{CELL - 2}" '
      f'height="{CELL - 2}" rx="6" fill="{"#ebe8df" if hangs else "#ffffff"}" '
      'stroke="#d9d5ca"/>'
    )
    if not picture.stones[cell]:
      number = str(picture.actions[cell])
      parts.append(_draw_text(x, y, number, FAINTEST if hangs else FAINT))
  return parts


def _draw_stones(picture: layout.Picture, centres: Points) -> list[str]:
  parts = []
  for cell in np.flatnonzero(picture.stones).tolist():
    (x, y), player = centres[cell], int(picture.stones[cell])
    style = f'class="stone" fill="{FILLS[player]}" stroke="{INK}" stroke-width="2"'
    parts.append(_draw_circle(x, y, 14, style))
    if cell == picture.last_cell:
      parts.append(_draw_circle(x, y, 4, f'class="last" fill="{DOTS[player]}"'))
  return parts


def _draw_won_lines(picture: layout.Picture, centres: Points) -> list[str]:
  """Draws what goes behind winning stones: rings, and strokes within a level."""
  level_size = picture.panels[0].cells.size
  parts = []
  for line in picture.won_lines.tolist():
    if line[0] // level_size == line[-1] // level_size:
      (x1, y1), (x2, y2) = centres[line[0]], centres[line[-1]]
      parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{MARK}" stroke-width="8"/>')
  for cell in np.unique(picture.won_lines).tolist():
    parts.append(_draw_circle(*centres[cell], 19, f'class="won" fill="{MARK}"'))
  return parts


def _draw_circle(x: int, y: int, radius: int, style: str) -> str:
  return f'<circle cx="{x}" cy="{y}" r="{radius}" {style}/>'


def _draw_text(x: int, y: int, words: str, fill: str) -> str:
  # Moved down by hand: not every viewer knows how to centre a text vertically.
  return f'<text x="{x}" y="{y + 5}" fill="{fill}">{words}</text>'
