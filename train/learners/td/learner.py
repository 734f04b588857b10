"""Temporal differences on afterstates: the ttt3d paper, Algorithm 1.

Many games share one network. At every turn each game moves by the same network, then
one step of gradient descent teaches each game's previous afterstate the value of the
present one, and with traces, TD(lambda), a part of it to the afterstates before. In
self-play a turn is one ply, and both sides teach; against a player it is the learner's
ply and the answer, and only the learner's afterstates teach.

In the shapes, `B` is the number of games in parallel.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import batching
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import value_greedy
from train import config as config_lib
from train.learners.common import descent
from train.learners.common import sides
from train.learners.td import settings as td_settings
from train.learners.td import updates as updates_lib

__all__ = ["TdLearner", "TdState"]


class Tally(NamedTuple):
  """Sums since the last report, all float32.

  Attributes:
    squared_errors: of the temporal differences.
    num_errors: how many there were.
    num_games: games that ended.
    num_moves: their lengths.
    num_wins: won by the learner; in self-play, by the first player.
    num_draws: drawn.
  """

  squared_errors: chex.Array
  num_errors: chex.Array
  num_games: chex.Array
  num_moves: chex.Array
  num_wins: chex.Array
  num_draws: chex.Array


class TdState(NamedTuple):
  """One trial.

  Attributes:
    params: of the network.
    optimizer: its state.
    key: of all randomness to come.
    games: `[B]` the positions.
    memory: `[B]` what the opponent keeps in mind.
    is_first: `[B]` bool, whether the learner moves first; in self-play, all true.
    previous: each side's last afterstate, with its trace; of weight 0 if there is none.
    pending: what ended games have still to teach, in this order.
    rounds: `[B]` int32, games that ended in each lane.
    num_games: `[]` int32, games that ended in all lanes.
    tally: for the next report.
  """

  params: chex.ArrayTree
  optimizer: chex.ArrayTree
  key: chex.PRNGKey
  games: jaxgames.State
  memory: base.Memory
  is_first: chex.Array
  previous: tuple[updates_lib.Lessons, ...]
  pending: tuple[updates_lib.Lessons, ...]
  rounds: chex.Array
  num_games: chex.Array
  tally: Tally


class _Move(NamedTuple):
  """The learner's move in every game.

  Attributes:
    games: `[B]` the positions after it.
    is_made: `[B]` bool, whether it was the learner's turn.
    side: `[B]` int32, the side that moved, an index into `TdState.previous`.
    boards: `[B, num_cells]` int8, the afterstates, seen by the mover.
    targets: `[B]` float32, what the side's previous afterstate is taught.
    is_taught: `[B]` bool, false where there is nothing to teach.
  """

  games: jaxgames.State
  is_made: chex.Array
  side: chex.Array
  boards: chex.Array
  targets: chex.Array
  is_taught: chex.Array


class TdLearner:
  """Learns a value network by temporal differences."""

  def __init__(self, config: config_lib.RunConfig):
    settings = config.learner.settings
    assert isinstance(settings, td_settings.Settings)
    self.settings = settings
    self.game = jaxgames.make(config.game)
    self.network = settings.network.make(self.game)
    self.num_lanes = config.parallel_games
    (opponent,) = config.opponents.values()
    self.opponent = None if opponent == "self" else players.make(self.game, opponent)
    self.seats = sides.Seats(self.opponent, self.num_lanes, settings.starts)
    self.descent = descent.Descent(
      settings.optimizer,
      settings.learning_rate,
      settings.final_learning_rate,
      config.games,
    )
    by_default = "at_once" if self.num_lanes == 1 else "spread"
    self.is_spread = (settings.terminal_steps or by_default) == "spread"

  # What the loop asks for.

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> TdState:
    del opponent  # There is one.
    key, key_params, key_begin, key_starts = jax.random.split(key, 4)
    nothing = jnp.zeros((self.num_lanes, self.game.num_cells), jnp.int8)
    params = self.network.init(key_params, nothing)
    # In self-play both sides teach, and at the end of a game both have a last lesson.
    num_sides = 2 if self.opponent is None else 1
    no_lessons = updates_lib.none(
      self.num_lanes, self.settings.trace_length, self.game.num_cells
    )
    rounds = jnp.zeros(self.num_lanes, jnp.int32)
    return TdState(
      params=params,
      optimizer=self.descent.init(params),
      key=key,
      games=batching.repeat(self.game.init(), self.num_lanes),
      memory=self.seats.begin(key_begin, rounds),
      is_first=self.seats.draw(key_starts, rounds),
      previous=(no_lessons,) * num_sides,
      pending=(no_lessons,) * num_sides,
      rounds=rounds,
      num_games=jnp.int32(0),
      tally=Tally(*[jnp.float32(0)] * len(Tally._fields)),
    )

  def turn(self, state: TdState, goes_on: chex.Array) -> TdState:
    after = self._turn(state)
    return jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), after, state)

  def num_games(self, state: TdState) -> jax.Array:
    return state.num_games

  def is_done(self, state: TdState) -> jax.Array:
    del state
    return jnp.bool_(False)

  def report(self, state: TdState) -> tuple[TdState, dict[str, jax.Array]]:
    tally = state.tally
    wins = "first_wins" if self.opponent is None else "wins_in_training"
    metrics = {
      "td_error": jnp.sqrt(tally.squared_errors / tally.num_errors),
      "game_length": tally.num_moves / tally.num_games,
      wins: tally.num_wins / tally.num_games,
      "draws_in_training": tally.num_draws / tally.num_games,
    }
    return state._replace(tally=jax.tree.map(jnp.zeros_like, tally)), metrics

  def player(self, state: TdState) -> players.Player:
    tables = self.network.apply(state.params, method="tables")
    return value_greedy.ValueGreedy(
      self.network, state.params, tables, self.settings.counts_wins
    )

  def parameters(self, state: TdState) -> chex.ArrayTree:
    return state.params

  # One turn of every game.

  def _turn(self, state: TdState) -> TdState:
    keys = jax.random.split(state.key, 4)
    key, key_move, key_answer, key_restart = (keys[i] for i in range(4))
    state = state._replace(key=key)
    move = self._move(state, key_move)
    lessons, state = self._collect(state, move)
    state = self._teach(state, lessons)
    state = self._record(state, move)
    if self.opponent is not None:
      state = self._answer(state, key_answer)
    state = self._restart(state, key_restart)
    if not self.is_spread:
      for _ in state.pending:
        everywhere = state.games.num_moves >= 0
        ends, pending = updates_lib.take_first(everywhere, state.pending)
        state = self._teach(state._replace(pending=pending), ends)
    return state

  def _move(self, state: TdState, key: chex.PRNGKey) -> _Move:
    """Moves in every game, and says what the move teaches."""
    game, games, settings = self.game, state.games, self.settings
    tables = self.network.apply(state.params, method="tables")
    values = value_greedy.afterstate_values(self.network, state.params, tables, games)
    preferred = values
    if settings.counts_wins:
      wins = jax.vmap(functools.partial(value_greedy.winning_actions, game))(games)
      preferred = jnp.where(wins, 1.0, values)
    is_legal = jax.vmap(game.legal_actions)(games)
    best = jnp.argmax(jnp.where(is_legal, preferred, -jnp.inf), axis=1)
    best = best.astype(jnp.int32)
    actions, is_random = self._explore(games, best, key)

    is_mine = self.seats.is_mine(state.is_first, games.num_moves)
    after = jax.vmap(game.step)(games, actions)
    after = batching.where(is_mine, after, games)
    kind = settings.exploration_teaches
    taught_actions = best if kind == "greedy" else actions
    targets = settings.discount * batching.pick(values, taught_actions)
    if not settings.teaches_terminal:
      reward = jnp.where(after.winner != 0, 1.0, 0.0)
      targets = jnp.where(after.is_over, reward, targets)
    is_taught = is_mine & ~is_random if kind == "nothing" else is_mine
    return _Move(
      games=after,
      is_made=is_mine,
      side=games.num_moves % 2 if self.opponent is None else 0 * games.num_moves,
      # The mover sees its afterstate as the opponent's other side.
      boards=-jax.vmap(game.observe)(after).reshape(self.num_lanes, -1),
      targets=targets,
      is_taught=is_taught,
    )

  def _explore(
    self, games: jaxgames.State, best: jax.Array, key: chex.PRNGKey
  ) -> tuple[jax.Array, jax.Array]:
    """Returns the actions, some of them random, and which are."""
    key_whether, key_which = jax.random.split(key)
    draws = jax.random.uniform(key_whether, (self.num_lanes,))
    is_random = draws < self.settings.epsilon
    player = players.Random(self.game)
    anything = jax.vmap(functools.partial(player.act, ()))(
      games, jax.random.split(key_which, self.num_lanes)
    )
    return jnp.where(is_random, anything, best), is_random

  def _collect(
    self, state: TdState, move: _Move
  ) -> tuple[updates_lib.Lessons, TdState]:
    """Returns what each game teaches at this turn: one afterstate, or nothing."""
    previous = updates_lib.by_side(state.previous, move.side)
    has_previous = move.is_made & previous.are_there
    lessons = previous._replace(targets=move.targets)
    lessons = lessons.only_where(has_previous & move.is_taught)
    if not self.is_spread:
      return lessons, state
    late, pending = updates_lib.take_first(~has_previous, state.pending)
    lessons = batching.where(has_previous, lessons, late)
    return lessons, state._replace(pending=pending)

  def _teach(self, state: TdState, lessons: updates_lib.Lessons) -> TdState:
    """Takes one step of gradient descent on all games' lessons (equation 4)."""
    is_there = lessons.are_there

    def loss(params: chex.ArrayTree) -> tuple[jax.Array, jax.Array]:
      boards = lessons.boards.reshape(-1, self.game.num_cells)
      values = jnp.asarray(self.network.apply(params, boards))
      values = values.reshape(lessons.weights.shape)
      # The error of the newest board is what all boards of its trace are moved by:
      # of a single board, this is the gradient of half the squared error.
      errors = lessons.targets - jax.lax.stop_gradient(values[:, 0])
      share = 1.0 if self.settings.gradient == "sum" else 1.0 / self.num_lanes
      steps = lessons.weights * errors[:, None] * values
      return -share * steps.sum(), jnp.where(is_there, errors**2, 0.0).sum()

    gradient, squares = jax.grad(loss, has_aux=True)(state.params)
    params, optimizer = self.descent.step(
      gradient, state.optimizer, state.params, state.num_games
    )
    tally = state.tally
    return state._replace(
      params=params,
      optimizer=optimizer,
      tally=tally._replace(
        squared_errors=tally.squared_errors + squares,
        num_errors=tally.num_errors + is_there.sum(dtype=jnp.float32),
      ),
    )

  def _record(self, state: TdState, move: _Move) -> TdState:
    """Remembers the afterstates, and what the ends of games have to teach."""
    settings = self.settings
    reward = jnp.where(move.games.winner != 0, 1.0, 0.0)
    before = updates_lib.by_side(state.previous, move.side)
    # What a move did not teach, later moves do not teach past it.
    decay = jnp.where(move.is_taught, settings.discount * settings.trace, 0.0)
    mine = updates_lib.remember(before, move.boards, decay)._replace(targets=reward)
    is_end = move.is_made & move.games.is_over
    ends = [mine.only_where(jnp.full_like(is_end, settings.teaches_terminal))]
    if self.opponent is None:
      theirs = updates_lib.by_side(state.previous, 1 - move.side)
      # The loser's lesson first.
      ends.insert(0, theirs._replace(targets=-reward))
    return state._replace(
      games=move.games,
      previous=updates_lib.put_by_side(state.previous, move.side, move.is_made, mine),
      pending=batching.where(is_end, tuple(ends), state.pending),
    )

  def _answer(self, state: TdState, key: chex.PRNGKey) -> TdState:
    """Lets the opponent move where it is its turn."""
    assert self.opponent is not None
    keys = jax.random.split(key, self.num_lanes)
    actions = jax.vmap(self.opponent.act)(state.memory, state.games, keys)
    after = jax.vmap(self.game.step)(state.games, actions)
    is_mine = self.seats.is_mine(state.is_first, state.games.num_moves)
    is_theirs = ~is_mine & ~state.games.is_over
    after = batching.where(is_theirs, after, state.games)
    # The learner's last afterstate led to this; if it has not moved yet, none did.
    (mine,) = state.previous
    end = mine._replace(targets=jnp.where(after.winner != 0, -1.0, 0.0))
    is_end = is_theirs & after.is_over
    return state._replace(
      games=after, pending=batching.where(is_end, (end,), state.pending)
    )

  def _restart(self, state: TdState, key: chex.PRNGKey) -> TdState:
    """Counts the games that have ended, and begins new ones in their place."""
    key_begin, key_starts = jax.random.split(key)
    ended, games = state.games.is_over, state.games
    rounds = state.rounds + ended.astype(jnp.int32)
    sign = jnp.where(state.is_first, jnp.int8(1), jnp.int8(-1))
    empty = batching.repeat(self.game.init(), self.num_lanes)
    memory = self.seats.begin(key_begin, rounds)
    tally = state.tally

    def total(values: jax.Array) -> jax.Array:
      return jnp.where(ended, values.astype(jnp.float32), 0.0).sum()

    return state._replace(
      games=batching.where(ended, empty, games),
      memory=batching.where(ended, memory, state.memory),
      is_first=jnp.where(ended, self.seats.draw(key_starts, rounds), state.is_first),
      previous=tuple(side.only_where(~ended) for side in state.previous),
      rounds=rounds,
      num_games=state.num_games + ended.sum(dtype=jnp.int32),
      tally=tally._replace(
        num_games=tally.num_games + total(ended),
        num_moves=tally.num_moves + total(games.num_moves),
        num_wins=tally.num_wins + total(games.winner == sign),
        num_draws=tally.num_draws + total(games.winner == 0),
      ),
    )
