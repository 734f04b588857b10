"""What a learner is: all that the loop knows of it."""

from typing import Any, Protocol

import chex
import jax

from jaxgames import game as game_lib
from jaxgames import players

__all__ = ["Learner", "LearnerState", "Metrics"]

# A pytree with everything of one trial that affects its future: parameters, optimizer,
# keys, games in play, replay, counters.
LearnerState = Any

# Scalars by name, averages since they were last asked for.
Metrics = dict[str, jax.Array]


class Learner(Protocol):
  """A way to learn, for one trial; `jax.vmap` makes it many.

  All methods are pure and compiled. How often `advance` is called on the way to a
  number of games makes no difference to the bits of the result.
  """

  @property
  def game(self) -> game_lib.LineGame:
    """The game that is learnt."""
    ...

  def init(self, key: chex.PRNGKey) -> LearnerState:
    """Returns the start of a trial. The key is consumed."""
    ...

  def advance(self, state: LearnerState, until_games: chex.Array) -> LearnerState:
    """Trains until at least a number of games is finished, and not a ply longer.

    Args:
      state: one trial.
      until_games: `[]` int32; a trial that has as many already is returned unchanged.
    """
    ...

  def num_games(self, state: LearnerState) -> jax.Array:
    """Returns `[]` int32, the number of finished games."""
    ...

  def report(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
    """Returns the metrics since the last report, and the state with them cleared."""
    ...

  def player(self, state: LearnerState) -> players.Player:
    """Returns the greedy agent."""
    ...

  def parameters(self, state: LearnerState) -> chex.ArrayTree:
    """Returns what was learnt, for fingerprints and for those who only want to play."""
    ...
