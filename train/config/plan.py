"""The plan of a run's tests: after how many games of training they come."""

from collections.abc import Iterable

__all__ = ["MOST_TESTS", "planned_tests"]

# Each is a line in a run's metrics, for each trial.
MOST_TESTS = 1_000_000


def planned_tests(
  games: int, every: int, also_at: Iterable[int] = ()
) -> tuple[int, ...]:
  """Returns the numbers of games after which a trial is tested, the last at its end.

  >>> planned_tests(games=250, every=100, also_at=(10, 100))
  (10, 100, 200, 250)

  Raises:
    ValueError: if there are more than `MOST_TESTS`.
  """
  regular = range(every, games, every)
  # Without len(), which has a bound of its own.
  if games // every > MOST_TESTS:
    raise ValueError(
      f"a test every {every:,} of {games:,} games is {games // every:,} tests, but there "
      f"are at most {MOST_TESTS:,}"
    )
  return tuple(
    sorted({*regular, *(point for point in also_at if point < games), games})
  )
