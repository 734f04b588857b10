import math

import numpy as np
import pytest
import scipy.stats

from train.report import statistics


def make_curve(values, num_planned=None, first_test=1, has_finished=False):
  tests = np.arange(first_test, first_test + len(values))
  return statistics.Curve(
    tests=tests,
    games=1000 * tests,
    values=np.asarray(values, float),
    num_planned=num_planned or int(tests[-1]),
    has_finished=has_finished,
  )


def test_peak_is_the_highest_test():
  assert statistics.peak(make_curve([0.1, 0.7, 0.3])) == statistics.Measurement(
    0.7, is_complete=True
  )


def test_end_is_the_mean_of_the_last_40_of_100_tests():
  curve = make_curve([0.0] * 60 + [0.25] * 20 + [0.75] * 20)
  assert statistics.end(curve) == statistics.Measurement(0.5, is_complete=True)


@pytest.mark.parametrize(
  ("num_tests", "num_averaged"), [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (35, 14)]
)
def test_end_rounds_the_number_of_its_tests_up(num_tests, num_averaged):
  values = [0.0] * (num_tests - num_averaged) + [1.0] * num_averaged
  assert statistics.end(make_curve(values)).value == 1
  if num_averaged < num_tests:
    values[-num_averaged] = 0.0
    assert statistics.end(make_curve(values)).value < 1


def test_end_of_an_unfinished_run_is_of_the_last_40_percent_so_far():
  curve = make_curve([0.0] * 6 + [0.2, 0.4, 0.6, 0.8], num_planned=100)
  measurement = statistics.end(curve)
  assert measurement.value == pytest.approx(0.5)
  assert not measurement.is_complete


def test_end_needs_only_the_tests_that_it_averages():
  curve = make_curve([0.5] * 40, num_planned=100, first_test=61)
  assert statistics.end(curve) == statistics.Measurement(0.5, is_complete=True)
  curve = make_curve([0.5] * 39, num_planned=100, first_test=62)
  assert not statistics.end(curve).is_complete


@pytest.mark.parametrize("name", statistics.STATISTICS)
def test_every_statistic_is_unfinished_before_the_last_test(name):
  statistic_fn = statistics.STATISTICS[name]
  assert statistic_fn(make_curve([0.1, 0.2], num_planned=2)).is_complete
  assert not statistic_fn(make_curve([0.1, 0.2], num_planned=3)).is_complete


def test_final_is_the_last_test():
  assert statistics.final(make_curve([0.9, 0.1])).value == 0.1


def test_summary_of_hand_worked_numbers():
  # Deviations -3, -1, 1, 3: their squares are 20, over three 6.67.
  summary = statistics.summarize([2, 4, 6, 8])
  assert (summary.mean, summary.n) == (5, 4)
  assert summary.sd == pytest.approx(math.sqrt(20 / 3))
  low, high = summary.interval
  assert 2 < low < 4 < 6 < high < 8


def test_interval_covers_the_mean_with_about_its_confidence():
  generator = np.random.default_rng(5)
  covered = 0
  for _ in range(40):
    low, high = statistics.summarize(generator.normal(3.0, 1.0, 30)).interval
    covered += low < 3 < high
  assert covered >= 34


def test_same_numbers_give_the_same_interval():
  values = [1.0, 2.5, 3.0, 7.0]
  assert statistics.summarize(values) == statistics.summarize(values)


def test_summary_of_one_trial_has_no_spread():
  assert statistics.summarize([0.4]) == statistics.Summary(0.4, None, 1, None)


def test_summary_of_nothing_is_empty():
  assert statistics.summarize([]) == statistics.Summary(None, None, 0, None)


def test_equal_trials_have_no_spread_whatever_the_rounding():
  values = [0.1 + 0.2, 0.3, 0.3]
  assert values[0] != values[1]
  summary = statistics.summarize(values)
  assert summary.sd == 0
  assert summary.interval == (summary.mean, summary.mean)


def test_comparison_is_scipys_welch_test_on_the_samples():
  first, second = [1.0, 2.0, 4.0, 9.0], [5.0, 8.0, 9.0, 9.5, 11.0]
  comparison = statistics.compare(
    statistics.summarize(first), statistics.summarize(second)
  )
  oracle = scipy.stats.ttest_ind(first, second, equal_var=False)
  assert comparison.p == pytest.approx(oracle.pvalue)
  assert comparison.difference == pytest.approx(4 - 8.5)
  assert comparison.reason is None


def test_comparison_of_printed_numbers_agrees_with_the_papers_own_test():
  """Table III, deep structured against deep unstructured: p < 0.01, then p < 0.05."""
  peak = statistics.compare(
    statistics.Summary(98.7, 0.3, 10), statistics.Summary(98.1, 0.5, 10)
  )
  end = statistics.compare(
    statistics.Summary(97.3, 0.8, 10), statistics.Summary(96.2, 1.0, 10)
  )
  assert peak.p < 0.01
  assert end.p < 0.05


NUMBERS = statistics.Summary(5.0, 1.0, 4)


@pytest.mark.parametrize(
  ("other", "reason"),
  [
    (statistics.Summary(None, None, 0), "no numbers"),
    (statistics.Summary(4.0, None, 1), "one trial"),
    (statistics.Summary(4.0, None, 10), "not known"),
  ],
)
def test_without_two_spreads_there_is_a_reason_and_no_test(other, reason):
  for pair in ((NUMBERS, other), (other, NUMBERS)):
    comparison = statistics.compare(*pair)
    assert comparison.p is None
    assert reason in comparison.reason


def test_two_rows_without_spread_are_not_tested():
  same = statistics.summarize([1.0, 1.0])
  comparison = statistics.compare(same, statistics.summarize([2.0, 2.0]))
  assert comparison == statistics.Comparison(-1.0, None, "all trials are equal")
  assert statistics.compare(same, NUMBERS).p is not None


def test_finished_trial_keeps_its_last_value_in_the_mean():
  """The first trial ends at 1,700 games, on its way to the second test."""
  early = statistics.Curve(
    np.array([1, 2]), np.array([1000, 1700]), np.array([4.0, 0.0]), 2, has_finished=True
  )
  curves = statistics.align([early, make_curve([6.0, 5.0, 4.0, 2.0])])
  np.testing.assert_array_equal(curves.tests, [1, 2, 3, 4])
  np.testing.assert_array_equal(curves.values, [[4, 0, 0, 0], [6, 5, 4, 2]])
  np.testing.assert_array_equal(curves.values.mean(axis=0), [5, 2.5, 2, 1])
  # The games of the trials that were active.
  np.testing.assert_array_equal(curves.games, [1000, 2000, 3000, 4000])


def test_curves_end_where_the_last_trial_finished():
  early = make_curve([4.0], has_finished=True)
  others = [
    statistics.Curve(
      np.array([1, 2]), np.array([1000, games]), np.array([3.0, 1.0]), 2, True
    )
    for games in (1400, 1800)
  ]
  curves = statistics.align([early, *others])
  np.testing.assert_array_equal(curves.games, [1000, 1600])
  np.testing.assert_array_equal(curves.values, [[4, 4], [3, 1], [3, 1]])


def test_curves_have_only_tests_that_all_trials_have():
  curves = statistics.align([make_curve([1.0, 2.0]), make_curve([3.0])])
  np.testing.assert_array_equal(curves.values, [[1], [3]])
  nothing = statistics.align([make_curve([1.0]), make_curve([1.0], first_test=2)])
  assert len(nothing.tests) == 0


def test_value_at_a_test_is_the_last_one_of_a_finished_trial_only():
  values = [0.5, 0.25]
  assert statistics.value_at(make_curve(values), 1) == 0.5
  assert statistics.value_at(make_curve(values), 3) is None
  assert statistics.value_at(make_curve(values, has_finished=True), 3) == 0.25
  assert statistics.value_at(make_curve(values, first_test=2), 1) is None


def test_intervals_of_many_means_are_near_the_better_bootstrap():
  values = np.random.default_rng(1).normal([3.0, 8.0], 1.0, (100, 2))
  for low, high, column in zip(*statistics.intervals(values), values.T, strict=True):
    expected = statistics.summarize(column).interval
    assert (low, high) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize(
  ("mean", "is_inside"), [(0.0, True), (0.01, True), (1.24, True), (1.25, False)]
)
def test_mean_is_inside_an_interval_as_printed(mean, is_inside):
  summary = statistics.Summary(0.6, 1.0, 9, (0.004, 1.2449))
  assert statistics.contains(summary, mean, digits=2) is is_inside


def test_nothing_is_inside_a_missing_interval():
  assert statistics.contains(statistics.Summary(1.0, None, 1), 1.0, digits=2) is None


def test_p_values_are_corrected_for_their_number_by_holm():
  tests = [statistics.Comparison(1.0, p) for p in (0.01, 0.04, 0.03)]
  tests.insert(1, statistics.Comparison(None, None, "there is no test"))
  corrected = [test.p for test in statistics.correct(tests)]
  assert corrected == [
    pytest.approx(0.03),
    None,
    pytest.approx(0.06),
    pytest.approx(0.06),
  ]
