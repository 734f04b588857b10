"""Exact tests: an agent's results in a small game, computed over all positions.

Agents and opponents must be players that choose by position (`players.Chooser`): they
have, for each position, a set of actions of which each is equally likely.
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

__all__ = ["Examiner", "metric_names"]

# Agents examined together: a position's numbers then fill a cache line.
MOST_TOGETHER = 16


def metric_names(opponents: Sequence[str]) -> list[str]:
  """Returns the names of the metrics that tests against some opponents have."""
  if not opponents:
    return []
  names = [registry.parse(spec)[0] for spec in opponents]
  ends = evaluation.Results._fields
  return [*(f"{name}_{end}" for name in names for end in ends), "unbeatable"]


class Examiner:
  """Computes agents' exact results against players, and whether they can be beaten.

  A player's tied actions are equally likely, and so are the game's openings. If agents
  alternate in moving first, results are means over both sides.
  """

  def __init__(
    self, game: jaxgames.LineGame, opponents: Sequence[str], starts: arena.Starts
  ):
    """Tabulates the opponents' choices.

    Args:
      game: a small game.
      opponents: the players' names.
      starts: in which games agents move first.
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
    """Returns the metrics of agents, each `[agents]`; pure, to be compiled.

    For each opponent there are `NAME_wins`, `NAME_draws` and `NAME_losses`, shares of
    games; `unbeatable` is 1 if no opponent whatsoever can win, else 0.

    Args:
      agents: a tree of `[agents, ...]` arrays.
      player_fn: makes a player from the parameters of one agent.
    """
    chex.assert_equal_shape_prefix(jax.tree.leaves(agents), 1)
    num_agents = len(jax.tree.leaves(agents)[0])
    together = max(n for n in range(1, MOST_TOGETHER + 1) if num_agents % n == 0)

    def action_sets(agent: chex.ArrayTree) -> jax.Array:
      player = player_fn(agent)
      if not base.chooses_by_position(player):
        raise ValueError("test.exact: this learner's agents cannot be tested exactly")
      return player.action_sets(self._graph)

    # Block by block: the action sets of all agents in all positions take gigabytes.
    blocks = jax.tree.map(
      lambda leaf: leaf.reshape(-1, together, *leaf.shape[1:]), agents
    )
    found = jax.lax.map(
      lambda block: self._examine(jax.vmap(action_sets)(block).T), blocks
    )
    return jax.tree.map(lambda x: x.reshape(num_agents), found)

  def _examine(self, sets: jax.Array) -> dict[str, jax.Array]:
    """Returns the metrics of a block of agents.

    Args:
      sets: `[num_states, agents]` the agents' actions as bits.
    """
    metrics: dict[str, Any] = {}
    for name, theirs in self._opponents.items():
      for end, value in self._results(sets, theirs)._asdict().items():
        metrics[f"{name}_{end}"] = value
    # An opponent that may make any legal move finds a win if there is one.
    anything = self._results(sets, self._graph.legal_actions)
    metrics["unbeatable"] = jnp.where(anything.losses > 0, 0.0, 1.0)
    return metrics

  def _results(self, sets: jax.Array, theirs: np.ndarray) -> evaluation.Results:
    """Returns mean results over the sides that agents play."""
    by_side = [
      evaluation.expected_results(self._graph, sets, theirs, side=side)
      for side in self._sides
    ]
    return jax.tree.map(lambda *values: sum(values) / len(values), *by_side)
