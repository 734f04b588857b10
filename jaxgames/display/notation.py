"""How people write actions: a number, row and column, or a letter and a row."""

from collections.abc import Iterable
import math
import re

from jaxgames import game as game_lib
from jaxgames import lines

__all__ = [
  "action_axes",
  "action_name",
  "column_letters",
  "describe_actions",
  "is_numbered",
  "parse_action",
  "parse_moves",
  "write_moves",
]

# Up to this many cells a side, a board can show the number of every action.
NUMBERED_SIDE = 6

_NUMBER = re.compile(r"[0-9]{1,9}")
_COORDINATES = re.compile(r"[0-9]{1,9}(?:(?: *, *| +)[0-9]{1,9})+")
_LETTERS_AND_ROW = re.compile(r"([a-z]{1,4})([0-9]{1,9})", re.IGNORECASE)


def action_axes(game: game_lib.LineGame) -> lines.Shape:
  """Returns the sizes of the axes over which actions are numbered."""
  return game.shape[1:] if game.gravity else game.shape


def is_numbered(game: game_lib.LineGame) -> bool:
  """Returns whether actions go by their numbers; else by rows and columns."""
  axes = action_axes(game)
  return len(axes) == 1 or max(axes) <= NUMBERED_SIDE


def column_letters(column: int) -> str:
  """Returns the letters of a column: a to z, then aa, ab and so on.

  >>> [column_letters(column) for column in (0, 14, 25, 26)]
  ['a', 'o', 'z', 'aa']
  """
  letters = ""
  column += 1
  while column:
    column, digit = divmod(column - 1, 26)
    letters = chr(ord("a") + digit) + letters
  return letters


def action_name(game: game_lib.LineGame, action: int) -> str:
  """Returns an action as `parse_action` reads it and `text.draw` shows it.

  Small boards number their actions. On large ones a cell is the letters of its column
  and the number of its row, or, on three axes, level, row and column.

  >>> action_name(game_lib.make("connect4"), 3), action_name(game_lib.make("gomoku"), 112)
  ('3', 'h7')
  """
  action = int(action)
  if not 0 <= action < game.num_actions:
    raise ValueError(f"no action {action}: there are 0 to {game.num_actions - 1}")
  axes = action_axes(game)
  if is_numbered(game):
    return str(action)
  if len(axes) == 2:
    row, column = divmod(action, axes[1])
    return f"{column_letters(column)}{row}"
  plane, column = divmod(action, axes[2])
  level, row = divmod(plane, axes[1])
  return f"{level},{row},{column}"


def parse_action(game: game_lib.LineGame, text: str) -> int:
  """Returns the action that a person wrote.

  Every board takes the action's number; boards with rows and columns take `row,column`
  (on three axes `level,row,column`), those with two such axes a letter and a row also.
  Whether the action is legal in some position is not looked at.

  >>> [parse_action(game_lib.make("gomoku"), text) for text in ("112", "7,7", "h7")]
  [112, 112, 112]

  Raises:
    ValueError: says what was seen and what is allowed.
  """
  axes = action_axes(game)
  seen = text.strip()
  if _NUMBER.fullmatch(seen):
    axes, place = (game.num_actions,), [int(seen)]
  elif _COORDINATES.fullmatch(seen):
    place = [int(number) for number in _NUMBER.findall(seen)]
  elif len(axes) == 2 and (match := _LETTERS_AND_ROW.fullmatch(seen)):
    place = [int(match[2]), _column_number(match[1])]
  else:
    place = []
  is_inside = len(place) == len(axes) and all(
    number < size for number, size in zip(place, axes, strict=True)
  )
  if not is_inside:
    problem = "is not on the board" if place else "is not a move"
    raise ValueError(f"{_shorten(seen)} {problem}: type {describe_actions(game)}")
  strides = [math.prod(axes[i + 1 :]) for i in range(len(axes))]
  return sum(number * stride for number, stride in zip(place, strides, strict=True))


def write_moves(game: game_lib.LineGame, actions: Iterable[int]) -> str:
  """Returns moves as `parse_moves` reads them: their names with spaces between.

  >>> write_moves(game_lib.make("gomoku"), [112, 113])
  'h7 i7'
  """
  return " ".join(action_name(game, action) for action in actions)


def parse_moves(game: game_lib.LineGame, text: str) -> list[int]:
  """Returns the moves of a game that was written down.

  Whether they are legal is not looked at. What comes before the last colon is not read, so that a line of `jaxgames match
  --record` is such a text too.

  >>> parse_moves(game_lib.make("connect4"), "game 0: A begins, draw: 3 3 2")
  [3, 3, 2]

  Raises:
    ValueError: names the move that is none, and what is allowed.
  """
  words = text.rpartition(":")[2].split()
  actions = []
  for number, word in enumerate(words, start=1):
    try:
      actions.append(parse_action(game, word))
    except ValueError as error:
      raise ValueError(f"move {number}, {error}") from error
  return actions


def describe_actions(game: game_lib.LineGame) -> str:
  """Returns what `parse_action` takes, in words.

  >>> describe_actions(game_lib.make("connect4"))
  'a column from 0 to 6'
  >>> describe_actions(game_lib.make("gomoku"))
  'a cell (a0 to o14), row,column (0,0 to 14,14) or number (0 to 224)'
  """
  axes = action_axes(game)
  last = [size - 1 for size in axes]
  if len(axes) == 1:
    return f"a column from 0 to {last[0]}"
  if is_numbered(game):
    return f"a number from 0 to {game.num_actions - 1}"
  number = f"number (0 to {game.num_actions - 1})"
  if len(axes) == 3:
    return f"level,row,column (0,0,0 to {last[0]},{last[1]},{last[2]}) or {number}"
  noun = "column" if game.gravity else "cell"
  corner = f"{column_letters(last[1])}{last[0]}"
  return (
    f"a {noun} (a0 to {corner}), row,column (0,0 to {last[0]},{last[1]}) or {number}"
  )


def _column_number(letters: str) -> int:
  """Returns the column that letters stand for; the inverse of `column_letters`."""
  number = 0
  for letter in letters.lower():
    number = 26 * number + ord(letter) - ord("a") + 1
  return number - 1


def _shorten(seen: str) -> str:
  """Quotes what a person wrote, as much of it as helps."""
  return repr(seen if len(seen) <= 20 else seen[:20] + "…")
