"""Adds up the games of a match as they end."""

import collections
import hashlib

import numpy as np

from train.match import estimate
from train.match import record
from train.match import result

__all__ = ["Tally"]


class Tally:
  """Counts results, scores of pairs, and distinct games; keeps no game."""

  def __init__(self, *, num_opening: int, can_forfeit: bool = False):
    """Begins with no games.

    Args:
      num_opening: the plies of the match's openings.
      can_forfeit: whether players may forfeit games.
    """
    self._num_opening = num_opening
    self._can_forfeit = can_forfeit
    self._results: list[collections.Counter[int]] = [
      collections.Counter() for _ in "ab"
    ]
    self._pairs: collections.Counter[float] = collections.Counter()
    # Digests, as a million games would not fit into memory.
    self._distinct: list[set[bytes]] = [set(), set()]
    self._forfeits: list[record.Forfeit] = []
    self._unpaired: float | None = None

  def add(self, game: record.GameRecord) -> None:
    """Adds a game; games come in the order of their numbers."""
    self._results[game.side][game.winner] += 1
    self._distinct[game.side].add(_digest(game))
    if game.forfeit is not None:
      self._forfeits.append(game.forfeit)
    if self._unpaired is None:
      self._unpaired = game.score
    else:
      self._pairs[(self._unpaired + game.score) / 2] += 1
      self._unpaired = None

  def result(self) -> result.MatchResult:
    """Returns the result of all games so far; there is at least one."""
    pairs = self._pairs.copy()
    if self._unpaired is not None:  # An odd last game.
      pairs[self._unpaired] += 1
    distinct = tuple(map(len, self._distinct))
    found = estimate.estimate(pairs, min(max(distinct), pairs.total()))
    all_results = self._results[0] + self._results[1]
    # Pairs decide on the interval, games on the score: a last one may be unpaired.
    found = estimate.Estimate(_mean(all_results), found.interval)
    wins, draws, losses = (
      tuple(results[winner] for results in self._results) for winner in (1, 0, -1)
    )
    return result.MatchResult(
      wins,
      draws,
      losses,
      distinct=distinct,
      estimate=found,
      by_side=tuple(
        _of_side(results, num_distinct)
        for results, num_distinct in zip(self._results, distinct, strict=True)
      ),
      num_opening=self._num_opening,
      forfeits=tuple(self._forfeits) if self._can_forfeit else None,
    )


def _digest(game: record.GameRecord) -> bytes:
  """Returns what is the same for the same moves and the same end."""
  # An engine may forfeit after the same moves.
  facts = np.asarray([game.winner, game.forfeit is not None, *game.actions], np.int16)
  return hashlib.blake2b(facts.tobytes(), digest_size=16).digest()


def _of_side(
  results: collections.Counter[int], num_distinct: int
) -> estimate.Estimate | None:
  if not results:
    return None
  scores = {(1 + winner) / 2: count for winner, count in results.items()}
  return estimate.estimate(scores, num_distinct)


def _mean(results: collections.Counter[int]) -> float:
  scores = ((1 + winner) / 2 * count for winner, count in results.items())
  return sum(scores) / results.total()
