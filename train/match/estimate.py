"""What the games of a match say about two players: scores, intervals, Elo.

The unit is the pair: two games that share an opening, one with each side. The opening
decides a good part of both games, and moving first is an advantage, so that games are
not alike and not independent; pairs are. Where no opening is given and chance makes the
games differ, the two games of a pair are independent, and the pair's score has the
spread that sums of such games have. So the interval is that of the mean of the pairs'
scores, whatever the players.

Games that are repeated move by move say nothing new. Two players without chance play
one pair from every opening, however often it is repeated. So pairs count at most as
often as one side has distinct games. With players that use chance a repeated game may
well be independent of the first: then the interval is wider than it need be, never
narrower.
"""

from collections.abc import Mapping
import dataclasses
import math

__all__ = ["Estimate", "elo", "estimate"]

# Of the normal distribution, for 95 %.
QUANTILE = 1.959964


@dataclasses.dataclass(frozen=True)
class Estimate:
  """A mean score and its 95 % interval.

  Attributes:
    score: from 0 to 1, a draw being half a win.
    interval: around it.
  """

  score: float
  interval: tuple[float, float]

  @property
  def elo(self) -> float:
    """The difference in Elo that the score stands for."""
    return elo(self.score)

  @property
  def elo_interval(self) -> tuple[float, float]:
    """The same of the interval."""
    low, high = self.interval
    return elo(low), elo(high)


def elo(score: float) -> float:
  """Returns the difference in Elo at which a score is expected; infinite at 0 and 1.

  >>> round(elo(0.76))
  200
  """
  if score <= 0 or score >= 1:
    return math.copysign(math.inf, score - 0.5)
  return 400 * math.log10(score / (1 - score))


def estimate(counts: Mapping[float, int], num_independent: int) -> Estimate:
  """Estimates the mean of scores between 0 and 1.

  The interval is Agresti and Coull's ("Approximate is better than 'exact' for interval
  estimation of binomial proportions", 1998), with the spread of scores that may lie
  between 0 and 1: about two wins and two losses are added before the mean and its
  standard error are computed. So a player that has won every game has not won for
  certain, and scores that are all equal still have an interval.

  Args:
    counts: how often each score occurred; at least one did.
    num_independent: how many of the scores count as independent, at least 1.
  """
  total = sum(counts.values())
  mean = sum(score * count for score, count in counts.items()) / total
  # Each end has half of the added scores, and each score its share of the others.
  added = {0.0: QUANTILE**2 / 2, 1.0: QUANTILE**2 / 2}
  weights = {score: count * num_independent / total for score, count in counts.items()}
  for score, weight in added.items():
    weights[score] = weights.get(score, 0.0) + weight
  size = sum(weights.values())
  center = sum(score * weight for score, weight in weights.items()) / size
  variance = (
    sum(weight * (score - center) ** 2 for score, weight in weights.items()) / size
  )
  reach = QUANTILE * math.sqrt(variance / size)
  return Estimate(mean, (max(center - reach, 0.0), min(center + reach, 1.0)))
