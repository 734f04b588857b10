"""What notebooks show of positions and players."""

from xml.etree import ElementTree

import jaxgames
from jaxgames import markup
from jaxgames import players
from jaxgames.display import notebook
from jaxgames.display import svg


def test_a_position_is_the_picture_with_its_last_move_marked():
  game = jaxgames.make("tictactoe")
  shown = notebook.after(game, [4, 0])._repr_svg_()
  assert shown == svg.draw(game, game.from_moves([4, 0]), last_action=0)
  assert 'class="last"' in shown
  ElementTree.fromstring(shown)


def test_a_position_without_moves_is_the_empty_board():
  game = jaxgames.make("tictactoe")
  shown = notebook.after(game, [])
  assert "stone" not in shown._repr_svg_().partition("</title>")[2]
  assert "." in str(shown)


def test_a_player_is_shown_with_its_settings():
  player = players.make(jaxgames.make("connect4"), "mcts:simulations=50")
  shown = player._repr_html_()
  assert "<b>Mcts</b>" in shown
  assert "simulations" in shown
  assert ">50<" in shown
  ElementTree.fromstring(shown)


def test_what_people_name_is_never_taken_for_markup():
  shown = markup.card("<script>", {"<b>": "<i>", "left out": None})
  assert "<script>" not in shown
  assert "<i>" not in shown
  assert "left out" not in shown
  ElementTree.fromstring(shown)
