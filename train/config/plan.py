"""The plan of a run's tests: after how many games of training they come."""

from collections.abc import Iterable

__all__ = ["planned_tests"]


def planned_tests(
  games: int, every: int, also_at: Iterable[int] = ()
) -> tuple[int, ...]:
  """Returns the numbers of games after which a trial is tested, the last at its end.

  >>> planned_tests(games=250, every=100, also_at=(10, 100))
  (10, 100, 200, 250)
  """
  regular = range(every, games, every)
  return tuple(
    sorted({*regular, *(point for point in also_at if point < games), games})
  )
