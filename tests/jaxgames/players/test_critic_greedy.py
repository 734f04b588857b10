"""The player of the gomoku paper's critic: its values, and boards of other sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from jaxgames import networks
from jaxgames import players
from tests.support import quick

GAME = jaxgames.make("gomoku:size=7")


def make(**fields):
  critic = networks.Critic(GAME, hidden=4, **fields)
  params = critic.init(jax.random.key(0), jnp.zeros((1, critic.num_inputs)))
  return players.CriticGreedy(critic, params)


def test_values_are_of_moves_near_stones_and_choices_are_the_best():
  player = make()
  state = GAME.from_moves([24, 25])
  values = np.asarray(quick.jit(player.values)(state))
  # Rows 2 to 4 and columns 2 to 5, but for the two stones.
  assert np.isfinite(values).sum() == 3 * 4 - 2
  assert (values[np.isfinite(values)] > 0).all()
  choices = np.asarray(bits.unpack(quick.jit(player.choices)(state), GAME.num_cells))
  assert choices[values.argmax()]
  assert (values[choices] == values.max()).all()


def test_a_five_is_worth_a_win():
  state = GAME.from_moves([0, 42, 1, 43, 2, 44, 3, 45])
  values = np.asarray(quick.jit(make().values)(state))
  assert values[4] == 1.0


def test_it_plays_on_other_sizes_unless_it_sees_the_board():
  large = jaxgames.make("gomoku:size=9")
  player = make()
  assert player.on(GAME) is player
  found = player.on(large)
  assert found.game == large
  assert int(quick.jit(found.act)((), large.init(), jax.random.key(0))) == 40
  with pytest.raises(ValueError, match="this player plays"):
    make(sees_board=True).on(large)
  for other in ("connect4", "tictactoe", "ttt3d"):
    with pytest.raises(ValueError, match="this player plays"):
      player.on(jaxgames.make(other))
