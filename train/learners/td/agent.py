"""The greedy player of a learned value network."""

import chex

import jaxgames
from jaxgames import networks
from jaxgames import players
from jaxgames.players import value_greedy
from train.learners.td import settings as td_settings

__all__ = ["make_agent", "make_network"]


def make_network(
  game: jaxgames.LineGame, settings: td_settings.NetworkSettings
) -> networks.ValueNetwork:
  """Returns the network that a config describes."""
  slope = settings.steepness if settings.slope is None else settings.slope
  return networks.ValueNetwork(
    game=game,
    hidden=settings.hidden,
    detectors=settings.detectors,
    pattern_sharings=settings.pattern_tables,
    has_sides=settings.sides,
    has_bias=settings.bias,
    steepness=settings.steepness,
    slope=slope,
    has_linear_output_gradient=settings.linear_output_gradient,
  )


def make_agent(
  game: jaxgames.LineGame, settings: td_settings.Settings, params: chex.ArrayTree
) -> players.Player:
  """Returns the player that goes to the afterstate with the highest value."""
  network = make_network(game, settings.network)
  tables = network.apply(params, method="tables")
  return value_greedy.ValueGreedy(network, params, tables, settings.counts_wins)
