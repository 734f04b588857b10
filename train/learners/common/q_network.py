"""Q networks and their greedy players, with any learner."""

import chex
import jax.numpy as jnp

import jaxgames
from jaxgames import networks
from jaxgames.networks import q
from train.learners.common import q_settings

__all__ = ["init_params", "make_network"]


def make_network(
  game: jaxgames.LineGame,
  settings: q_settings.NetworkSettings,
  *,
  output_activation: q.Activation,
  masks_outputs: bool,
) -> networks.QNetwork:
  """Returns the network that a config describes.

  Args:
    game: to be played.
    settings: of the network.
    output_activation: of the outputs.
    masks_outputs: whether the outputs of moves that are not legal are 0.

  Raises:
    ValueError: if a number of inputs or outputs is given that is not the game's.
  """
  network = networks.QNetwork(
    game=game,
    hidden=settings.hidden,
    activation=settings.activation,
    output_activation=output_activation,
    sees_moves=settings.legal_moves,
    masks_outputs=masks_outputs,
    has_bias=settings.bias,
    weight_range=settings.weight_range,
  )
  needed = {"inputs": network.num_inputs, "outputs": game.num_actions}
  for field, number in needed.items():
    given = getattr(settings, field)
    if given not in (None, number):
      raise ValueError(
        f"learner.network.{field} is {given}, but on a board of shape {game.shape} "
        f"with {game.num_actions} actions the network has {number}"
      )
  return network


def init_params(network: networks.QNetwork, key: chex.PRNGKey) -> chex.ArrayTree:
  """Returns the first parameters of a network; the key is consumed."""
  return network.init(
    key,
    jnp.zeros((1, network.game.num_cells), jnp.int8),
    jnp.ones((1, network.game.num_actions), bool),
  )
