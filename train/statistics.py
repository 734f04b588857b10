"""What a report says of numbers: per trial, over trials, and whether they differ."""

from collections.abc import Callable, Sequence
import dataclasses

import numpy as np
import scipy.stats

__all__ = [
  "STATISTICS",
  "Comparison",
  "Curve",
  "Measurement",
  "Summary",
  "compare",
  "end",
  "final",
  "peak",
  "summarize",
]

# The share of the tests that `end` averages, as a fraction of whole numbers: 0.4 times
# a count can come out just above the next integer.
END_SHARE = (2, 5)

NUM_RESAMPLES = 9999
CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Curve:
  """One metric of one trial over its tests.

  Attributes:
    tests: `[T]` the tests' numbers, rising, the first after training being 1.
    games: `[T]` how many games the trial had finished at each test.
    values: `[T]` the metric.
    num_planned: the number of the last test when the run is finished.
  """

  tests: np.ndarray
  games: np.ndarray
  values: np.ndarray
  num_planned: int


@dataclasses.dataclass(frozen=True)
class Measurement:
  """What a statistic says of one trial.

  Attributes:
    value: the number.
    is_complete: whether more training can no longer change it.
  """

  value: float
  is_complete: bool


@dataclasses.dataclass(frozen=True)
class Summary:
  """Numbers of several trials in a few.

  Attributes:
    mean: their mean; none without trials.
    sd: their standard deviation with n - 1 below; none of fewer than two trials.
    n: how many trials.
    interval: where the mean lies with 95 % confidence; none where `sd` is.
  """

  mean: float | None
  sd: float | None
  n: int
  interval: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True)
class Comparison:
  """A test of whether two means differ.

  Attributes:
    difference: the first mean less the second; none if one is missing.
    p: the two-sided p-value; none where there is no test.
    reason: why there is no test.
  """

  difference: float | None
  p: float | None
  reason: str | None = None


def peak(curve: Curve) -> Measurement:
  """Returns the highest value of all tests."""
  return Measurement(float(curve.values.max()), _has_last_tests(curve, 1))


def end(curve: Curve) -> Measurement:
  """Returns the mean of the last 40 % of the tests.

  Those are the last of the planned tests if all of them are there, else the last of
  the tests so far.
  """
  num_wanted = _num_at_end(curve.num_planned)
  if _has_last_tests(curve, num_wanted):
    return Measurement(float(curve.values[-num_wanted:].mean()), True)
  return Measurement(
    float(curve.values[-_num_at_end(len(curve.values)) :].mean()), False
  )


def final(curve: Curve) -> Measurement:
  """Returns the value at the last test."""
  return Measurement(float(curve.values[-1]), _has_last_tests(curve, 1))


# What a paper's column may name.
STATISTICS: dict[str, Callable[[Curve], Measurement]] = {
  "peak": peak,
  "end": end,
  "final": final,
}


def summarize(values: Sequence[float]) -> Summary:
  """Summarizes the numbers of independent trials.

  The interval is a bias-corrected and accelerated bootstrap, always of the same
  resamples.

  Args:
    values: one number per trial.
  """
  n = len(values)
  if n == 0:
    return Summary(mean=None, sd=None, n=0)
  array = np.asarray(values, np.float64)
  mean = float(array.mean())
  if n == 1:
    return Summary(mean=mean, sd=None, n=1)
  # Rounding gives equal numbers a spread of their last bits, of which neither a test
  # nor a bootstrap makes sense.
  if np.ptp(array) <= 1e-12 * max(1.0, abs(mean)):
    return Summary(mean=mean, sd=0.0, n=n, interval=(mean, mean))
  low, high = scipy.stats.bootstrap(
    (array,),
    np.mean,
    n_resamples=NUM_RESAMPLES,
    confidence_level=CONFIDENCE,
    method="BCa",
    rng=np.random.default_rng(0),
  ).confidence_interval
  sd = float(array.std(ddof=1))
  return Summary(mean=mean, sd=sd, n=n, interval=(float(low), float(high)))


def compare(first: Summary, second: Summary) -> Comparison:
  """Compares two means by Welch's t-test, from their summaries alone.

  Args:
    first: of one set of trials, or as a paper prints it.
    second: of the other.
  """
  if first.mean is None or second.mean is None:
    return Comparison(None, None, "there are no numbers to compare")
  difference = first.mean - second.mean
  if first.n < 2 or second.n < 2:
    return Comparison(difference, None, "one trial has no spread")
  if first.sd is None or second.sd is None:
    return Comparison(difference, None, "a spread is not known")
  if first.sd == 0 and second.sd == 0:
    return Comparison(difference, None, "all trials are equal")
  result = scipy.stats.ttest_ind_from_stats(
    first.mean,
    first.sd,
    first.n,
    second.mean,
    second.sd,
    second.n,
    equal_var=False,
  )
  return Comparison(difference, float(result.pvalue))


def _num_at_end(num_tests: int) -> int:
  """Returns how many tests `end` averages, rounded up."""
  numerator, denominator = END_SHARE
  return max(1, -(-num_tests * numerator // denominator))


def _has_last_tests(curve: Curve, num_tests: int) -> bool:
  """Says whether the last of the planned tests are all there."""
  wanted = np.arange(curve.num_planned - num_tests + 1, curve.num_planned + 1)
  return bool(np.isin(wanted, curve.tests).all())
