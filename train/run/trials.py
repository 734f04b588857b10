"""The trials of a run: the states of all, and which of them are at work."""

import jax
import numpy as np

from train.learners import base
from train.run import programs as programs_lib

__all__ = ["Trials", "num_places"]

# Those at work are packed anew when this share of the places is enough.
SHRINK = 0.75

# Agents are examined side by side, so many trials are counted in steps of this.
STEP = 16


class Trials:
  """Holds the states, and lets only those trials work that have something left to do.

  A trial that has ended would still take its share of every step. So those at work are
  packed into fewer places, with some to spare, since each number of places needs
  programs of its own. The places depend on which trials are at work and on nothing
  else: a resumed run packs as an unbroken one does.
  """

  def __init__(self, programs: programs_lib.Programs, state: base.LearnerState):
    """Begins with all trials at work.

    Args:
      programs: of the run.
      state: of all trials; donated.
    """
    self._programs = programs
    self._all = state
    self._packed: base.LearnerState | None = None
    # Which trial is in each place, and the places of those at work.
    self._trials: np.ndarray = np.arange(programs.num_trials, dtype=np.int32)
    self._places: np.ndarray = self._trials

  @property
  def numbers(self) -> np.ndarray:
    """The numbers of the trials at work, rising."""
    return self._trials[self._places]

  @property
  def state(self) -> base.LearnerState:
    """The states of all trials, to be looked at, not to be donated."""
    if self._packed is not None:
      self._all = self._programs.put(self._all, self.numbers, self._packed)
    return self._all

  def choose(self, numbers: np.ndarray) -> None:
    """Lets only some trials work from now on.

    Args:
      numbers: theirs, rising.
    """
    if np.array_equal(numbers, self.numbers):
      return
    self._all, self._packed = self.state, None
    total = self._programs.num_trials
    width = num_places(len(numbers), total, self._programs.num_devices)
    if width == total:
      self._trials = np.arange(total, dtype=np.int32)
      self._places = np.asarray(numbers)
      return
    # The places to spare hold one of the trials again, which stands still there.
    self._trials = np.resize(numbers, width).astype(np.int32)
    self._places = np.arange(len(numbers))
    self._packed = self._programs.take(self._all, self._trials)

  def advance(self, until_games: int) -> programs_lib.Reached:
    """Trains those at work until each has a number of games, or is done."""
    targets = np.zeros(len(self._trials), np.int32)
    targets[self._places] = until_games
    state, reached = self._programs.advance(self._give(), targets)
    self._take_back(state)
    return jax.tree.map(lambda values: values[self._places], reached)

  def test(self, number: int) -> programs_lib.TestResult:
    """Tests those at work."""
    state, result = self._programs.test(self._give(), self._trials, number)
    self._take_back(state)
    return jax.tree.map(lambda values: values[self._places], result)

  def _give(self) -> base.LearnerState:
    return self._all if self._packed is None else self._packed

  def _take_back(self, state: base.LearnerState) -> None:
    if self._packed is None:
      self._all = state
    else:
      self._packed = state


def num_places(num_working: int, num_trials: int, num_devices: int) -> int:
  """Returns in how many places the trials at work are kept.

  >>> [num_places(n, 600, 2) for n in (600, 500, 400, 10, 1)]
  [600, 600, 480, 10, 2]
  """
  width = num_trials
  while True:
    step = num_devices * (STEP if width > 4 * STEP * num_devices else 1)
    smaller = -(-int(SHRINK * width) // step) * step
    if smaller >= width:
      smaller = width - step
    if smaller < max(num_working, step):
      return width
    width = smaller
