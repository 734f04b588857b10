"""Players by name, and what is wrong with a name."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

import jaxgames
from jaxgames import players
from jaxgames.players import registry


@pytest.mark.parametrize(
  ("spec", "message"),
  [
    ("bencmark", "no player 'bencmark': did you mean 'benchmark'"),
    ("mcts:sims=3", "player 'mcts' has no option 'sims': .*simulations"),
    ("random:x=1", "player 'random' has no option 'x': it has none"),
    ("mcts:simulations=many", "simulations must be a whole number, not 'many'"),
    ("mcts:simulations=0", "simulations must be at least 1, not 0"),
    ("mcts:exploration=-1", "exploration must be 0 or more"),
    ("mcts:simulations", "'simulations' is not of the form option=value"),
    ("mcts:simulations=1,simulations=2", "'simulations' stands twice"),
    ("attack:ties=none", "ties must be first, random or game, not 'none'"),
    ("sometimes:player=random,other=random", "needs the option 'probability'"),
    ("sometimes:player=random,other=attack,probability=2", "from 0 to 1, not 2.0"),
    ("sometimes:player=(random,other=attack", "the brackets in .* do not match"),
    ("sometimes:player=radom,other=attack,probability=0", "did you mean 'random'"),
    ("every:player=random,other=random,every=0", "every must be at least 1"),
    ("", "no player ''"),
  ],
)
def test_wrong_names_are_explained(spec, message):
  with pytest.raises(ValueError, match=message):
    players.make(jaxgames.make("tictactoe"), spec)


@given(st.text(alphabet="mcts:simulations=,()12 random", max_size=40))
def test_any_text_is_a_player_or_a_value_error(text):
  try:
    player = players.make(jaxgames.make("tictactoe"), text)
  except ValueError:
    return
  assert player.game == jaxgames.make("tictactoe")


@given(st.text(alphabet="mcts:simulations=,()12 random", max_size=40))
def test_what_can_be_made_passes_the_check(text):
  try:
    players.make(jaxgames.make("tictactoe"), text)
  except ValueError:
    return
  registry.check(text)


@pytest.mark.parametrize(
  ("spec", "message"),
  [
    ("bencmark", "no player 'bencmark': did you mean 'benchmark'"),
    ("mcts:sims=3", "player 'mcts' has no option 'sims': .*simulations"),
    ("mcts:simulations=many", "simulations must be a whole number, not 'many'"),
    ("mcts:exploration=much", "exploration must be a number, not 'much'"),
    (
      "mcts:exploration=nan",
      "exploration must be a number of at most 3e.38, not 'nan'",
    ),
    ("mcts:exploration=1e39", "must be a number of at most 3e.38, not '1e39'"),
    ("mcts:simulations=2147483648", "a whole number of at most 2147483647, not '2147"),
    ("sometimes:player=" * 99 + "(" * 99, "nested more than 20 deep"),
    ("lookahead:width=3", "player 'lookahead' needs the option 'player'"),
    ("lookahead:player=(guided:player=(ladr))", "no player 'ladr'"),
    ("lookahead:player=(mcts:simulations)", "is not of the form option=value"),
  ],
)
def test_wrong_names_are_found_by_the_check(spec, message):
  with pytest.raises(ValueError, match=message):
    registry.check(spec)


def test_a_check_leaves_out_what_others_know():
  spec = "lookahead:player=(guided:player=runs/best@3),width=2"
  with pytest.raises(ValueError, match="no player 'runs/best@3'"):
    registry.check(spec)
  registry.check(spec, lambda text: text.startswith("runs/"))
  registry.check("runs/best", lambda text: text.startswith("runs/"))


def test_options_may_be_players_that_others_make():
  game = jaxgames.make("tictactoe")
  spec = "every:player=(a run),other=random,every=2"
  found = players.make(game, spec, lambda game, text: players.make(game, "expert"))
  assert isinstance(found.player, players.Expert)
  assert isinstance(found.other, players.Expert)
