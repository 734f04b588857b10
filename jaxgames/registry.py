"""Games by name, as data; free of jax."""

import dataclasses
import re

from jaxgames import suggestions

__all__ = ["BOARDS", "Board", "parse"]

_SIZE = re.compile(r"size=([0-9]{1,4})")


@dataclasses.dataclass(frozen=True)
class Board:
  """What makes a line game; `game.LineGame` has the rules.

  Attributes:
    shape: the sizes of the board's axes.
    length: how many stones in a line win.
    gravity: whether stones fall along axis 0.
    sizes: the sides of square boards that `NAME:size=N` may ask for; none if empty.
  """

  shape: tuple[int, ...]
  length: int
  gravity: bool = False
  sizes: range = range(0)


BOARDS: dict[str, Board] = {
  "tictactoe": Board(shape=(3, 3), length=3),
  "connect4_4x4": Board(shape=(4, 4), length=4, gravity=True),
  "connect4": Board(shape=(6, 7), length=4, gravity=True),
  "ttt3d": Board(shape=(4, 4, 4), length=4, gravity=True),
  "gomoku": Board(shape=(15, 15), length=5, sizes=range(5, 33)),
}


def parse(name: str) -> Board:
  """Returns the board that a name describes, perhaps with a size.

  >>> parse("connect4").shape
  (6, 7)
  >>> parse("gomoku:size=19").shape
  (19, 19)

  Raises:
    ValueError: if there is no such game, or not with this size.
  """
  base, colon, option = name.partition(":")
  if base not in BOARDS:
    raise ValueError(f"no game {base!r}: {suggestions.close_match(base, BOARDS)}")
  board = BOARDS[base]
  if not colon:
    return board
  sizes, sized = board.sizes, _SIZE.fullmatch(option)
  if not sizes or sized is None:
    example = f"write {base}:size={sizes[len(sizes) // 2]}" if sizes else "it has none"
    raise ValueError(f"game {base!r} has no option {option!r}: {example}")
  size = int(sized[1])
  if size not in sizes:
    raise ValueError(
      f"{base.capitalize()} is played on boards of {sizes[0]} to {sizes[-1]}, not {size}"
    )
  return dataclasses.replace(board, shape=(size,) * len(board.shape))
