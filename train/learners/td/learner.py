"""Temporal differences on afterstates: the ttt3d paper, Algorithm 1.

Many games share one network. In every step each game moves by the same network; then
one step of gradient descent moves the value of each game's previous afterstate towards
the value of the present one, and with traces, TD(lambda), the values of the afterstates
before it too. In self-play a step is one ply, and both sides update; against a player
it is the learner's ply and the answer, and only the learner's afterstates are updated.

In the shapes, `B` is the number of games in parallel.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import batching
from jaxgames import players
from jaxgames.players import value_greedy
from train.learners import base
from train.learners.common import counting
from train.learners.common import descent
from train.learners.common import games as games_lib
from train.learners.common import learner as learner_lib
from train.learners.common import minibatches
from train.learners.td import agent
from train.learners.td import settings as td_settings
from train.learners.td import updates as updates_lib

__all__ = ["TdLearner", "TdState"]


class Counts(NamedTuple):
  """Sums since the last report, all `[]` float32.

  Attributes:
    squared_errors: of the temporal differences.
    num_errors: how many there were.
    games: those that ended.
  """

  squared_errors: chex.Array
  num_errors: chex.Array
  games: counting.GameCounts


class TdState(NamedTuple):
  """One trial.

  Attributes:
    params: of the network.
    optimizer: its state.
    key: of all randomness to come.
    games: `[B]` in play.
    previous: each side's last afterstate, with its trace; of weight 0 if there is none.
    pending: the updates that ended games are still to make, in this order.
    counts: for the next report.
  """

  params: chex.ArrayTree
  optimizer: chex.ArrayTree
  key: chex.PRNGKey
  games: games_lib.Games
  previous: tuple[updates_lib.Updates, ...]
  pending: tuple[updates_lib.Updates, ...]
  counts: Counts


class _Move(NamedTuple):
  """The learner's move in every game.

  Attributes:
    states: `[B]` the positions after it.
    is_made: `[B]` bool, whether it was the learner's turn.
    side: `[B]` int32, the side that moved, an index into `TdState.previous`.
    boards: `[B, num_cells]` int8, the afterstates, seen by the mover.
    targets: `[B]` float32, for the value of the side's previous afterstate.
    has_target: `[B]` bool, false where the previous afterstate is not to be updated.
  """

  states: jaxgames.State
  is_made: chex.Array
  side: chex.Array
  boards: chex.Array
  targets: chex.Array
  has_target: chex.Array


class _Online(NamedTuple):
  """What a step of gradient descent changes; see `TdState` and `Counts`."""

  params: chex.ArrayTree
  optimizer: chex.ArrayTree
  squared_errors: chex.Array
  num_errors: chex.Array


class TdLearner(learner_lib.NetworkLearner):
  """Learns a value network by temporal differences."""

  def __init__(self, task: base.Task, settings: td_settings.Settings):
    self.settings = settings
    self.game = task.game
    self.network = agent.make_network(task.game, settings.network)
    self.num_lanes = task.parallel_games
    self.minibatch = minibatches.check_size(settings.minibatch, self.num_lanes)
    self.opponent = task.make_opponent()
    self.games = games_lib.ParallelGames.of_task(task, self.opponent, settings.starts)
    self.descent = descent.Descent(
      settings.optimizer,
      settings.learning_rate,
      settings.final_learning_rate,
      task.num_games,
      None if settings.layer_rates is None else self._scale_layers,
    )
    by_default = "at_once" if self.num_lanes == 1 else "spread"
    self.is_spread = (settings.terminal_steps or by_default) == "spread"

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> TdState:
    del opponent  # There is one.
    key, key_params, key_memory, key_starts = jax.random.split(key, 4)
    boards = jnp.zeros((self.num_lanes, self.game.num_cells), jnp.int8)
    params = self.network.init(key_params, boards)
    no_updates = updates_lib.empty(
      self.num_lanes, self.settings.trace_length, self.game.num_cells
    )
    # In self-play both sides update, and both have a last update when a game ends.
    num_sides = 2 if self.opponent is None else 1
    return TdState(
      params=params,
      optimizer=self.descent.init(params),
      key=key,
      games=self.games.init(key_memory, key_starts),
      previous=(no_updates,) * num_sides,
      pending=(no_updates,) * num_sides,
      counts=Counts(
        jnp.float32(0), jnp.float32(0), counting.zeros(counting.GameCounts)
      ),
    )

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return agent.make_agent(self.game, self.settings, parameters)

  # Algorithm 1: move, update the previous afterstate, remember the new one.

  def _step(self, state: TdState) -> TdState:
    keys = jax.random.split(state.key, 4)
    key, key_move, key_answer, key_restart = (keys[i] for i in range(4))
    state = state._replace(key=key)
    move = self._move(state, key_move)
    updates, state = self._due_updates(state, move)
    state = self._update(state, updates)
    state = self._remember(state, move)
    if self.opponent is not None:
      state = self._answer(state, key_answer)
    state = self._restart(state, key_restart)
    return state if self.is_spread else self._update_ends(state)

  @jax.named_scope("move")
  def _move(self, state: TdState, key: chex.PRNGKey) -> _Move:
    """Moves in every game, and computes the targets that follow (equation 3)."""
    game, states, settings = self.game, state.games.states, self.settings
    tables = self.network.apply(state.params, self.num_lanes, method="tables")
    values = value_greedy.afterstate_values(self.network, state.params, tables, states)
    best = value_greedy.greedy_actions(
      value_greedy.preferences(game, values, states, counts_wins=settings.counts_wins)
    )
    actions, is_random = self._explore(states, best, key)

    is_mine = self.games.is_learners_turn(state.games)
    with jax.named_scope("rules"):
      after = jax.vmap(game.step)(states, actions)
    after = batching.where(is_mine, after, states)
    rule = settings.exploration_target
    target_actions = best if rule == "greedy" else actions
    targets = settings.discount * batching.pick(values, target_actions)
    if not settings.updates_terminal:
      reward = jnp.where(after.winner != 0, 1.0, 0.0)
      targets = jnp.where(after.is_over, reward, targets)
    return _Move(
      states=after,
      is_made=is_mine,
      side=states.num_moves % 2 if self.opponent is None else 0 * states.num_moves,
      # The mover sees its afterstate from the other side than the player to move.
      boards=-self.games.observe(after),
      targets=targets,
      has_target=is_mine & ~is_random if rule == "none" else is_mine,
    )

  @jax.named_scope("random")
  def _explore(
    self, states: jaxgames.State, best: jax.Array, key: chex.PRNGKey
  ) -> tuple[jax.Array, jax.Array]:
    """Returns the actions, some of them random, and which are."""
    key_whether, key_which = jax.random.split(key)
    draws = jax.random.uniform(key_whether, (self.num_lanes,))
    is_random = draws < self.settings.epsilon
    random = jax.random.bits(key_which, (self.num_lanes,), jnp.uint32)
    random_actions = jax.vmap(players.Random(self.game).choose)(states, random)
    return jnp.where(is_random, random_actions, best), is_random

  @jax.named_scope("memory")
  def _due_updates(
    self, state: TdState, move: _Move
  ) -> tuple[updates_lib.Updates, TdState]:
    """Returns the update of each game in this step: one afterstate, or none."""
    previous = updates_lib.of_side(state.previous, move.side)
    has_previous = move.is_made & previous.is_present
    updates = previous._replace(targets=move.targets)
    updates = updates.only_where(has_previous & move.has_target)
    if not self.is_spread:
      return updates, state
    late, pending = updates_lib.pop_first(~has_previous, state.pending)
    updates = batching.where(has_previous, updates, late)
    return updates, state._replace(pending=pending)

  @jax.named_scope("update")
  def _update(self, state: TdState, updates: updates_lib.Updates) -> TdState:
    """Moves values towards the targets of all games, minibatch by minibatch."""
    counts = state.counts
    online = _Online(
      state.params, state.optimizer, counts.squared_errors, counts.num_errors
    )
    descend = functools.partial(self._descend, state.games.num_games)
    online = minibatches.scan(descend, online, updates, self.minibatch)
    return state._replace(
      params=online.params,
      optimizer=online.optimizer,
      counts=counts._replace(
        squared_errors=online.squared_errors, num_errors=online.num_errors
      ),
    )

  def _descend(
    self, num_games: jax.Array, online: _Online, updates: updates_lib.Updates
  ) -> _Online:
    """Takes one step of gradient descent on the updates of some games (equation 4)."""
    is_present = updates.is_present

    def loss(params: chex.ArrayTree) -> tuple[jax.Array, jax.Array]:
      boards = updates.boards.reshape(-1, self.game.num_cells)
      values = jnp.asarray(self.network.apply(params, boards))
      values = values.reshape(updates.weights.shape)
      # The error of the newest board is what all boards of its trace are moved by:
      # of a single board, this is the gradient of half the squared error.
      errors = updates.targets - jax.lax.stop_gradient(values[:, 0])
      share = 1.0 if self.settings.gradient == "sum" else 1.0 / self.minibatch
      steps = updates.weights * errors[:, None] * values
      return -share * steps.sum(), jnp.where(is_present, errors**2, 0.0).sum()

    gradient, squares = jax.grad(loss, has_aux=True)(online.params)
    params, optimizer = self.descent.step(
      gradient, online.optimizer, online.params, num_games
    )
    return _Online(
      params=params,
      optimizer=optimizer,
      squared_errors=online.squared_errors + squares,
      num_errors=online.num_errors + is_present.sum(dtype=jnp.float32),
    )

  def _scale_layers(self, steps: chex.ArrayTree) -> chex.ArrayTree:
    """Returns steps of gradient descent with the rates of their layers."""
    rates = self.settings.layer_rates
    assert rates is not None
    layers = self.network.layer_numbers(steps)
    return jax.tree.map(lambda step, layer: rates[layer] * step, steps, layers)

  def _update_ends(self, state: TdState) -> TdState:
    """Makes the updates of ended games at once, one step of descent for each side."""
    everywhere = state.games.states.num_moves >= 0
    for _ in state.pending:
      updates, pending = updates_lib.pop_first(everywhere, state.pending)
      state = self._update(state._replace(pending=pending), updates)
    return state

  @jax.named_scope("memory")
  def _remember(self, state: TdState, move: _Move) -> TdState:
    """Keeps the new afterstates, and the last updates of games that have ended."""
    settings = self.settings
    reward = jnp.where(move.states.winner != 0, 1.0, 0.0)
    before = updates_lib.of_side(state.previous, move.side)
    # A trace ends at a move that gave no target.
    decay = jnp.where(move.has_target, settings.discount * settings.trace, 0.0)
    mine = updates_lib.extend_trace(before, move.boards, decay)
    mine = mine._replace(targets=reward)
    is_end = move.is_made & move.states.is_over
    ends = [mine.only_where(jnp.full_like(is_end, settings.updates_terminal))]
    if self.opponent is None:
      theirs = updates_lib.of_side(state.previous, 1 - move.side)
      # The loser's update comes first.
      ends.insert(0, theirs._replace(targets=-reward))
    return state._replace(
      games=state.games._replace(states=move.states),
      previous=updates_lib.replace_side(state.previous, move.side, move.is_made, mine),
      pending=batching.where(is_end, tuple(ends), state.pending),
    )

  @jax.named_scope("answer")
  def _answer(self, state: TdState, key: chex.PRNGKey) -> TdState:
    """Makes the opponent's moves; the games that they end have a last update."""
    games = self.games.answer(state.games, key)
    is_end = games.states.is_over & ~state.games.states.is_over
    # The learner's last afterstate led to this; if it has not moved yet, none did.
    (mine,) = state.previous
    end = mine._replace(targets=jnp.where(games.states.winner != 0, -1.0, 0.0))
    return state._replace(
      games=games, pending=batching.where(is_end, (end,), state.pending)
    )

  @jax.named_scope("rules")
  def _restart(self, state: TdState, key: chex.PRNGKey) -> TdState:
    """Counts the games that have ended, and begins new ones in their place."""
    games, is_over = state.games, state.games.states.is_over
    ended = counting.count_ended(state.counts.games, games.states, games.is_first)
    return state._replace(
      games=self.games.restart(games, key),
      previous=tuple(side.only_where(~is_over) for side in state.previous),
      counts=state.counts._replace(games=ended),
    )

  def _metrics(self, state: TdState) -> base.Metrics:
    counts = state.counts
    wins = "first_wins" if self.opponent is None else "wins_in_training"
    return {
      "td_error": jnp.sqrt(counts.squared_errors / counts.num_errors),
      **counting.game_metrics(counts.games, wins),
    }
