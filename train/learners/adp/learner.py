"""Adaptive dynamic programming with a critic: the gomoku paper.

Many games share one critic, which says how likely player 1 is to win. Player 1, who
moves first in every other game, plays what it likes best, player 2 what it likes least.
After each move the position before it is taught the value of the one after it, and the
last position of a game who has won.

In the shapes, `B` is the number of games in parallel.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import batching
from jaxgames import bits
from jaxgames import networks
from jaxgames import players
from jaxgames.gomoku import windows
from jaxgames.players import base
from jaxgames.players import critic_greedy
from jaxgames.players import value_greedy
from train import config as config_lib
from train.learners.adp import settings as adp_settings
from train.learners.adp import updates as updates_lib
from train.learners.common import schedule

__all__ = ["AdpLearner", "AdpState"]

# The first two moves of each side are not judged as correct or not (section 4.2).
NUM_OPENING_MOVES = 4


class Tally(NamedTuple):
  """Sums since the last report, all float32.

  Attributes:
    squared_errors: of the lessons, before they are taught.
    num_errors: how many there were.
    num_games: games that ended.
    num_moves: their lengths.
    num_wins: won by player 1.
    num_first_wins: won by who moved first.
    num_draws: drawn.
    num_choices: `[2]` moves of player 1 and of player 2 that count: neither random nor
      among the first.
    num_correct: `[2]` of them, those that the expert would make.
  """

  squared_errors: chex.Array
  num_errors: chex.Array
  num_games: chex.Array
  num_moves: chex.Array
  num_wins: chex.Array
  num_first_wins: chex.Array
  num_draws: chex.Array
  num_choices: chex.Array
  num_correct: chex.Array


class AdpState(NamedTuple):
  """One trial.

  Attributes:
    params: of the critic.
    expert: whose moves are the correct ones; nothing if nobody's are.
    key: of all randomness to come.
    games: `[B]` the positions.
    counts: `[B, 2, S]` int32, shapes of player 1 and player 2.
    is_first: `[B]` bool, whether player 1 moved first.
    lessons: `[B]` what the last move has to teach, with the next turn.
    last: `[B]` what the end of the last game has to teach, with the first move of the
      next one, which teaches nothing itself.
    rounds: `[B]` int32, games that ended in each lane.
    num_games: `[]` int32, games that ended in all lanes.
    tally: for the next report.
  """

  params: chex.ArrayTree
  expert: players.Player | None
  key: chex.PRNGKey
  games: jaxgames.State
  counts: chex.Array
  is_first: chex.Array
  lessons: updates_lib.Lessons
  last: updates_lib.Lessons
  rounds: chex.Array
  num_games: chex.Array
  tally: Tally


class _Choice(NamedTuple):
  """A move in every game.

  Attributes:
    cells: `[B]` int32, what is played.
    is_random: `[B]` bool, whether it was left to chance.
    is_correct: `[B]` bool, whether what the critic prefers is what the expert does.
  """

  cells: chex.Array
  is_random: chex.Array
  is_correct: chex.Array


class AdpLearner:
  """Learns a critic of positions by self-teaching, or by watching an expert."""

  def __init__(self, config: config_lib.RunConfig):
    settings = config.learner.settings
    assert isinstance(settings, adp_settings.Settings)
    self.settings = settings
    self.game = jaxgames.make(config.game)
    self._check(config)
    self.critic = settings.network.make(self.game)
    self.num_lanes = config.parallel_games
    self.num_games_wanted = config.games
    self.expert = _load_expert(self.game, settings.expert)

  def _check(self, config: config_lib.RunConfig) -> None:
    """Refuses what this learner cannot play."""
    if self.game.gravity or len(self.game.shape) != 2:
      raise ValueError(
        f"game is {config.game!r}, but learner adp plays on boards with two axes "
        "where stones do not fall, as gomoku"
      )
    if config.opponent != "self":
      raise ValueError(
        f"opponent is {config.opponent!r}, but learner adp plays against itself or "
        "watches learner.expert: it must be 'self'"
      )

  # What the loop asks for.

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> AdpState:
    del opponent  # There is one.
    key, key_params = jax.random.split(key)
    num_inputs = self.critic.num_inputs
    rounds = jnp.zeros(self.num_lanes, jnp.int32)
    num_shapes = len(self.critic.drawings)
    zero, two_zeros = jnp.float32(0), jnp.zeros(2, jnp.float32)
    return AdpState(
      params=self.critic.init(key_params, jnp.zeros((1, num_inputs), jnp.float32)),
      expert=self.expert,
      key=key,
      games=batching.repeat(self.game.init(), self.num_lanes),
      counts=jnp.zeros((self.num_lanes, 2, num_shapes), jnp.int32),
      is_first=self._begins(rounds),
      lessons=updates_lib.none(self.num_lanes, num_inputs),
      last=updates_lib.none(self.num_lanes, num_inputs),
      rounds=rounds,
      num_games=jnp.int32(0),
      tally=Tally(zero, zero, zero, zero, zero, zero, zero, two_zeros, two_zeros),
    )

  def turn(self, state: AdpState, goes_on: chex.Array) -> AdpState:
    after = self._turn(state)
    return jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), after, state)

  def num_games(self, state: AdpState) -> jax.Array:
    return state.num_games

  def is_done(self, state: AdpState) -> jax.Array:
    del state
    return jnp.bool_(False)

  def report(self, state: AdpState) -> tuple[AdpState, dict[str, jax.Array]]:
    tally = state.tally
    metrics = {
      "td_error": jnp.sqrt(tally.squared_errors / tally.num_errors),
      "game_length": tally.num_moves / tally.num_games,
      "player1_wins": tally.num_wins / tally.num_games,
      "first_wins": tally.num_first_wins / tally.num_games,
      "draws_in_training": tally.num_draws / tally.num_games,
      "moves_counted": tally.num_choices.sum() / tally.num_games,
      "epsilon": self._stage(state)[0],
    }
    if self.expert is not None:
      correct, chosen = tally.num_correct, tally.num_choices
      metrics["correct"] = correct.sum() / chosen.sum()
      metrics["correct_player1"] = correct[0] / chosen[0]
      metrics["correct_player2"] = correct[1] / chosen[1]
    return state._replace(tally=jax.tree.map(jnp.zeros_like, tally)), metrics

  def player(self, state: AdpState) -> players.Player:
    settings = self.settings
    return players.CriticGreedy(
      self.critic, state.params, settings.distance, settings.takes_five
    )

  def parameters(self, state: AdpState) -> chex.ArrayTree:
    return state.params

  # One turn of every game.

  def _turn(self, state: AdpState) -> AdpState:
    """Teaches what the last moves have shown, and makes the next ones."""
    key, key_choose = jax.random.split(state.key)
    state = self._teach(state._replace(key=key))
    situations = self._situations(state)
    choice = self._choose(state, situations, key_choose)
    games = jax.vmap(self.game.step)(state.games, choice.cells)
    after = critic_greedy.after(self.critic, state.games, situations, choice.cells)
    state = self._count(state, situations, choice, games)
    lessons, last = self._lessons(state, situations, choice, after, games)
    return self._restart(
      state._replace(games=games, counts=after.counts, lessons=lessons, last=last)
    )

  def _teach(self, state: AdpState) -> AdpState:
    """Trains the critic on the lessons of all games."""
    settings = self.settings
    rate = schedule.linear(
      settings.learning_rate * settings.alpha**2,
      settings.final_learning_rate and settings.final_learning_rate * settings.alpha**2,
      state.num_games,
      self.num_games_wanted,
    )
    if settings.gradient == "mean":
      rate = rate / self.num_lanes
    params, errors = updates_lib.descend(
      state.params,
      state.lessons,
      rate,
      steps=settings.updates,
      is_fresh=settings.target == "fresh",
    )
    tally = state.tally
    return state._replace(
      params=params,
      tally=tally._replace(
        squared_errors=tally.squared_errors + (errors**2).sum(),
        num_errors=tally.num_errors + state.lessons.weights.sum(),
      ),
    )

  def _situations(self, state: AdpState) -> networks.Situation:
    """Returns `[B]` the positions as the critic sees them."""
    is_turn = (state.games.num_moves % 2 == 0) == state.is_first
    boards = jax.vmap(self.game.observe)(state.games).reshape(self.num_lanes, -1)
    return networks.Situation(
      counts=state.counts,
      boards=jnp.where(is_turn[:, None], boards, -boards),
      is_turn=is_turn,
      is_first=state.is_first,
    )

  def _choose(
    self, state: AdpState, situations: networks.Situation, key: chex.PRNGKey
  ) -> _Choice:
    """Chooses a move in every game: the critic's, the expert's, or a random one."""
    settings, games = self.settings, state.games
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

  def _ask(
    self,
    expert: players.Player,
    games: jaxgames.State,
    cells: jax.Array,
    key: chex.PRNGKey,
  ) -> tuple[jax.Array, jax.Array]:
    """Returns `[B]` the expert's moves, and whether others are among its choices."""
    assert isinstance(expert, players.Chooser)

    def ask(
      state: jaxgames.State, cell: jax.Array, key: chex.PRNGKey
    ) -> tuple[jax.Array, jax.Array]:
      choices = expert.choices(state)
      rank = base.draw(key, bits.count(choices))
      is_among = bits.unpack(choices, self.game.num_cells)[cell]
      return bits.nth(choices, rank), is_among

    return jax.vmap(ask)(games, cells, jax.random.split(key, self.num_lanes))

  def _explore(
    self,
    state: AdpState,
    situations: networks.Situation,
    moves: critic_greedy.Moves,
    key_whether: chex.PRNGKey,
    key_which: chex.PRNGKey,
  ) -> tuple[jax.Array, jax.Array]:
    """Returns `[B]` random moves, and whether they are to be played (section 3.3)."""
    epsilon, has_random_opening = self._stage(state)
    is_random = jax.random.uniform(key_whether, (self.num_lanes,)) < epsilon
    # Player 1 does not leave its first move to chance if it is the first of all: then
    # there is one move, in the centre.
    is_opening = (state.games.num_moves < 2) & ~(situations.is_turn & state.is_first)
    is_opening = is_opening & has_random_opening
    anywhere = jax.vmap(self.game.legal_actions)(state.games)
    if self.settings.opening_distance is not None:
      anywhere = jax.vmap(windows.near_stones, in_axes=(None, 0, None))(
        self.game, state.games, self.settings.opening_distance
      )
    allowed = jnp.where(is_opening[:, None], anywhere, moves.is_move)
    random = jax.random.bits(key_which, (self.num_lanes,), jnp.uint32)
    return jax.vmap(base.draw_allowed)(random, allowed), is_random | is_opening

  # What is taught.

  def _lessons(
    self,
    state: AdpState,
    situations: networks.Situation,
    choice: _Choice,
    after: networks.Situation,
    games: jaxgames.State,
  ) -> tuple[updates_lib.Lessons, updates_lib.Lessons]:
    """Returns what the next turn teaches, and what the last positions will."""
    settings = self.settings
    is_begun = state.games.num_moves > 0
    is_taught = is_begun
    if not settings.exploration_teaches:
      is_taught = is_taught & ~choice.is_random
    after_inputs = self.critic.encode(after)
    zeros = jnp.zeros(self.num_lanes, jnp.float32)
    step = updates_lib.Lessons(
      inputs=self.critic.encode(situations),
      next_inputs=after_inputs,
      rewards=zeros,
      discounts=zeros + settings.discount,
      weights=is_taught.astype(jnp.float32),
    )
    lessons = batching.where(is_begun, step, state.last)
    sign = jnp.where(state.is_first, jnp.int8(1), jnp.int8(-1))
    result = sign * games.winner
    reward = jnp.where(result > 0, settings.win, settings.loss)
    end = updates_lib.Lessons(
      inputs=after_inputs,
      next_inputs=after_inputs,
      rewards=jnp.where(result == 0, settings.draw, reward).astype(jnp.float32),
      discounts=zeros,
      weights=zeros + 1.0,
    )
    return lessons, batching.where(games.is_over, end, state.last)

  # Games.

  def _count(
    self,
    state: AdpState,
    situations: networks.Situation,
    choice: _Choice,
    games: jaxgames.State,
  ) -> AdpState:
    """Counts choices, and games that have ended."""
    tally, ended = state.tally, games.is_over
    sign = jnp.where(state.is_first, jnp.int8(1), jnp.int8(-1))
    is_choice = ~choice.is_random & (state.games.num_moves >= NUM_OPENING_MOVES)

    def total(values: jax.Array) -> jax.Array:
      return jnp.where(ended, values.astype(jnp.float32), 0.0).sum()

    def by_player(condition: jax.Array) -> jax.Array:
      sides = (condition & situations.is_turn, condition & ~situations.is_turn)
      return jnp.stack([side.sum(dtype=jnp.float32) for side in sides])

    return state._replace(
      rounds=state.rounds + ended.astype(jnp.int32),
      num_games=state.num_games + ended.sum(dtype=jnp.int32),
      tally=tally._replace(
        num_games=tally.num_games + total(ended),
        num_moves=tally.num_moves + total(games.num_moves),
        num_wins=tally.num_wins + total(games.winner == sign),
        num_first_wins=tally.num_first_wins + total(games.winner == 1),
        num_draws=tally.num_draws + total(games.winner == 0),
        num_choices=tally.num_choices + by_player(is_choice),
        num_correct=tally.num_correct + by_player(is_choice & choice.is_correct),
      ),
    )

  def _restart(self, state: AdpState) -> AdpState:
    """Begins new games in the place of those that have ended."""
    ended = state.games.is_over
    empty = batching.repeat(self.game.init(), self.num_lanes)
    return state._replace(
      games=batching.where(ended, empty, state.games),
      counts=batching.where(ended, jnp.zeros_like(state.counts), state.counts),
      is_first=jnp.where(ended, self._begins(state.rounds), state.is_first),
    )

  def _begins(self, rounds: jax.Array) -> jax.Array:
    """Returns `[B]` bool, whether player 1 moves first in the next game of a lane."""
    return (jnp.arange(self.num_lanes, dtype=jnp.int32) + rounds) % 2 == 0

  def _stage(self, state: AdpState) -> tuple[jax.Array, jax.Array]:
    """Returns the share of random moves, and whether first moves are random."""
    stages = self.settings.stages
    ends = np.cumsum([stage.games for stage in stages])[:-1]
    number = (state.num_games >= ends.astype(np.int32)).sum(dtype=jnp.int32)
    epsilons = np.array([stage.epsilon for stage in stages], np.float32)
    openings = np.array([stage.random_opening for stage in stages])
    return jnp.asarray(epsilons)[number], jnp.asarray(openings)[number]


def _load_expert(game: jaxgames.LineGame, spec: str | None) -> players.Player | None:
  """Returns whose moves are the correct ones."""
  if spec is None:
    return None
  # Agents are made by learners: imported above, each module would need the other.
  from train.run import agents

  try:
    is_run = agents.is_agent(spec)
    expert = agents.load(spec, game) if is_run else players.make(game, spec)
  except ValueError as error:
    raise ValueError(f"learner.expert: {error}") from error
  if not isinstance(expert, players.Chooser):
    raise ValueError(f"learner.expert: {spec!r} does not choose by the position alone")
  return expert


def _last_of(condition: jax.Array) -> jax.Array:
  """Returns `[B]` int32, the last of `[B, n]` places for which a condition holds."""
  last = condition.shape[1] - 1 - jnp.argmax(condition[:, ::-1], axis=1)
  return last.astype(jnp.int32)
