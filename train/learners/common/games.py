"""Many games at the same time: whose turn it is, the opponent's answers, new games.

In the shapes, `B` is the number of games in parallel, one in each lane.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import batching
from jaxgames import players
from jaxgames.players import base
from train.learners import base as base_lib
from train.learners.common import fields
from train.learners.common import sides

__all__ = ["Games", "ParallelGames"]


class Games(NamedTuple):
  """The games of one trial.

  Attributes:
    states: `[B]` the positions.
    memory: `[B]` the opponent's memory of each game.
    is_first: `[B]` bool, whether the learner moves first.
    rounds: `[B]` int32, games that ended in each lane.
    num_games: `[]` int32, games that ended in all lanes.
  """

  states: jaxgames.State
  memory: base.Memory
  is_first: chex.Array
  rounds: chex.Array
  num_games: chex.Array


class ParallelGames:
  """Plays games that start again as soon as they end.

  Without an opponent the learner plays both sides, and every turn is its own.
  """

  def __init__(
    self,
    game: jaxgames.LineGame,
    num_lanes: int,
    opponent: players.Player | None,
    starts: fields.Starts,
  ):
    """Prepares the games.

    Args:
      game: the rules.
      num_lanes: `B`.
      opponent: the player on the other side; none in self-play.
      starts: the games in which the learner moves first.
    """
    self._game = game
    self._num_lanes = num_lanes
    self._opponent = opponent
    self._starts = starts

  @classmethod
  def of_task(
    cls, task: base_lib.Task, opponent: players.Player | None, starts: fields.Starts
  ) -> "ParallelGames":
    """Returns the games of a task; in self-play the learner has the first side."""
    starts = starts if opponent is not None else "always"
    return cls(task.game, task.parallel_games, opponent, starts)

  def init(
    self,
    key_memory: chex.PRNGKey | None = None,
    key_starts: chex.PRNGKey | None = None,
  ) -> Games:
    """Returns games before their first move.

    Args:
      key_memory: consumed; needed only with an opponent.
      key_starts: consumed; needed only where sides are drawn at random.
    """
    rounds = jnp.zeros(self._num_lanes, jnp.int32)
    return Games(
      states=batching.repeat(self._game.init(), self._num_lanes),
      memory=self._new_memory(key_memory, rounds),
      is_first=sides.draw(self._starts, key_starts, rounds),
      rounds=rounds,
      num_games=jnp.int32(0),
    )

  def is_learners_turn(self, games: Games) -> jax.Array:
    """Returns `[B]` bool."""
    if self._opponent is None:
      return jnp.ones_like(games.is_first)
    return sides.is_turn(games.states.num_moves, games.is_first)

  @jax.named_scope("answer")
  def answer(
    self, games: Games, key: chex.PRNGKey, player: players.Player | None = None
  ) -> Games:
    """Makes the opponent's move in every game in which it is the opponent's turn.

    Args:
      games: some of which may be over; those stay as they are.
      key: consumed.
      player: moves in the opponent's place, with its memory; by default the opponent.
    """
    player = player or self._opponent
    assert player is not None, "in self-play nobody answers"
    keys = jax.random.split(key, self._num_lanes)
    actions = jax.vmap(player.act)(games.memory, games.states, keys)
    after = jax.vmap(self._game.step)(games.states, actions)
    is_theirs = ~self.is_learners_turn(games) & ~games.states.is_over
    return games._replace(states=batching.where(is_theirs, after, games.states))

  @jax.named_scope("rules")
  def restart(self, games: Games, key: chex.PRNGKey | None = None) -> Games:
    """Counts the games that are over, and begins new ones in their lanes.

    Args:
      games: all of them.
      key: consumed; needed only where the keys of `init` are.
    """
    key_memory, key_starts = (None, None) if key is None else jax.random.split(key)
    is_over = games.states.is_over
    rounds = games.rounds + is_over.astype(jnp.int32)
    new = Games(
      states=batching.repeat(self._game.init(), self._num_lanes),
      memory=self._new_memory(key_memory, rounds),
      is_first=sides.draw(self._starts, key_starts, rounds),
      rounds=rounds,
      num_games=games.num_games + is_over.sum(dtype=jnp.int32),
    )
    return new._replace(
      states=batching.where(is_over, new.states, games.states),
      memory=batching.where(is_over, new.memory, games.memory),
      is_first=jnp.where(is_over, new.is_first, games.is_first),
    )

  def observe(self, states: jaxgames.State) -> jax.Array:
    """Returns `[B, num_cells]` int8, the boards seen by the player to move."""
    return jax.vmap(self._game.observe)(states).reshape(self._num_lanes, -1)

  def _new_memory(self, key: chex.PRNGKey | None, rounds: jax.Array) -> base.Memory:
    """Returns `[B]` the opponent's memory of the next game of every lane."""
    if self._opponent is None:
      return ()
    assert key is not None, "an opponent needs random numbers"
    keys = jax.random.split(key, self._num_lanes)
    numbers = jnp.arange(self._num_lanes, dtype=jnp.int32) + self._num_lanes * rounds
    return jax.vmap(self._opponent.begin)(keys, numbers)
