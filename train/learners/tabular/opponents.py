"""Opponents as tables, so that trials with different ones are one program."""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import players
from jaxgames.players import base
from jaxgames.players import table_greedy
from train.learners import base as learner_base
from train.learners.common import fields

__all__ = ["RANDOM", "Opponents", "tabulate"]

# Policies for a whole game: random moves, and the moves that are worst for the learner
# by its own table (the opponent `self`). Those that follow are tabulated players.
RANDOM, SELF = 0, 1


class Opponents(NamedTuple):
  """The opponents of all trials, as numpy arrays.

  Attributes:
    sets: `[num_policies, num_states]` uint32, the actions that a policy chooses from;
      empty for those that have no table.
    policies: `[num_opponents, most]` int32, the policies of each opponent, of which it
      draws one for each game.
    num_policies: `[num_opponents]` int32, how many those are.
  """

  sets: np.ndarray
  policies: np.ndarray
  num_policies: np.ndarray

  def draw(self, opponent: chex.Array, random: chex.Array) -> jax.Array:
    """Returns the policy of an opponent in the next game, `[]` int32.

    Args:
      opponent: `[]` int32, its number.
      random: `[]` uint32.
    """
    count = jnp.asarray(self.num_policies)[opponent]
    return jnp.asarray(self.policies)[opponent, base.draw_from(random, count)]

  def choices(
    self, policy: chex.Array, place: chex.Array, worth: chex.Array, legal: chex.Array
  ) -> jax.Array:
    """Returns the set of actions that an opponent chooses from, `[]` uint32.

    Args:
      policy: from `draw`, or `RANDOM`.
      place: `[]` int32, the position in the graph.
      worth: `[num_actions]` float32, the learner's values of its successors.
      legal: `[]` uint32, the legal actions.
    """
    actions = jnp.asarray(self.sets)[policy, place]
    if (self.policies == SELF).any():
      harmful = table_greedy.best_actions(-worth, legal)
      actions = jnp.where(policy == SELF, harmful, actions)
    return actions


def tabulate(task: learner_base.Task) -> Opponents:
  """Returns the opponents of a task.

  Raises:
    ValueError: if one of them does not choose by the position alone.
  """
  sets = [players.tabulate(players.Random(task.game))]
  sets.append(np.zeros_like(sets[RANDOM]))
  policies: list[list[int]] = []
  for spec in task.opponents.values():
    if spec == fields.SELF_PLAY:
      policies.append([SELF])
      continue
    # Of several parts it draws one for each game.
    parts = task.make_player_fn(task.game, spec).parts
    policies.append(list(range(len(sets), len(sets) + len(parts))))
    sets += [_tabulate(player, spec) for player in parts]
  most = max(map(len, policies))
  padded = [numbers + numbers[:1] * (most - len(numbers)) for numbers in policies]
  return Opponents(
    sets=np.stack(sets),
    policies=np.asarray(padded, np.int32),
    num_policies=np.asarray([len(numbers) for numbers in policies], np.int32),
  )


def _tabulate(player: players.Player, spec: str) -> np.ndarray:
  try:
    return players.tabulate(player)
  except ValueError as error:
    raise ValueError(
      f"opponent is {spec!r}, but the tabular learner needs one that chooses evenly "
      "among actions of a position, or one of such players for each game"
    ) from error
