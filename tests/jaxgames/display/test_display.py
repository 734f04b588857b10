"""Pictures show every stone and every winning line; notation can be read back."""

import collections
from xml.etree import ElementTree

import hypothesis
from hypothesis import strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.display import layout
from jaxgames.display import notation
from jaxgames.display import svg
from jaxgames.display import text

BOARDS = {
  **jaxgames.GAMES,
  "flat_5x6": jaxgames.LineGame((5, 6), 4),
  "cube_3x3x3": jaxgames.LineGame((3, 3, 3), 3),
  "tower_4x5x6": jaxgames.LineGame((4, 5, 6), 4, gravity=True),
  "cube_7x7x7": jaxgames.LineGame((7, 7, 7), 4),
  "wide_2x3x30": jaxgames.LineGame((2, 3, 30), 5, gravity=True),
  "long_3x12": jaxgames.LineGame((3, 12), 4, gravity=True),
  "single_row": jaxgames.LineGame((1, 4), 2),
}
every_board = pytest.mark.parametrize("game", BOARDS.values(), ids=BOARDS)

# X has won along the great diagonal of the cube, with the last stone in its middle.
TTT3D_MOVES = (15, 12, 0, 5, 5, 3, 5, 6, 9, 9, 6, 6, 7, 9, 11, 7, 11, 11, 0, 0, 0)
TTT3D_MOVES += (15, 8, 10, 10)


def play_at_random(game, seed, most_moves):
  # As often as there are cells above it, every action may come at any time.
  order = np.random.default_rng(seed).permutation(game.num_cells) % game.num_actions
  state, actions = game.init(), []
  for action in order[:most_moves].tolist():
    if not state.is_over:
      state = game.step(state, action)
      actions.append(action)
  return state, actions


def drawn(image, name):
  """Returns the elements of an SVG that have a class."""
  root = ElementTree.fromstring(image)
  return [element for element in root.iter() if element.get("class") == name]


def drawn_texts(image):
  return ElementTree.fromstring(image).iter("{http://www.w3.org/2000/svg}text")


def check_text(game, actions, expected):
  assert text.draw(game, game.from_moves(actions)) == expected.strip("\n")


# Notation.


@every_board
def test_every_action_is_read_back_from_its_name_and_from_its_number(game):
  for action in range(game.num_actions):
    assert notation.parse_action(game, notation.action_name(game, action)) == action
    assert notation.parse_action(game, f" {action} ") == action


@every_board
def test_coordinates_are_row_major(game):
  axes = notation.action_axes(game)
  for action, place in enumerate(np.ndindex(*axes)):
    for separator in (",", ", ", " "):
      written = separator.join(map(str, place))
      assert notation.parse_action(game, written) == action


@pytest.mark.parametrize(
  ("written", "action"),
  [("a0", 0), ("o0", 14), ("A14", 210), ("h7", 112), ("7,8", 113)],
)
def test_gomoku_takes_a_column_letter_and_a_row(written, action):
  assert notation.parse_action(jaxgames.make("gomoku"), written) == action


@every_board
@pytest.mark.parametrize(
  "written", ["", "x", "-1", "1.5", "²", "1_0", "0x1", "9" * 5000]
)
def test_what_is_no_action_is_refused_with_what_was_seen_and_what_is_allowed(
  game, written
):
  with pytest.raises(ValueError, match=f"'{written[:20]}.*type .* to ") as caught:
    notation.parse_action(game, written)
  assert notation.describe_actions(game) in str(caught.value)
  assert len(str(caught.value)) < 200


@every_board
def test_places_beside_the_board_are_refused(game):
  axes = notation.action_axes(game)
  beside = [str(game.num_actions), ",".join(map(str, axes)), ",".join("0000")]
  if len(axes) == 2:
    beside += [f"a{axes[0]}", f"{notation.column_letters(axes[1])}0"]
  for written in beside:
    with pytest.raises(ValueError, match="is not on the board"):
      notation.parse_action(game, written)
  for action in (-1, game.num_actions):
    with pytest.raises(ValueError, match=f"no action {action}: there are 0 to"):
      notation.action_name(game, action)


@every_board
def test_moves_are_read_back_with_and_without_what_a_record_says_before(game):
  actions = [0, game.num_actions - 1, game.num_actions // 2]
  written = notation.write_moves(game, actions)
  assert notation.parse_moves(game, written) == actions
  assert notation.parse_moves(game, f"game 7: B begins, A wins: {written}\n") == actions
  assert notation.parse_moves(game, "") == []


def test_a_move_that_is_none_is_named_by_its_number():
  with pytest.raises(ValueError, match="move 2, 'x' is not a move: type a column"):
    notation.parse_moves(jaxgames.make("connect4"), "3 x")


@hypothesis.given(st.text(max_size=12))
def test_any_entry_is_an_action_or_a_value_error(written):
  for game in BOARDS.values():
    try:
      action = notation.parse_action(game, written)
    except ValueError:
      continue
    assert 0 <= action < game.num_actions


# Text.


def test_tictactoe_text_has_numbers_beside_it_and_brackets_around_the_winning_line():
  check_text(
    jaxgames.make("tictactoe"),
    (0, 1, 4, 2, 8),
    """
 board       numbers
[X] O  O     0  1  2
 . [X] .     3  4  5
 .  . [X]    6  7  8
""",
  )


def test_connect4_text_has_the_lowest_level_and_the_column_numbers_below():
  check_text(
    jaxgames.make("connect4"),
    (3, 3, 2, 6),
    """
 .  .  .  .  .  .  .
 .  .  .  .  .  .  .
 .  .  .  .  .  .  .
 .  .  .  .  .  .  .
 .  .  .  O  .  .  .
 .  .  X  X  .  .  O
---------------------
 0  1  2  3  4  5  6
""",
  )


def test_ttt3d_text_has_its_levels_side_by_side():
  check_text(
    jaxgames.make("ttt3d"),
    TTT3D_MOVES,
    """
 level 0        level 1        level 2        level 3        numbers
 X  .  .  O     X  .  .  .     O  .  .  .    [X] .  .  .     0  1  2  3
 .  O  O  X     .  X  X  O     . [X] O  .     .  .  .  .     4  5  6  7
 X  X  O  X     .  O [X] X     .  O  .  O     .  .  .  .     8  9 10 11
 O  .  . [X]    .  .  .  O     .  .  .  .     .  .  .  .    12 13 14 15
""",
  )


def test_large_boards_have_letters_rows_and_columns_around_them():
  check_text(
    jaxgames.LineGame((3, 11), 3),
    (0, 21, 1, 10, 2),
    """
   a  b  c  d  e  f  g  h  i  j  k
0 [X][X][X] .  .  .  .  .  .  .  O
1  .  .  .  .  .  .  .  .  .  .  O
2  .  .  .  .  .  .  .  .  .  .  .
   0  1  2  3  4  5  6  7  8  9 10
""",
  )


def test_levels_that_do_not_fit_side_by_side_go_below():
  lines = text.draw(BOARDS["tower_4x5x6"], BOARDS["tower_4x5x6"].init()).split("\n")
  assert lines[0].split() == ["level", "0", "level", "1", "level", "2"]
  assert lines[7].split() == ["level", "3", "numbers"]
  assert max(map(len, lines)) <= text.TEXT_WIDTH


def test_all_stones_of_two_lines_won_at_once_are_in_brackets():
  game = jaxgames.make("tictactoe")
  state = game.from_moves((0, 1, 2, 3, 6, 5, 8, 7, 4))
  assert text.draw(game, state).count("[X]") == 5


# Both.


@every_board
@hypothesis.settings(max_examples=5)
@hypothesis.given(seed=st.integers(0, 2**32 - 1), most_moves=st.integers(0, 40))
def test_pictures_show_every_stone_the_last_one_and_the_winning_line(
  game, seed, most_moves
):
  state, actions = play_at_random(game, seed, most_moves)
  last_action = actions[-1] if actions else None
  image = svg.draw(game, state, last_action=last_action)
  letters = text.draw(game, state)
  assert len(drawn(image, "stone")) == len(actions)
  assert letters.count("X") + letters.count("O") == len(actions)
  assert len(drawn(image, "last")) == bool(actions)
  num_won = len(drawn(image, "won"))
  assert num_won == letters.count("[")
  assert num_won >= game.length if state.winner else num_won == 0
  assert image == svg.draw(game, state, last_action=last_action)


@every_board
def test_every_action_has_its_name_on_the_empty_board(game):
  letters = text.draw(game, game.init()).split()
  shown = [element.text for element in drawn_texts(svg.draw(game, game.init()))]
  if notation.is_numbered(game):
    names = {notation.action_name(game, action) for action in range(game.num_actions)}
  else:
    names = {str(i) for size in notation.action_axes(game)[-2:] for i in range(size)}
  assert names <= set(letters)
  assert names <= set(shown)


def test_each_level_numbers_its_empty_cells_by_the_action_that_fills_them():
  game = jaxgames.make("ttt3d")
  shown = drawn_texts(svg.draw(game, game.from_moves((5, 5, 9))))
  numbers = [element.text for element in shown if element.text.isdigit()]
  expected = {str(action): 4 for action in range(16)} | {"5": 2, "9": 3}
  assert collections.Counter(numbers) == expected


def test_cells_hang_in_the_air_unless_a_stone_or_the_floor_is_below():
  game = jaxgames.make("ttt3d")
  is_hanging = layout.lay_out(game, game.from_moves((5, 5))).is_hanging
  assert np.flatnonzero(~is_hanging).tolist() == [*range(16), 16 + 5, 32 + 5]
  flat = jaxgames.make("gomoku")
  assert not layout.lay_out(flat, flat.init()).is_hanging.any()


@every_board
def test_svg_keeps_within_its_frame_and_refers_to_nothing_outside(game):
  image = svg.draw(game, play_at_random(game, 0, 30)[0])
  root = ElementTree.fromstring(image)
  width, height = int(root.get("width")), int(root.get("height"))
  for element in root.iter():
    x = int(element.get("cx") or element.get("x") or 0)
    y = int(element.get("cy") or element.get("y") or 0)
    assert 0 <= x <= width
    assert 0 <= y <= height
  assert not any(word in image for word in ("href", "url(", "<script", "<style"))


def test_svg_stones_differ_in_brightness_not_in_colour_alone():
  def brightness(fill):
    return sum(int(fill[i : i + 2], 16) for i in (1, 3, 5)) / (3 * 255)

  game = jaxgames.make("tictactoe")
  stones = drawn(svg.draw(game, game.from_moves((0, 1))), "stone")
  first, second = (stone.get("fill") for stone in stones)
  assert brightness(second) - brightness(first) > 0.5


def test_level_0_of_an_upright_board_is_at_the_bottom():
  game = jaxgames.make("connect4")
  stones = drawn(svg.draw(game, game.from_moves((0, 0))), "stone")
  lower, upper = (int(stone.get("cy")) for stone in stones)
  assert lower == upper + svg.CELL


def test_a_batch_or_another_games_position_is_refused():
  game = jaxgames.make("connect4")
  batch = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), game.init())
  for draw in (text.draw, svg.draw):
    with pytest.raises(ValueError, match=r"not a batch of shape \(2,\)"):
      draw(game, batch)
    with pytest.raises(ValueError, match="this is no position of the game"):
      draw(game, jaxgames.make("tictactoe").init())


def test_a_last_move_that_cannot_have_been_is_refused():
  game = jaxgames.make("connect4")
  state = game.from_moves((3, 2))
  for action in (0, 3):
    with pytest.raises(ValueError, match="cannot have been the last move"):
      svg.draw(game, state, last_action=action)
  with pytest.raises(ValueError, match="no action 7: there are 0 to 6"):
    svg.draw(game, state, last_action=7)
