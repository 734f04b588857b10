"""The states of a run's trials, of which only the active ones are computed."""

import jax
import numpy as np

from train.learners import base
from train.run import programs as programs_lib

__all__ = ["Trials", "num_places"]

# Active trials are packed again when this share of the places is enough.
SHRINK = 0.75

# Exact tests examine agents side by side, so many trials are counted in steps of this.
STEP = 16


class Trials:
  """Holds the states of all trials, and trains and tests those that are active.

  A trial that has ended would still take its share of every step. So active trials are
  packed into fewer places, with some to spare, since each number of places needs
  programs of its own, and each device has as many places as each other one. Places to
  spare hold trials again, whose copies are not trained and not seen by anyone. The
  places depend on which trials are active and on nothing else: a resumed run packs as
  an unbroken one does.
  """

  def __init__(self, programs: programs_lib.Programs, state: base.LearnerState):
    """Begins with every trial in its own place.

    Args:
      programs: of the run.
      state: of all trials, in their places; donated.
    """
    self._programs = programs
    self._all = state
    self._packed: base.LearnerState | None = None
    self._fill(np.arange(programs.num_trials))

  @property
  def state(self) -> base.LearnerState:
    """The states of all trials, in their places, to be read, not to be donated."""
    if self._packed is not None:
      active = self._trials[self._places]
      self._all = self._programs.put(self._all, active, self._packed)
    return self._all

  def advance(self, active: np.ndarray, until_games: int) -> programs_lib.Reached:
    """Trains active trials until each has a number of games, or is done.

    Args:
      active: `[n]` int, their numbers, rising.
      until_games: the number of games.

    Returns:
      `[n]` how far they are.
    """
    self._pack(active)
    targets = np.zeros(len(self._trials), np.int32)
    targets[self._places] = until_games
    state, reached = self._programs.advance(self._take(), targets)
    self._put_back(state)
    return jax.tree.map(lambda values: values[self._places], reached)

  def test(self, active: np.ndarray, number: int) -> programs_lib.TestResult:
    """Tests active trials.

    Args:
      active: `[n]` int, their numbers, rising.
      number: of the test.

    Returns:
      `[n]` their results.
    """
    self._pack(active)
    state, result = self._programs.test(self._take(), self._trials, number)
    self._put_back(state)
    return jax.tree.map(lambda values: values[self._places], result)

  def _pack(self, active: np.ndarray) -> None:
    """Makes room for the active trials and no more than some others."""
    if np.array_equal(active, self._trials[self._places]):
      return
    self._all, self._packed = self.state, None
    self._fill(active)

  def _fill(self, active: np.ndarray) -> None:
    """Gives active trials places, when the states of all are up to date."""
    programs = self._programs
    width = num_places(len(active), programs.num_places, programs.num_devices)
    is_packed = width < programs.num_places
    held = active if is_packed else np.arange(programs.num_trials)
    # The trial in each place, and the places of the active trials.
    self._trials = programs_lib.spread(held, width)
    self._places = np.flatnonzero(np.isin(held, active))
    if is_packed:
      self._packed = programs.take(self._all, self._trials)

  def _take(self) -> base.LearnerState:
    return self._all if self._packed is None else self._packed

  def _put_back(self, state: base.LearnerState) -> None:
    if self._packed is None:
      self._all = state
    else:
      self._packed = state


def num_places(num_active: int, most: int, num_devices: int) -> int:
  """Returns in how many places the active trials are kept.

  >>> [num_places(n, 600, 2) for n in (600, 500, 400, 10, 1)]
  [600, 600, 480, 10, 2]

  Args:
    num_active: how many there are.
    most: the places of all trials.
    num_devices: how many devices share them.
  """
  width = most
  while True:
    step = num_devices * (STEP if width > 4 * STEP * num_devices else 1)
    smaller = -(-int(SHRINK * width) // step) * step
    if smaller >= width:
      smaller = width - step
    if smaller < max(num_active, step):
      return width
    width = smaller
