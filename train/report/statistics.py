"""Statistics of a report: per trial, over trials, and tests between means."""

from collections.abc import Callable, Sequence
import dataclasses
import functools

import numpy as np

# Not scipy.stats, which is slow to import: scipy imports it at its first use, so that a
# config's paper is checked without it.
import scipy

__all__ = [
  "STATISTICS",
  "Comparison",
  "Curve",
  "Curves",
  "Measurement",
  "Summary",
  "align",
  "compare",
  "contains",
  "correct",
  "end",
  "final",
  "intervals",
  "peak",
  "summarize",
  "value_at",
]

# The share of the tests that `end` averages, as a fraction of integers: the product of
# 0.4 and a count may be rounded to just above an integer.
END_SHARE = (2, 5)

NUM_RESAMPLES = 9999
CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Curve:
  """One metric of one trial over its tests.

  Attributes:
    tests: `[T]` the tests' numbers, increasing from 1 or more.
    games: `[T]` how many games the trial had finished at each test.
    values: `[T]` the metric.
    num_planned: the number of the trial's last test when the run is finished.
    has_finished: whether the trial ended early, so that its last value is final.
  """

  tests: np.ndarray
  games: np.ndarray
  values: np.ndarray
  num_planned: int
  has_finished: bool = False

  def __post_init__(self):
    shape = np.shape(self.tests)
    assert len(shape) == 1, f"tests must have one axis, not the shape {shape}"
    assert shape == np.shape(self.games) == np.shape(self.values), "shapes differ"
    assert shape[0] > 0, "a curve has at least one test"
    assert (np.diff(self.tests) > 0).all(), f"tests must increase: {self.tests}"


@dataclasses.dataclass(frozen=True)
class Curves:
  """One metric of several trials over the same tests.

  Attributes:
    tests: `[T]` the tests' numbers, increasing.
    games: `[T]` the mean games at each test, over the trials active then.
    values: `[trials, T]` the metric.
  """

  tests: np.ndarray
  games: np.ndarray
  values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Measurement:
  """A statistic of one trial.

  Attributes:
    value: the number.
    is_complete: whether further training can no longer change it.
  """

  value: float
  is_complete: bool


@dataclasses.dataclass(frozen=True)
class Summary:
  """A summary of one number over several trials.

  Attributes:
    mean: the mean; None without trials.
    sd: the sample standard deviation (n - 1); None for fewer than two trials.
    n: the number of trials.
    interval: the mean's 95 % confidence interval; None if `sd` is None.
  """

  mean: float | None
  sd: float | None
  n: int
  interval: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True)
class Comparison:
  """A test of whether two means differ.

  Attributes:
    difference: the first mean minus the second; None if one is missing.
    p: the two-sided p-value; None if there is no test.
    reason: why there is no test, if there is none.
  """

  difference: float | None
  p: float | None
  reason: str | None = None


def peak(curve: Curve) -> Measurement:
  """Returns the highest value of all tests."""
  return Measurement(float(curve.values.max()), _has_last_tests(curve, 1))


def end(curve: Curve) -> Measurement:
  """Returns the mean of the last 40 % of the tests.

  These are the last planned tests if all of them are done, else the last tests so far.
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


# The statistics that a paper's column may name.
STATISTICS: dict[str, Callable[[Curve], Measurement]] = {
  "peak": peak,
  "end": end,
  "final": final,
}


def value_at(curve: Curve, test: int) -> float | None:
  """Returns a trial's value at a test, or None if it was not tested then.

  A trial that ended early keeps its last value.

  Args:
    curve: the trial's curve.
    test: the test's number.
  """
  place = int(np.searchsorted(curve.tests, test, side="right")) - 1
  if place < 0:
    return None
  is_last = place == len(curve.tests) - 1
  has_value = curve.tests[place] == test or (is_last and curve.has_finished)
  return float(curve.values[place]) if has_value else None


def align(curves: Sequence[Curve]) -> Curves:
  """Restricts trials to the tests that all of them have.

  A trial that ended early counts at all later tests with its last value.

  Args:
    curves: one metric of at least one trial.
  """
  if not curves:
    raise ValueError("there must be at least one curve to align")
  tests = np.unique(np.concatenate([curve.tests for curve in curves]))
  last = np.array([[curve.tests[-1]] for curve in curves])
  has_finished = np.array([[curve.has_finished] for curve in curves])
  has_test = np.stack([np.isin(tests, curve.tests) for curve in curves])
  tests = tests[(has_test | has_finished & (tests > last)).all(axis=0)]
  places = [np.searchsorted(curve.tests, tests, side="right") - 1 for curve in curves]
  pairs = list(zip(curves, places, strict=True))
  games = np.stack([curve.games[place] for curve, place in pairs])
  values = np.stack([curve.values[place] for curve, place in pairs])
  # At its last test a trial that ended early has fewer games than the active ones: it
  # ended before that test was due. So its games count only if no trial is active.
  is_active = ~has_finished | (tests < last)
  counted = np.where(is_active.any(axis=0), is_active, tests == last)
  return Curves(tests, (games * counted).sum(axis=0) / counted.sum(axis=0), values)


def intervals(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Returns 95 % confidence intervals of means over trials, by percentile bootstrap.

  For many means this is faster than the BCa bootstrap of `summarize`: each resample is
  a row of weights, and all means are one matrix product.

  Args:
    values: `[trials, T]` with at least two trials.

  Returns:
    The lower and the upper bounds, each `[T]`.
  """
  if values.ndim != 2 or len(values) < 2:
    raise ValueError(f"values must be [trials >= 2, T], not {values.shape}")
  means = _resamples(len(values)) @ values
  tail = (1 - CONFIDENCE) / 2
  low, high = np.quantile(means, (tail, 1 - tail), axis=0)
  return low, high


def summarize(values: Sequence[float]) -> Summary:
  """Summarizes the numbers of independent trials.

  The interval is a bias-corrected and accelerated (BCa) bootstrap with fixed seed.

  Args:
    values: one number per trial.
  """
  n = len(values)
  if n == 0:
    return Summary(mean=None, sd=None, n=0)
  array = np.asarray(values, np.float64)
  assert array.ndim == 1, f"values must have one axis, not the shape {array.shape}"
  mean = float(array.mean())
  if n == 1:
    return Summary(mean=mean, sd=None, n=1)
  # Rounding gives equal numbers a spread in their last bits, which is meaningless to
  # both the test and the bootstrap.
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
    first: the summary of some trials, or a paper's.
    second: the other summary.
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


def correct(tests: Sequence[Comparison]) -> list[Comparison]:
  """Corrects the p-values of several tests for their number, by Holm's method.

  The lowest p is multiplied by the number of tests, the next by one less, and so on; a
  corrected p is at least that of a lower one, and at most 1. So the chance that any of
  the tests finds a difference where there is none is at most what each p is held to.

  Args:
    tests: those without a p are not counted.
  """
  places = [place for place, test in enumerate(tests) if test.p is not None]
  places.sort(key=lambda place: tests[place].p or 0.0)
  corrected, least = list(tests), 0.0
  for rank, place in enumerate(places):
    p = tests[place].p
    assert p is not None
    least = max(least, min(1.0, p * (len(places) - rank)))
    corrected[place] = dataclasses.replace(tests[place], p=least)
  return corrected


def contains(summary: Summary, mean: float, *, digits: int) -> bool | None:
  """Returns whether a mean lies in a summary's interval; None if it has none.

  Args:
    summary: the summary of some trials.
    mean: a paper's mean.
    digits: its number of decimals; the interval is rounded to as many, as a printed
      0.00 may be 0.004.
  """
  if summary.interval is None:
    return None
  low, high = (round(bound, digits) for bound in summary.interval)
  return low <= mean <= high


@functools.cache
def _resamples(num_trials: int) -> np.ndarray:
  """Returns `[NUM_RESAMPLES, trials]` the weight of each trial in each resample."""
  shares = np.full(num_trials, 1 / num_trials)
  generator = np.random.default_rng(0)
  return generator.multinomial(num_trials, shares, NUM_RESAMPLES) / num_trials


def _num_at_end(num_tests: int) -> int:
  """Returns how many tests `end` averages, rounded up."""
  numerator, denominator = END_SHARE
  return max(1, -(-num_tests * numerator // denominator))


def _has_last_tests(curve: Curve, num_tests: int) -> bool:
  """Returns whether the last `num_tests` of the planned tests are all done."""
  wanted = np.arange(curve.num_planned - num_tests + 1, curve.num_planned + 1)
  return bool(np.isin(wanted, curve.tests).all())
