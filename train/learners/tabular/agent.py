"""The greedy player of a learned table."""

import chex
import jax.numpy as jnp

import jaxgames
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from jaxgames.players import table_greedy
from train.learners.tabular import settings as tabular_settings

__all__ = ["make_agent", "side_of"]


def side_of(settings: tabular_settings.Settings) -> int:
  """Returns the side that the learner plays: 1 the first player, -1 the second."""
  return 1 if settings.starts == "always" else -1


def make_agent(
  game: jaxgames.LineGame, settings: tabular_settings.Settings, table: chex.ArrayTree
) -> players.Player:
  """Returns the player that goes to the position with the highest utility."""
  table = jnp.asarray(table)
  if settings.symmetry:
    table = table[graph_lib.of(game).representatives]
  return table_greedy.TableGreedy(game, table, side_of(settings))
