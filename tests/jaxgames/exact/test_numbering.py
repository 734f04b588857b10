"""Numbers of positions."""

import functools

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.exact import numbering
from tests.support import positions
from tests.support import quick


@pytest.mark.parametrize("name", ["tictactoe", "connect4_4x4"])
def test_numbers_are_distinct(name):
  game = jaxgames.make(name)
  _, states, _ = positions.random_games(game, 200, seed=9)
  flat = jax.tree.map(lambda x: x.reshape(-1), states)
  numbers = np.asarray(number(game, flat))
  boards = np.stack([*flat.own, *flat.other], axis=1)
  assert len(np.unique(numbers)) == len(np.unique(boards, axis=0))
  assert numbers.min() >= 0
  assert numbers.max() < numbering.num_numbers(game)


@functools.partial(quick.jit, static_argnums=0)
def number(game, states):
  return jax.vmap(functools.partial(numbering.number, game))(states)


def test_numbering_of_connect4_columns_has_31_digits():
  assert numbering.num_numbers(jaxgames.make("connect4_4x4")) == 31**4
  assert numbering.num_numbers(jaxgames.make("tictactoe")) == 3**9


def test_large_games_are_not_numbered():
  game = jaxgames.make("connect4")
  with pytest.raises(ValueError, match="too many positions"):
    numbering.number(game, game.init())
