"""Sums between two reports, and the metrics that every learner reports of its games."""

from typing import NamedTuple, TypeVar

import chex
import jax
import jax.numpy as jnp

import jaxgames
from train.learners.common import sides

__all__ = ["GameCounts", "count_ended", "game_metrics", "total", "zeros"]

Counts = TypeVar("Counts", bound=tuple)


class GameCounts(NamedTuple):
  """Games since the last report, all `[]` float32.

  Attributes:
    num_games: games that ended.
    num_moves: their lengths.
    num_wins: won by the learner's side; in self-play, by the first player.
    num_draws: drawn.
  """

  num_games: chex.Array
  num_moves: chex.Array
  num_wins: chex.Array
  num_draws: chex.Array


def zeros(kind: type[Counts]) -> Counts:
  """Returns counts, a `NamedTuple` of scalars, before anything is counted."""
  return kind(*[jnp.float32(0)] * len(kind._fields))  # type: ignore[attr-defined]


def total(values: chex.Array, condition: chex.Array) -> jax.Array:
  """Returns `[]` float32, the sum of the values for which a condition holds."""
  return jnp.where(condition, values.astype(jnp.float32), 0.0).sum()


def count_ended(
  counts: GameCounts, states: jaxgames.State, is_first: chex.Array
) -> GameCounts:
  """Adds the games that have just ended.

  Args:
    counts: so far.
    states: `[B]` positions, before new games begin.
    is_first: `[B]` bool, whether the side whose wins are counted moved first.
  """
  chex.assert_equal_shape([states.is_over, is_first])
  ended = states.is_over
  return GameCounts(
    num_games=counts.num_games + total(ended, ended),
    num_moves=counts.num_moves + total(states.num_moves, ended),
    num_wins=counts.num_wins + total(states.winner == sides.sign(is_first), ended),
    num_draws=counts.num_draws + total(states.winner == 0, ended),
  )


def game_metrics(counts: GameCounts, wins: str) -> dict[str, jax.Array]:
  """Returns averages over the games counted; `wins` is the name of the win rate."""
  return {
    "game_length": counts.num_moves / counts.num_games,
    wins: counts.num_wins / counts.num_games,
    "draws_in_training": counts.num_draws / counts.num_games,
  }
