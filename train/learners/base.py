"""What a learner is: all that the loop knows of it, and all that it knows of a run."""

from collections.abc import Callable, Mapping
import dataclasses
from typing import Any, Protocol

import chex
import jax

from jaxgames import game as game_lib
from jaxgames import players
from train.learners.common import fields

__all__ = ["Learner", "LearnerState", "Metrics", "Task"]

# A pytree with everything of one trial that affects its future: parameters, optimizer,
# keys, games in play, replay, counters.
LearnerState = Any

# Scalars by name, averages since the last report.
Metrics = dict[str, jax.Array]


@dataclasses.dataclass(frozen=True)
class Task:
  """What is to be learned, apart from how: the settings of the learner.

  Attributes:
    game: the rules.
    opponents: players in training by name, as specs; a single one has the name "".
    num_games: games of training in each trial.
    parallel_games: games that a trial plays at the same time.
    make_player_fn: makes a player of a spec; agents of runs may have specs too.
  """

  game: game_lib.LineGame
  opponents: Mapping[str, str]
  num_games: int
  parallel_games: int = 1
  make_player_fn: Callable[[game_lib.LineGame, str], players.Player] = players.make

  def make_opponent(self) -> players.Player | None:
    """Returns the only opponent; none in self-play."""
    (spec,) = self.opponents.values()
    return None if spec == fields.SELF_PLAY else self.make_player_fn(self.game, spec)

  def require_self_play(self, kind: str, otherwise: str = "") -> None:
    """Raises a `ValueError` unless the learner plays itself.

    Args:
      kind: the learner's name.
      otherwise: what else it can do, for the error's sentence.
    """
    for spec in self.opponents.values():
      if spec != fields.SELF_PLAY:
        raise ValueError(
          f"opponent is {spec!r}, but learner {kind} plays against itself{otherwise}: "
          "it must be 'self'"
        )


class Learner(Protocol):
  """A way to learn, for one trial; `jax.vmap` makes it many.

  All methods are pure and compiled.
  """

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> LearnerState:
    """Returns the start of a trial.

    Args:
      key: consumed.
      opponent: `[]` int32, the index of the trial's opponent in `Task.opponents`.
    """
    ...

  def step(self, state: LearnerState, is_active: chex.Array) -> LearnerState:
    """Trains for the shortest time that there is: a ply, or a game.

    Args:
      state: one trial.
      is_active: `[]` bool; if false, the state is returned unchanged. (Trials that have
        reached their target wait for others. A learner knows best how to stand still
        without copying all its arrays.)
    """
    ...

  def num_games(self, state: LearnerState) -> jax.Array:
    """Returns `[]` int32, the number of finished games."""
    ...

  def is_done(self, state: LearnerState) -> jax.Array:
    """Returns `[]` bool, whether there is nothing left to learn; then it stays so."""
    ...

  def report(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
    """Returns the state with its counts cleared, and the metrics since the last report."""
    ...

  def parameters(self, state: LearnerState) -> chex.ArrayTree:
    """Returns what was learned: all that an agent needs, and what fingerprints cover."""
    ...

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    """Returns the greedy player with some parameters."""
    ...
