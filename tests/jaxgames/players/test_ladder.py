"""The ladder of players: drawn positions and the moves that each level must find."""

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames.gomoku import urgency
from jaxgames.players import ladder
from tests.support import positions
from tests.support import quick

# Lines of five as in Gomoku, on a board that is easier to draw.
GAME = jaxgames.LineGame(shape=(9, 9), length=5)
NUM_TRIES = 16


def draw(*rows: str) -> tuple[jaxgames.State, set[int]]:
  """Returns a position and the cells marked with a star.

  X is to move. What is not drawn, below and to the right, is empty.
  """
  signs = np.full(GAME.shape, ".")
  for i, row in enumerate(rows):
    drawn = row.split()
    signs[i, : len(drawn)] = drawn
  return state_of(GAME, (signs == "X") * 1 - (signs == "O")), cells_with(signs, "*")


def cells_with(signs: np.ndarray, sign: str) -> set[int]:
  return set(np.flatnonzero(signs.ravel() == sign).tolist())


def state_of(game: jaxgames.LineGame, board: np.ndarray) -> jaxgames.State:
  """Returns the position of a board of 1, the mover's stones, and -1."""

  def words(is_stone):
    number = sum(1 << int(cell) for cell in np.flatnonzero(is_stone.ravel()))
    return bits.constant(number, game.num_words)

  return jaxgames.State(
    own=words(board == 1),
    other=words(board == -1),
    num_moves=np.int32((board != 0).sum()),
    winner=np.int8(0),
    is_over=np.bool_(False),
  )


@quick.jit
def _choices(player, state):
  return bits.unpack(player.choices(state), player.game.num_cells)


@quick.jit
def _moves(player, state):
  keys = jax.random.split(jax.random.key(0), NUM_TRIES)
  return jax.vmap(lambda key: player.act((), state, key))(keys)


@quick.jit
def _urgency(state):
  return urgency.read(GAME, GAME.observe(state)).urgency


def choices(level: int, state: jaxgames.State, game=GAME) -> set[int]:
  """Returns the cells that a level chooses from; for the third, those of many tries."""
  player = players.make(game, f"ladder:level={level}")
  if isinstance(player, players.Chooser):
    return set(np.flatnonzero(_choices(player, state)).tolist())
  return set(np.asarray(_moves(player, state)).tolist())


TAKES_FIVE = draw(
  ". . . . . . .",
  ". O O O O . .",
  ". . . . . . .",
  "* X X X X O .",
)
TAKES_FIVE_IN_A_GAP = draw(
  ". . . . . O .",
  ". X . . O . .",
  ". . X O . . .",
  ". . O * . . .",
  ". . . . X . .",
  ". . . . . X .",
)
BLOCKS_FIVE = draw(
  ". . . . . . .",
  ". X X X . . .",
  ". . . . . . .",
  "X O O O O * .",
)


@pytest.mark.parametrize("level", ladder.LEVELS)
def test_every_level_takes_a_five_and_else_blocks_one(level):
  for state, required in (TAKES_FIVE, TAKES_FIVE_IN_A_GAP, BLOCKS_FIVE):
    assert choices(level, state) == required


@pytest.mark.parametrize("level", ladder.LEVELS)
def test_edges_end_lines(level):
  # Four in a row at the end of row 0, and the cell that follows in number is in row 1.
  state, required = draw(
    ". . . . * X X X X",
    ". . . . . . . . .",
    ". . . . O O . . O",
  )
  assert choices(level, state) == required
  # The same, closed: the cell that follows in number, the first of row 1, is no five.
  state, _ = draw(". . . . O X X X X", ". . . . . . . . .", ". . O O . . . . O")
  assert choices(level, state) != {9}


def test_beginner_plays_near_stones_and_begins_in_the_middle():
  empty, _ = draw()
  assert choices(1, empty) == {40}
  even = jaxgames.LineGame(shape=(6, 7), length=4)
  assert choices(1, state_of(even, np.zeros((6, 7))), even) == {17, 24}
  state, required = draw(
    "X * * . . . .",
    "* * * . . . .",
    "* * * * * * *",
    ". . * * * * *",
    ". . * * O * *",
    ". . * * * * *",
    ". . * * * * *",
  )
  assert choices(1, state) == required


LEVEL_2_MOVES = {
  "an open four rather than a four": (
    urgency.FOUR,
    draw(
      ". . O . . . . . .",
      ". . X . . . . . .",
      ". . X . . . . . .",
      ". * X X X * . . .",
    ),
  ),
  "stops an open three": (
    urgency.STOP_FOUR,
    draw(
      ". . . . . . . . .",
      ". . X . . . . . .",
      ". . . . . . . . .",
      ". . * O O O * . .",
      ". . . . X . . . .",
    ),
  ),
  "stops a broken three in its gap": (
    urgency.STOP_FOUR,
    draw(
      ". . . . . . . . .",
      ". X . . . X . . .",
      ". . . . . . . . .",
      ". . O O * O . . .",
    ),
  ),
  "an open four before stopping one": (
    urgency.FOUR,
    draw(
      ". . . . . . . . .",
      ". * X X X * . . .",
      ". . . . . . . . .",
      ". . O O O . . . .",
    ),
  ),
  "two fours at once": (
    urgency.FOUR,
    draw(
      ". . . . . . . . .",
      "O X X X * . . . .",
      ". . . . X . . . .",
      ". . . . X . . . .",
      ". . . . X . . . .",
      ". . . . O . . . .",
    ),
  ),
  "a four with an open three": (
    urgency.FOUR,
    draw(
      "O . . . . . . . .",
      "O X X X * . . . .",
      ". . . . X . . . .",
      ". . . . X . . . .",
      ". . . . . . . . .",
      ". O . . . . . O .",
    ),
  ),
  "stops two fours at once": (
    urgency.STOP_FOUR,
    draw(
      ". . . . . . . . .",
      "X O O O * . . . .",
      ". . . . O . . . .",
      ". . . . O . . . .",
      ". . . . O . . . .",
      ". . . . X . . . .",
    ),
  ),
  "two open threes at once": (
    urgency.FORK,
    draw(
      ". . . . . . . . .",
      ". . . . . . . . .",
      ". . . . X . . . .",
      ". . . . X . . . .",
      ". X X . * . . . .",
      ". . . . . . . . .",
      ". . O . . . O . .",
      ". . . O . . . . .",
    ),
  ),
  "stops two open threes at once": (
    urgency.STOP_FORK,
    draw(
      ". . . . . . . . .",
      ". . . . . . . . .",
      ". . . . O . . . .",
      ". . . . O . . . .",
      ". O O . * . . . .",
      ". . . . . . . . .",
      ". . X . . . X . .",
      ". . . X . . . . .",
    ),
  ),
}


@pytest.mark.parametrize("name", LEVEL_2_MOVES)
def test_level_2_sees_what_a_stone_makes(name):
  rank, (state, required) = LEVEL_2_MOVES[name]
  ranks = urgency.rank(_urgency(state))
  assert {int(ranks[cell]) for cell in required} == {rank}
  assert choices(2, state)
  assert choices(2, state) <= required
  # None of this can be seen from lines that lack one stone.
  assert not choices(1, state) <= required


# What can be won by force, found by trying all moves and replies: slow and plain.


def completing_cells(board: np.ndarray, stone: int) -> set[int]:
  """Returns the empty cells that complete a line of a side's stones."""
  on_lines = board[GAME.lines]
  is_lacking_one = (on_lines == stone).sum(axis=1) == GAME.length - 1
  cells = GAME.lines[is_lacking_one]
  return set(cells[board[cells] == 0].tolist())


def boards_after(board: np.ndarray, stone: int) -> list[np.ndarray]:
  """Returns the boards after every move of a side."""
  return [put(board, cell, stone) for cell in np.flatnonzero(board == 0)]


def put(board: np.ndarray, cell: int, stone: int) -> np.ndarray:
  after = board.copy()
  after[cell] = stone
  return after


def cannot_be_stopped(board: np.ndarray) -> bool:
  """Returns whether the other side, to move, can neither win nor stop side 1."""
  return not completing_cells(board, -1) and len(completing_cells(board, 1)) > 1


def wins_with_two_more(board: np.ndarray) -> bool:
  """Returns whether side 1, to move, completes a line with its next two stones."""
  after = boards_after(board, 1)
  return bool(completing_cells(board, 1)) or any(map(cannot_be_stopped, after))


def wins_by_force(board: np.ndarray, cell: int) -> bool:
  """Returns whether a move of side 1 wins within three, whatever the replies."""
  after = put(board, cell, 1)
  is_safe = not completing_cells(after, -1)
  return is_safe and all(map(wins_with_two_more, boards_after(after, -1)))


def test_level_3_finds_a_forced_win_that_level_2_misses():
  state, required = draw(
    ". . . X . X . . .",
    ". . . X . . . . .",
    ". . . . . . . . .",
    "O . * . O . . . .",
    ". X O X X . O . .",
    ". . O . X . . . .",
    ". . . . X . O . .",
    ". O . . O . . . .",
  )
  board = np.asarray(GAME.observe(state)).ravel()
  assert choices(3, state) == required
  assert all(wins_by_force(board, cell) for cell in required)
  assert not any(wins_by_force(board, cell) for cell in choices(2, state))


@pytest.mark.parametrize("level", [1, 2])
def test_turned_and_mirrored_positions_give_the_same_choices(level):
  game = jaxgames.make("gomoku")
  states = positions.random_positions(game, 6, seed=3)
  boards = positions.see(game, states).observation.reshape(6, -1)
  for board in boards:
    usual = choices(level, state_of(game, board), game)
    for symmetry in game.symmetries[1:]:
      image = choices(level, state_of(game, board[symmetry]), game)
      assert {int(symmetry[cell]) for cell in image} == usual


@pytest.mark.parametrize("level", ladder.LEVELS)
def test_every_level_fills_a_board_to_the_last_cell(level):
  # Rows of pairs, each shifted by two against the one above: no three in any line.
  rows, columns = np.indices(GAME.shape)
  full = np.where((columns + 2 * rows) % 4 < 2, 1, -1)
  for seed in range(20):
    board = full.copy().ravel()
    empty = np.random.default_rng(seed).choice(81, 1 + seed % 7, replace=False)
    board[empty] = 0
    assert choices(level, state_of(GAME, board)) <= set(empty.tolist())


@pytest.mark.parametrize(("level", "least"), [(2, 38), (3, 28)])
def test_every_level_beats_the_one_below(level, least):
  game = jaxgames.make("gomoku")
  upper = players.make(game, f"ladder:level={level}")
  lower = players.make(game, f"ladder:level={level - 1}")
  # Measured over 200 games: 200 and 185 wins.
  score = quick.play_match(upper, lower, jax.random.key(0), num_games=40)
  assert int(score.wins.sum()) >= least


@pytest.mark.parametrize("level", [0, 4])
def test_other_levels_are_refused(level):
  with pytest.raises(ValueError, match=f"level must be one of 1, 2, 3, not {level}"):
    players.make(GAME, f"ladder:level={level}")


@pytest.mark.parametrize("name", ["connect4", "ttt3d"])
def test_games_with_gravity_are_refused(name):
  game = jaxgames.make(name)
  assert not players.PLAYERS["ladder"].plays(game)
  with pytest.raises(ValueError, match="on two axes, without gravity"):
    players.make(game, "ladder")
