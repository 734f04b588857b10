"""The greedy player of a learned critic."""

import chex

import jaxgames
from jaxgames import networks
from jaxgames import players
from train.learners.adp import settings as adp_settings

__all__ = ["make_agent", "make_critic"]


def make_critic(
  game: jaxgames.LineGame, settings: adp_settings.NetworkSettings
) -> networks.Critic:
  """Returns the critic that a config describes.

  Raises:
    ValueError: if a number of inputs is given that is another, or there is none.
  """
  critic = networks.Critic(
    game=game,
    counts=settings.counts,
    turn=settings.turn,
    sees_first=settings.first,
    sees_board=settings.board,
    hidden=settings.hidden,
    weight_range=settings.weight_range,
  )
  if settings.inputs not in (None, critic.num_inputs):
    raise ValueError(
      f"learner.network.inputs is {settings.inputs}, but this network has "
      f"{critic.num_inputs}"
    )
  if critic.num_inputs == 0:
    raise ValueError("learner.network has no inputs: it must see something")
  return critic


def make_agent(
  game: jaxgames.LineGame, settings: adp_settings.Settings, params: chex.ArrayTree
) -> players.Player:
  """Returns the player that makes the move after which it is most likely to win."""
  critic = make_critic(game, settings.network)
  return players.CriticGreedy(critic, params, settings.distance, settings.takes_five)
