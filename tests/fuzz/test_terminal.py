"""What people type into a game: it is played, explained or left, and never breaks."""

import hypothesis
import hypothesis.strategies as st
import pytest

import jaxgames
from jaxgames import players
from tests.fuzz import budget
from tests.fuzz import texts
from train.match import terminal

ENTRIES = st.one_of(
  st.sampled_from(["undo", "hint", "board", "help", "UNDO ", " 4", "0", "1,1", "b2"]),
  st.integers(-2, 10).map(str),
  texts.anything,
)


@pytest.fixture(scope="module")
def opponents():
  """For both games the same players, so that each is compiled once."""
  games = {name: jaxgames.make(name) for name in ("tictactoe", "connect4_4x4")}
  return {name: players.make(game, "random") for name, game in games.items()}


@budget.inputs(quick=10, share=0.02)
@hypothesis.given(
  name=st.sampled_from(["tictactoe", "connect4_4x4"]),
  entries=st.lists(ENTRIES, max_size=12),
  is_first=st.booleans(),
)
def test_a_game_goes_on_whatever_is_typed(opponents, name, entries, is_first):
  said, left = [], iter(entries)

  def read(prompt: str) -> str:
    try:
      return next(left)
    except StopIteration:
      raise EOFError from None

  terminal.play_in_terminal(
    opponents[name].game,
    opponents[name],
    human_first=is_first,
    read=read,
    write=said.append,
  )
  ends = ("You left", "You win", "A draw", "wins after")
  assert any(end in said[-1] for end in ends)
  assert all(isinstance(text, str) for text in said)
  # Each entry is answered by a few lines, however long it is.
  assert len(said) <= 6 + 4 * len(entries)
  assert max(map(len, said)) < 2000
