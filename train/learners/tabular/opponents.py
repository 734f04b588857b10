"""Opponents as tables, so that trials with different ones are one program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import table_greedy

__all__ = ["RANDOM", "Opponents", "tabulate"]

# Ways to play a game: at random, and to the learner's harm by the learner's own table
# (`self`). Those that follow are in the table.
RANDOM, SELF = 0, 1


class Opponents(NamedTuple):
  """Whom trials play against, as numpy arrays.

  Attributes:
    sets: `[num_ways, num_states]` uint32, the actions that a way of playing chooses
      from; of those that have no table, nothing.
    ways: `[num_opponents, most]` int32, the ways of each opponent, of which it draws
      one for each game.
    num_ways: `[num_opponents]` int32, how many those are.
  """

  sets: np.ndarray
  ways: np.ndarray
  num_ways: np.ndarray

  def draw(self, opponent: chex.Array, random: chex.Array) -> jax.Array:
    """Returns a way in which an opponent plays a game, `[]` int32.

    Args:
      opponent: `[]` int32, its number.
      random: `[]` uint32.
    """
    count = jnp.asarray(self.num_ways)[opponent]
    return jnp.asarray(self.ways)[opponent, base.draw_from(random, count)]

  def choices(
    self, way: chex.Array, place: chex.Array, worth: chex.Array, legal: chex.Array
  ) -> jax.Array:
    """Returns the set of actions that an opponent chooses from, `[]` uint32.

    Args:
      way: from `draw`, or `RANDOM`.
      place: `[]` int32, the position in the graph.
      worth: `[num_actions]` float32, what the learner thinks of its successors.
      legal: `[]` uint32, the legal actions.
    """
    actions = jnp.asarray(self.sets)[way, place]
    if (self.ways == SELF).any():
      harmful = table_greedy.best_actions(-worth, legal)
      actions = jnp.where(way == SELF, harmful, actions)
    return actions


def tabulate(game: jaxgames.LineGame, specs: Mapping[str, str]) -> Opponents:
  """Returns the opponents that a config names.

  Raises:
    ValueError: if one of them does not choose by the position alone.
  """
  sets = [players.tabulate(players.Random(game))]
  sets.append(np.zeros_like(sets[RANDOM]))
  ways: list[list[int]] = []
  for spec in specs.values():
    ways.append([])
    for player in _parts(game, spec):
      if player is None:
        ways[-1].append(SELF)
        continue
      ways[-1].append(len(sets))
      sets.append(_tabulate(player, spec))
  most = max(map(len, ways))
  padded = [numbers + numbers[:1] * (most - len(numbers)) for numbers in ways]
  return Opponents(
    sets=np.stack(sets),
    ways=np.asarray(padded, np.int32),
    num_ways=np.asarray([len(numbers) for numbers in ways], np.int32),
  )


def _parts(game: jaxgames.LineGame, spec: str) -> Iterator[players.Player | None]:
  """Yields the players of which an opponent draws one for each game; none for self."""
  if spec == "self":
    yield None
    return
  yield from players.make(game, spec).parts


def _tabulate(player: players.Player, spec: str) -> np.ndarray:
  try:
    return players.tabulate(player)
  except ValueError as error:
    raise ValueError(
      f"opponent is {spec!r}, but the tabular learner needs one that chooses evenly "
      "among actions of a position, or one of such players for each game"
    ) from error
