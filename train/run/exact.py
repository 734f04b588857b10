"""Exact tests: an agent's results in a small game over all that can happen.

Only players whose moves are told by sets of actions (`players.Chooser`) can be tested
so, and tested against.
"""

from collections.abc import Callable, Sequence
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import arena
from jaxgames import players
from jaxgames.exact import evaluation
from jaxgames.exact import graph as graph_lib
from jaxgames.players import base
from jaxgames.players import registry

__all__ = ["Examiner"]

# Agents examined side by side: a position's numbers then fill a line of the cache.
MOST_TOGETHER = 16


class Examiner:
  """Computes what agents get against some players, and whether they can be beaten.

  Of the players' own random choices and the openings of the game, each is as likely.
  Where agents begin some games and not others, results are the mean over both sides.
  """

  def __init__(
    self, game: jaxgames.LineGame, opponents: Sequence[str], starts: arena.Starts
  ):
    """Prepares the opponents' choices.

    Args:
      game: a small one.
      opponents: players' names.
      starts: the games that agents begin.
    """
    self._graph = graph_lib.of(game)
    self._sides = {"alternate": (1, -1), "always": (1,), "never": (-1,)}[starts]
    self._opponents = {
      registry.parse(spec)[0]: players.tabulate(players.make(game, spec))
      for spec in opponents
    }

  def __call__(
    self,
    agents: chex.ArrayTree,
    player_fn: Callable[[chex.ArrayTree], players.Player],
  ) -> dict[str, jax.Array]:
    """Returns the metrics of agents, `[agents]` each; pure and compiled.

    Args:
      agents: a tree with a row for each.
      player_fn: makes a player of one row.
    """
    num_agents = len(jax.tree.leaves(agents)[0])
    together = max(n for n in range(1, MOST_TOGETHER + 1) if num_agents % n == 0)

    def action_sets(agent: chex.ArrayTree) -> jax.Array:
      player = player_fn(agent)
      if not base.chooses_by_position(player):
        raise ValueError("test.exact: this learner's agents cannot be tested exactly")
      return player.action_sets(self._graph)

    # Block by block: what all agents would do in all positions takes gigabytes.
    blocks = jax.tree.map(
      lambda leaf: leaf.reshape(-1, together, *leaf.shape[1:]), agents
    )
    found = jax.lax.map(
      lambda block: self._examine(jax.vmap(action_sets)(block).T), blocks
    )
    return jax.tree.map(lambda x: x.reshape(num_agents), found)

  def _examine(self, sets: jax.Array) -> dict[str, jax.Array]:
    """Does it for a few agents, `[num_states, agents]`."""
    metrics: dict[str, Any] = {}
    for name, theirs in self._opponents.items():
      for end, value in self._results(sets, theirs)._asdict().items():
        metrics[f"{name}_{end}"] = value
    # Whoever may do anything finds what there is to be found.
    anything = self._results(sets, self._graph.legal_actions)
    metrics["unbeatable"] = jnp.where(anything.losses > 0, 0.0, 1.0)
    return metrics

  def _results(self, sets: jax.Array, theirs: np.ndarray) -> evaluation.Results:
    """Returns the mean results over the sides that agents play."""
    by_side = [
      evaluation.expected_results(self._graph, sets, theirs, side=side)
      for side in self._sides
    ]
    return jax.tree.map(lambda *values: sum(values) / len(values), *by_side)
