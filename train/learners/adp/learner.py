"""Adaptive dynamic programming with a critic: the gomoku paper.

Many games share one critic, the chance that player 1 wins. Player 1, who moves first in
every other game, makes the move with the highest value, player 2 the one with the lowest.
After each move the value of the position before it is updated towards that of the one
after it, and the value of the last position of a game towards the result.

In the shapes, `B` is the number of games in parallel.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax

import jaxgames
from jaxgames import batching
from jaxgames import bits
from jaxgames import networks
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import critic_greedy
from jaxgames.players import value_greedy
from train.learners import base as learner_base
from train.learners.adp import agent
from train.learners.adp import settings as adp_settings
from train.learners.adp import updates as updates_lib
from train.learners.common import counting
from train.learners.common import games as games_lib
from train.learners.common import learner as learner_lib
from train.learners.common import minibatches
from train.learners.common import schedule
from train.learners.common import sides

__all__ = ["AdpLearner", "AdpState"]

# The first two moves of each side are not judged as correct or not (section 4.2).
NUM_OPENING_MOVES = 4


class Counts(NamedTuple):
  """Sums since the last report, float32.

  Attributes:
    squared_errors: `[]` of the updates, before they are made.
    num_errors: `[]` how many there were.
    games: those that ended; wins are player 1's.
    num_first_wins: `[]` games won by the player who moved first.
    num_choices: `[2]` moves of player 1 and of player 2 that count: neither random nor
      among the first.
    num_correct: `[2]` of them, those that the expert would make.
  """

  squared_errors: chex.Array
  num_errors: chex.Array
  games: counting.GameCounts
  num_first_wins: chex.Array
  num_choices: chex.Array
  num_correct: chex.Array


class AdpState(NamedTuple):
  """One trial.

  Attributes:
    params: of the critic.
    expert: the player whose moves are the correct ones, if there is one.
    key: of all randomness to come.
    games: `[B]` in play; player 1 is the side that may be first or not.
    shapes: `[B, 2, S]` int32, the numbers of shapes of player 1 and player 2.
    transitions: `[B]` of the last moves, for the updates of the next step.
    last: `[B]` of the last games' ends, for the updates of the step in which the first
      move of the next game is made, which has no transition of its own.
    counts: for the next report.
  """

  params: chex.ArrayTree
  expert: players.Player | None
  key: chex.PRNGKey
  games: games_lib.Games
  shapes: chex.Array
  transitions: updates_lib.Transitions
  last: updates_lib.Transitions
  counts: Counts


class _Choice(NamedTuple):
  """A move in every game.

  Attributes:
    cells: `[B]` int32, what is played.
    is_random: `[B]` bool, whether it was drawn at random.
    is_correct: `[B]` bool, whether what the critic prefers is what the expert does.
  """

  cells: chex.Array
  is_random: chex.Array
  is_correct: chex.Array


class AdpLearner(learner_lib.NetworkLearner):
  """Learns a critic of positions by self-teaching, or by watching an expert."""

  def __init__(self, task: learner_base.Task, settings: adp_settings.Settings):
    game = task.game
    if game.gravity or len(game.shape) != 2:
      raise ValueError(
        f"game has a board of shape {game.shape}{' with gravity' * game.gravity}, but "
        "learner adp plays on boards with two axes where stones do not fall, as gomoku"
      )
    task.require_self_play("adp", " or watches learner.expert")
    self.settings = settings
    self.game = game
    self.critic = agent.make_critic(game, settings.network)
    self.num_lanes = task.parallel_games
    self.minibatch = minibatches.check_size(settings.minibatch, self.num_lanes)
    self.games = games_lib.ParallelGames(game, self.num_lanes, None, "alternate")
    self.expert = _make_expert(task, settings.expert)
    # A step is l alpha^2 times the error, equations 11 and 14.
    scale, final = settings.alpha**2, settings.final_learning_rate
    self.rate_fn = schedule.linear(
      settings.learning_rate * scale, final and final * scale, task.num_games
    )

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> AdpState:
    del opponent  # There is one.
    key, key_params = jax.random.split(key)
    num_inputs = self.critic.num_inputs
    zero, two_zeros = jnp.float32(0), jnp.zeros(2, jnp.float32)
    no_transitions = updates_lib.empty(self.num_lanes, num_inputs)
    return AdpState(
      params=self.critic.init(key_params, jnp.zeros((1, num_inputs), jnp.float32)),
      expert=self.expert,
      key=key,
      games=self.games.init(),
      shapes=jnp.zeros((self.num_lanes, 2, len(self.critic.drawings)), jnp.int32),
      transitions=no_transitions,
      last=no_transitions,
      counts=Counts(
        squared_errors=zero,
        num_errors=zero,
        games=counting.zeros(counting.GameCounts),
        num_first_wins=zero,
        num_choices=two_zeros,
        num_correct=two_zeros,
      ),
    )

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return agent.make_agent(self.game, self.settings, parameters)

  # Update the critic by the last moves, then make the next ones (section 3).

  def _step(self, state: AdpState) -> AdpState:
    key, key_choose = jax.random.split(state.key)
    state = self._update(state._replace(key=key))
    situations = self._situations(state)
    choice = self._choose(state, situations, key_choose)
    before = state.games.states
    with jax.named_scope("rules"):
      states = jax.vmap(self.game.step)(before, choice.cells)
    with jax.named_scope("move"):
      after = critic_greedy.after(self.critic, before, situations, choice.cells)
    transitions, last = self._transitions(state, situations, choice, after, states)
    state = self._count(state, situations, choice, states)
    return self._restart(
      state._replace(
        games=state.games._replace(states=states),
        shapes=after.counts,
        transitions=transitions,
        last=last,
      )
    )

  @jax.named_scope("update")
  def _update(self, state: AdpState) -> AdpState:
    """Trains the critic on the transitions of all games."""
    settings = self.settings
    rate = self.rate_fn(state.games.num_games)
    if settings.gradient == "mean":
      rate = rate / self.minibatch

    def descend(
      online: tuple[chex.ArrayTree, jax.Array], transitions: updates_lib.Transitions
    ) -> tuple[chex.ArrayTree, jax.Array]:
      params, squared_errors = online
      params, errors = updates_lib.descend(
        params,
        transitions,
        rate,
        steps=settings.updates,
        is_fresh=settings.target == "fresh",
      )
      return params, squared_errors + (errors**2).sum()

    counts, transitions = state.counts, state.transitions
    if self.minibatch < self.num_lanes and settings.target == "fixed":
      # Targets are those of the moves, whichever minibatch comes first.
      transitions = updates_lib.with_fixed_targets(state.params, transitions)
    online = (state.params, counts.squared_errors)
    params, squared_errors = minibatches.scan(
      descend, online, transitions, self.minibatch
    )
    return state._replace(
      params=params,
      counts=counts._replace(
        squared_errors=squared_errors,
        num_errors=counts.num_errors + state.transitions.weights.sum(),
      ),
    )

  @jax.named_scope("move")
  def _situations(self, state: AdpState) -> networks.Situation:
    """Returns `[B]` the positions as the critic sees them."""
    games = state.games
    is_turn = sides.is_turn(games.states.num_moves, games.is_first)
    boards = self.games.observe(games.states)
    return networks.Situation(
      counts=state.shapes,
      boards=jnp.where(is_turn[:, None], boards, -boards),
      is_turn=is_turn,
      is_first=games.is_first,
    )

  @jax.named_scope("move")
  def _choose(
    self, state: AdpState, situations: networks.Situation, key: chex.PRNGKey
  ) -> _Choice:
    """Chooses a move in every game: the critic's, the expert's, or a random one."""
    settings, games = self.settings, state.games.states
    key_whether, key_which, key_expert = jax.random.split(key, 3)
    moves = critic_greedy.consider(
      self.critic, state.params, games, situations, distance=settings.distance
    )
    # Of equals the last one found.
    is_best = critic_greedy.is_best(moves, situations.is_turn)
    best = _last_of(is_best)
    if settings.takes_five:
      best = self._take_five(games, best)
    played, is_correct = best, jnp.zeros(self.num_lanes, bool)
    if state.expert is not None:
      played, is_correct = self._ask(state.expert, games, best, key_expert)
      played = played if settings.watches else best
    cells, is_random = self._explore(state, situations, moves, key_whether, key_which)
    return _Choice(jnp.where(is_random, cells, played), is_random, is_correct)

  def _take_five(self, games: jaxgames.State, cells: jax.Array) -> jax.Array:
    """Returns `[B]` int32, the last cell that completes a line, where there is one."""
    # Without gravity an action is a cell.
    is_five = jax.vmap(functools.partial(value_greedy.winning_actions, self.game))(
      games
    )
    return jnp.where(is_five.any(axis=1), _last_of(is_five), cells)

  @jax.named_scope("answer")
  def _ask(
    self,
    expert: players.Player,
    games: jaxgames.State,
    cells: jax.Array,
    key: chex.PRNGKey,
  ) -> tuple[jax.Array, jax.Array]:
    """Returns `[B]` the expert's moves, and whether others are among its choices."""
    assert base.chooses_by_position(expert)

    def ask(
      state: jaxgames.State, cell: jax.Array, key: chex.PRNGKey
    ) -> tuple[jax.Array, jax.Array]:
      choices = expert.choices(state)
      rank = base.draw(key, bits.count(choices))
      is_among = bits.unpack(choices, self.game.num_cells)[cell]
      return bits.nth(choices, rank), is_among

    return jax.vmap(ask)(games, cells, jax.random.split(key, self.num_lanes))

  @jax.named_scope("random")
  def _explore(
    self,
    state: AdpState,
    situations: networks.Situation,
    moves: critic_greedy.Moves,
    key_whether: chex.PRNGKey,
    key_which: chex.PRNGKey,
  ) -> tuple[jax.Array, jax.Array]:
    """Returns `[B]` random moves, and whether they are to be played (section 3.3)."""
    epsilon, has_random_opening = self._stage(state.games.num_games)
    is_random = jax.random.uniform(key_whether, (self.num_lanes,)) < epsilon
    states = state.games.states
    # Player 1 does not draw its first move at random if it is the first of all: then
    # there is one move, in the centre.
    is_first_of_all = situations.is_turn & situations.is_first
    is_opening = (states.num_moves < 2) & ~is_first_of_all & has_random_opening
    anywhere = jax.vmap(self.game.legal_actions)(states)
    allowed = jnp.where(is_opening[:, None], anywhere, moves.is_move)
    random = jax.random.bits(key_which, (self.num_lanes,), jnp.uint32)
    return jax.vmap(base.draw_allowed)(random, allowed), is_random | is_opening

  @jax.named_scope("memory")
  def _transitions(
    self,
    state: AdpState,
    situations: networks.Situation,
    choice: _Choice,
    after: networks.Situation,
    states: jaxgames.State,
  ) -> tuple[updates_lib.Transitions, updates_lib.Transitions]:
    """Returns the transitions for the next step, and the ends for the one after."""
    settings = self.settings
    has_begun = state.games.states.num_moves > 0
    is_updated = has_begun
    if not settings.exploration_updates:
      is_updated = is_updated & ~choice.is_random
    after_inputs = self.critic.encode(after)
    zeros = jnp.zeros(self.num_lanes, jnp.float32)
    moves = updates_lib.Transitions(
      inputs=self.critic.encode(situations),
      next_inputs=after_inputs,
      rewards=zeros,
      discounts=zeros + settings.discount,
      weights=is_updated.astype(jnp.float32),
    )
    result = sides.sign(state.games.is_first) * states.winner
    reward = jnp.where(result > 0, settings.win, settings.loss)
    ends = updates_lib.Transitions(
      inputs=after_inputs,
      next_inputs=after_inputs,
      rewards=jnp.where(result == 0, settings.draw, reward).astype(jnp.float32),
      discounts=zeros,
      weights=zeros + 1.0,
    )
    transitions = batching.where(has_begun, moves, state.last)
    return transitions, batching.where(states.is_over, ends, state.last)

  @jax.named_scope("rules")
  def _count(
    self,
    state: AdpState,
    situations: networks.Situation,
    choice: _Choice,
    states: jaxgames.State,
  ) -> AdpState:
    """Counts choices, and games that have ended."""
    counts, ended = state.counts, states.is_over
    is_late = state.games.states.num_moves >= NUM_OPENING_MOVES
    is_choice = ~choice.is_random & is_late

    def by_player(condition: jax.Array) -> jax.Array:
      players_ = (condition & situations.is_turn, condition & ~situations.is_turn)
      return jnp.stack([player.sum(dtype=jnp.float32) for player in players_])

    first_wins = counting.total(states.winner == 1, ended)
    return state._replace(
      counts=counts._replace(
        games=counting.count_ended(counts.games, states, state.games.is_first),
        num_first_wins=counts.num_first_wins + first_wins,
        num_choices=counts.num_choices + by_player(is_choice),
        num_correct=counts.num_correct + by_player(is_choice & choice.is_correct),
      ),
    )

  @jax.named_scope("rules")
  def _restart(self, state: AdpState) -> AdpState:
    """Begins new games in the place of those that have ended."""
    is_over = state.games.states.is_over
    empty = jnp.zeros_like(state.shapes)
    return state._replace(
      games=self.games.restart(state.games),
      shapes=batching.where(is_over, empty, state.shapes),
    )

  def _stage(self, num_games: chex.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the share of random moves, and whether first moves are random."""
    stages = self.settings.stages
    ends = np.cumsum([stage.games for stage in stages])[:-1].tolist()
    epsilon_fn = optax.join_schedules(
      [optax.constant_schedule(stage.epsilon) for stage in stages], ends
    )
    opening_fn = optax.join_schedules(
      [optax.constant_schedule(stage.random_opening) for stage in stages], ends
    )
    return jnp.float32(epsilon_fn(num_games)), jnp.bool_(opening_fn(num_games))

  def _metrics(self, state: AdpState) -> learner_base.Metrics:
    counts = state.counts
    num_games = counts.games.num_games
    metrics = {
      "td_error": jnp.sqrt(counts.squared_errors / counts.num_errors),
      **counting.game_metrics(counts.games, "player1_wins"),
      "first_wins": counts.num_first_wins / num_games,
      "moves_counted": counts.num_choices.sum() / num_games,
      "epsilon": self._stage(state.games.num_games)[0],
    }
    if self.expert is not None:
      correct, chosen = counts.num_correct, counts.num_choices
      metrics["correct"] = correct.sum() / chosen.sum()
      metrics["correct_player1"] = correct[0] / chosen[0]
      metrics["correct_player2"] = correct[1] / chosen[1]
    return metrics


def _make_expert(task: learner_base.Task, spec: str | None) -> players.Player | None:
  """Returns the player whose moves are the correct ones."""
  if spec is None:
    return None
  try:
    expert = task.make_player_fn(task.game, spec)
  except ValueError as error:
    raise ValueError(f"learner.expert: {error}") from error
  if not base.chooses_by_position(expert):
    raise ValueError(f"learner.expert: {spec!r} does not choose by the position alone")
  return expert


def _last_of(condition: jax.Array) -> jax.Array:
  """Returns `[B]` int32, the last of `[B, n]` places for which a condition holds."""
  last = condition.shape[1] - 1 - jnp.argmax(condition[:, ::-1], axis=1)
  return last.astype(jnp.int32)
