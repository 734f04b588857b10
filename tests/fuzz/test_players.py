"""Players and agents as texts: made, or refused with a sentence."""

import contextlib
import time

import hypothesis
import hypothesis.strategies as st

import jaxgames
from tests.fuzz import budget
from tests.fuzz import texts
from train.config import agent_names
from train.run import agents

GAMES = [jaxgames.make(name) for name in ("tictactoe", "ttt3d")]

# Solving a game, or loading an agent of Gomoku, takes seconds; alone, all else is quick.
MOST_SECONDS = 30


def make(game, spec: str) -> None:
  """Makes and names a player; of a wrong one there is a `ValueError`, and no other."""
  start = time.perf_counter()
  with contextlib.suppress(ValueError):
    assert agents.make(game, spec).game == game
    assert agents.describe(spec)
  assert time.perf_counter() - start < MOST_SECONDS


@budget.inputs(quick=300, share=0.15)
@hypothesis.given(game=st.sampled_from(GAMES), spec=texts.players)
@hypothesis.example(
  game=GAMES[0], spec="every:player=random,other=random,every=9999999999"
)
@hypothesis.example(game=GAMES[0], spec="sometimes:player=(" * 500)
@hypothesis.example(game=GAMES[0], spec="mcts:simulations=" + "9" * 5000)
def test_a_player_is_made_or_refused(workplace, game, spec):
  make(game, spec)


NAMES = st.lists(
  st.one_of(
    texts.anything,
    st.sampled_from(["run", "other", "@", "0", ":best", "/", ".safetensors", "gomoku"]),
  ),
  max_size=6,
).map("".join)


@budget.inputs(quick=300, share=0.08)
@hypothesis.given(name=NAMES)
@hypothesis.example(name="x" * 300)
@hypothesis.example(name="./x@" + "9" * 5000)
def test_an_agent_is_found_or_refused(workplace, name):
  parsed = agent_names.parse(name)
  assert parsed.trial >= 0
  if agent_names.is_agent(name):
    make(GAMES[0], name)
