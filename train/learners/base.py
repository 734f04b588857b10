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

  All methods are pure and compiled.
  """

  @property
  def game(self) -> game_lib.LineGame:
    """The game that is learnt."""
    ...

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> LearnerState:
    """Returns the start of a trial.

    Args:
      key: consumed.
      opponent: `[]` int32, which of `config.opponents` the trial is to train against.
    """
    ...

  def turn(self, state: LearnerState, goes_on: chex.Array) -> LearnerState:
    """Trains for the shortest time that there is: a ply, or a game.

    Args:
      state: one trial.
      goes_on: `[]` bool; if false, the state is returned unchanged. (Trials that have
        reached their target wait for others. A learner knows best how to stand still
        without copying all it has.)
    """
    ...

  def num_games(self, state: LearnerState) -> jax.Array:
    """Returns `[]` int32, the number of finished games."""
    ...

  def is_done(self, state: LearnerState) -> jax.Array:
    """Returns `[]` bool, whether there is nothing left to learn; then it stays so."""
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
