"""Scores of matches: intervals that hold what they say, and that nothing narrows."""

import collections
import math

import numpy as np
import pytest

from train.match import estimate
from train.match import record
from train.match import tally


def coverage(draw_fn, mean, *, size, num_samples=2000):
  """Returns how often the interval of random scores has their true mean inside."""
  generator = np.random.default_rng(0)
  inside = 0
  for _ in range(num_samples):
    counts = collections.Counter(draw_fn(generator, size).tolist())
    low, high = estimate.estimate(counts, size).interval
    inside += low <= mean <= high
  return inside / num_samples


@pytest.mark.parametrize("size", [10, 50, 400])
@pytest.mark.parametrize(
  "shares",
  [
    # The shares of pairs that score 0, 0.25, 0.5, 0.75 and 1.
    (0.25, 0, 0.5, 0, 0.25),
    (0.05, 0, 0, 0, 0.95),
    (0.02, 0.02, 0.9, 0.03, 0.03),
    (0, 0.1, 0.2, 0.3, 0.4),
  ],
)
def test_intervals_have_the_true_score_inside_95_times_of_100(shares, size):
  scores = np.array([0, 0.25, 0.5, 0.75, 1])

  def draw(generator, size):
    return generator.choice(scores, size, p=shares)

  assert coverage(draw, float(scores @ shares), size=size) > 0.935


def test_intervals_of_wins_and_losses_are_those_of_agresti_and_coull():
  low, high = estimate.estimate({1.0: 30, 0.0: 70}, 100).interval
  z = estimate.QUANTILE
  center = (30 + z**2 / 2) / (100 + z**2)
  reach = z * math.sqrt(center * (1 - center) / (100 + z**2))
  assert (low, high) == pytest.approx((center - reach, center + reach))


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_equal_scores_are_not_certain(score):
  few, many = (estimate.estimate({score: n}, n).interval for n in (5, 500))
  assert many[0] <= score <= many[1]
  assert 0 < many[1] - many[0] < (few[1] - few[0]) / 5


def play(games):
  """Returns the result of games, given as A's result and moves."""
  counted = tally.Tally(num_opening=0)
  for number, (winner, actions) in enumerate(games):
    counted.add(record.GameRecord(number, tuple(actions), winner))
  return counted.result()


def test_repeating_two_games_says_no_more_than_playing_them_once():
  pair = [(1, [0, 1, 2]), (-1, [0, 1, 2])]
  once, often = play(pair), play(pair * 100)
  assert often.num_games == 200
  assert often.num_distinct == once.num_distinct == 2
  assert often.estimate == once.estimate
  assert often.by_side == once.by_side
  assert "Only 2 of 200 games are distinct" in " ".join(often.as_lines())
  assert "distinct" not in " ".join(once.as_lines())


def test_openings_that_one_side_wins_do_not_count_as_chance_of_the_players():
  # Every opening is won by the side that moves first: pairs are even, games are not.
  pairs = play([(winner, [n]) for n in range(100) for winner in (1, -1)])
  games = estimate.estimate({1.0: 100, 0.0: 100}, 200)
  low, high = pairs.estimate.interval
  assert high - low < (games.interval[1] - games.interval[0]) / 3
  # Openings that the better player wins with both sides are one result, not two.
  pairs = play([((-1) ** (n // 2), [n]) for n in range(200)])
  low, high = pairs.estimate.interval
  assert high - low > 1.3 * (games.interval[1] - games.interval[0])


def test_an_odd_last_game_counts():
  result = play([(1, [0]), (1, [1]), (0, [2])])
  assert result.estimate.score == pytest.approx(2.5 / 3)
  assert (result.wins, result.draws) == ((1, 1), (1, 0))


def test_elo_is_that_of_the_score_and_null_where_it_is_infinite():
  assert estimate.elo(0.5) == 0
  assert estimate.elo(10 / 11) == pytest.approx(400)
  assert estimate.elo(0) == -math.inf
  result = play([(1, [n]) for n in range(50)])
  found = result.as_json()
  assert found["elo"] is None
  assert found["elo_interval"][0] > 150
  assert found["elo_interval"][1] is None
  assert "+infinity" in result.as_lines()[0]
