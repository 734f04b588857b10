"""The greedy player of a network learned by deep Q-learning."""

import chex

import jaxgames
from jaxgames import networks
from jaxgames import players
from train.learners.common import q_network
from train.learners.dqn import settings as dqn_settings

__all__ = ["make_agent", "make_network"]


def make_network(
  game: jaxgames.LineGame, settings: dqn_settings.NetworkSettings
) -> networks.QNetwork:
  """Returns the network that a config describes; its outputs are linear."""
  return q_network.make_network(
    game, settings, output_activation="identity", masks_outputs=False
  )


def make_agent(
  game: jaxgames.LineGame, settings: dqn_settings.Settings, params: chex.ArrayTree
) -> players.Player:
  """Returns the player that makes the legal move with the highest output."""
  return players.QGreedy(make_network(game, settings.network), params)
