"""Players made of players."""

from hypothesis import given
from hypothesis import strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from tests.support import moves
from tests.support import positions
from tests.support import quick


def test_combined_is_one_script_throughout_a_game():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "combined")
  chosen, _ = begin_games(player, np.zeros(4000, np.int32))
  counts = np.bincount(chosen, minlength=4)
  assert (abs(counts - 1000) < 150).all()
  # The attacker ignores a threat of the other side, the defender its own.
  state = game.from_moves([0, 3, 1, 4])
  for script, expected in ((0, 2), (1, 5), (2, 2), (3, 5)):
    memory = (jnp.int32(script), ((), (), (), ()))
    # Not compiled: a player must work so too.
    assert int(player.act(memory, state, jax.random.key(1))) == expected


@quick.jit
def begin_games(player, numbers):
  keys = jax.random.split(jax.random.key(0), len(numbers))
  return jax.vmap(player.begin)(keys, numbers)


def test_every_nth_game_counts_from_the_first():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "every:player=attack,other=random,every=7")
  is_other, _ = begin_games(player, np.arange(21, dtype=np.int32))
  assert np.flatnonzero(is_other).tolist() == [0, 7, 14]


@given(st.floats(0, 1, width=32))
def test_sometimes_mixes_in_the_right_proportion(probability):
  game = jaxgames.make("tictactoe")
  state = game.from_moves([0, 3, 1, 4])  # attack plays 2, defense 5
  spec = f"sometimes:player=attack,other=defense,probability={probability}"
  many = positions.repeat(state, 2000)
  actions = np.asarray(moves.quick_act(players.make(game, spec), many))
  assert set(actions.tolist()) <= {2, 5}
  assert abs((actions == 5).mean() - probability) < 0.06


def test_a_mixture_by_game_has_parts_and_others_are_their_own():
  game = jaxgames.make("tictactoe")
  assert len(players.make(game, "combined").parts) == 4
  for spec in ("random", "every:player=attack,other=random,every=2"):
    player = players.make(game, spec)
    assert player.parts == (player,)


@pytest.mark.parametrize(
  ("spec", "expected"),
  [
    ("combined", "OnePerGame"),
    ("every:player=attack,other=defense,every=3", "EveryNthGame"),
    ("sometimes:player=attack,other=defense,probability=0.5", "SomeMoves"),
  ],
)
def test_mixtures_map_their_players(spec, expected):
  game = jaxgames.make("tictactoe")
  random = players.Random(game)
  player = players.make(game, spec)
  mapped = player.map_players(lambda part: random)
  assert type(mapped).__name__ == expected
  inner = mapped.players if expected == "OnePerGame" else (mapped.player, mapped.other)
  assert set(inner) == {random}
  assert random.map_players(lambda part: player) == random
