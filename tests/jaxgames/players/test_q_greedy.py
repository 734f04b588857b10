"""The player of a Q network."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import bits
from jaxgames import networks
from jaxgames import players


def test_values_of_a_q_network_are_its_outputs():
  game = jaxgames.make("connect4_4x4")
  network = networks.QNetwork(game, (8,))
  boards, legal = np.zeros((1, 16), np.int8), np.ones((1, 4), bool)
  params = network.init(jax.random.key(0), boards, legal)
  player = players.QGreedy(network, params)
  state = game.from_moves([2, 2, 2, 2])
  values = np.asarray(player.values(state))
  assert values[2] == -np.inf
  assert np.isfinite(np.delete(values, 2)).all()
  cells = bits.unpack(player.choices(state), game.num_cells)
  assert values.argmax() == game.action_of(jnp.argmax(cells))
