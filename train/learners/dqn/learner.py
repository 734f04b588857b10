"""Deep Q-learning from a replay memory: the dqn paper.

Many games share one network. At every turn each game is moved on, what came of it goes
into a memory, and gradient descent on batches drawn from there teaches the network what
its slower copy, the target network, makes of the positions reached. Against a player a
turn is the learner's choice and the answer. In self-play it is one ply of either side,
and what the other side can get counts against a move.

In the shapes, `B` is the number of games in parallel and `A` that of actions.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import arena
from jaxgames import batching
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from jaxgames.players import base
from train import config as config_lib
from train.learners.common import descent
from train.learners.common import sides
from train.learners.dqn import evaluation as dqn_evaluation
from train.learners.dqn import opponents as dqn_opponents
from train.learners.dqn import replay as replay_lib
from train.learners.dqn import settings as dqn_settings

__all__ = ["DqnLearner", "DqnState", "exponential"]


class Tally(NamedTuple):
  """Sums since the last report, all float32.

  Attributes:
    values: the highest output at each choice.
    num_choices: choices, of possible moves or not.
    num_invalid: of them, those of moves that were not possible.
    rewards: of the learner; in self-play, of both sides.
    squared_errors: the mean of each step's batch.
    num_updates: steps of gradient descent.
    num_games: games that ended.
    num_moves: their lengths.
    num_wins: won by the learner; in self-play, by the first player.
    num_draws: drawn.
  """

  values: chex.Array
  num_choices: chex.Array
  num_invalid: chex.Array
  rewards: chex.Array
  squared_errors: chex.Array
  num_updates: chex.Array
  num_games: chex.Array
  num_moves: chex.Array
  num_wins: chex.Array
  num_draws: chex.Array


class DqnState(NamedTuple):
  """One trial.

  Attributes:
    params: of the online network.
    target_params: of the target network.
    optimizer: its state.
    replay: the memory.
    num_updates: `[]` int32, steps since the target network was last copied.
    key: of all randomness to come in training.
    evaluation_key: of evaluations; each one's is folded in.
    games: `[B]` the positions.
    memory: `[B]` what the opponent keeps in mind.
    is_first: `[B]` bool, whether the learner moves first; in self-play, all true.
    rounds: `[B]` int32, games that ended in each lane.
    num_games: `[]` int32, games that ended in all lanes.
    tally: for the next report.
  """

  params: chex.ArrayTree
  target_params: chex.ArrayTree
  optimizer: chex.ArrayTree
  replay: replay_lib.Replay
  num_updates: chex.Array
  key: chex.PRNGKey
  evaluation_key: chex.PRNGKey
  games: jaxgames.State
  memory: base.Memory
  is_first: chex.Array
  rounds: chex.Array
  num_games: chex.Array
  tally: Tally


class _Choice(NamedTuple):
  """The learner's choice in every game.

  Attributes:
    actions: `[B]` int32.
    is_mine: `[B]` bool, whether it was the learner's turn; else it counts for nothing.
    is_legal: `[B]` bool, whether the move is possible.
    values: `[B]` float32, the highest output of all that could be chosen.
  """

  actions: chex.Array
  is_mine: chex.Array
  is_legal: chex.Array
  values: chex.Array


class DqnLearner:
  """Learns a Q network from a memory of its games."""

  def __init__(self, config: config_lib.RunConfig):
    settings = config.learner.settings
    assert isinstance(settings, dqn_settings.Settings)
    self.settings = settings
    self.game = jaxgames.make(config.game)
    self.network = settings.network.make(self.game)
    self.num_lanes = config.parallel_games
    (opponent,) = config.opponents.values()
    self.opponent = None if opponent == "self" else players.make(self.game, opponent)
    self.seats = sides.Seats(self.opponent, self.num_lanes, settings.starts)
    self.examiner = _make_examiner(self.game, settings.evaluation_opponent)
    self._check()
    self.descent = descent.Descent(
      settings.optimizer,
      settings.learning_rate,
      settings.final_learning_rate,
      config.games,
    )

  def _check(self) -> None:
    """Refuses settings that do not fit the run."""
    settings = self.settings
    if settings.replay < self.num_lanes:
      raise ValueError(
        f"learner.replay is {settings.replay}, but must be at least parallel_games, "
        f"which is {self.num_lanes}: each game adds a transition at each turn"
      )
    if settings.searches is not None and not graph_lib.is_small(self.game):
      raise ValueError(
        f"learner.searches is {settings.searches}, but this game has too many positions "
        "to search beforehand: leave it out"
      )
    if self.opponent is not None:
      return
    for field, needed in (("draw", 0.0), ("loss", -settings.win)):
      given = getattr(settings, field)
      if given != needed:
        raise ValueError(
          f"learner.{field} is {given}, but in self-play what one side gains the other "
          f"loses: it must be {needed}"
        )

  # What the loop asks for.

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> DqnState:
    del opponent  # There is one.
    keys = jax.random.split(key, 5)
    key, key_params, key_begin, key_evaluation, key_starts = (keys[i] for i in range(5))
    params = self.network.init(
      key_params,
      jnp.zeros((1, self.game.num_cells), jnp.int8),
      jnp.ones((1, self.game.num_actions), bool),
    )
    rounds = jnp.zeros(self.num_lanes, jnp.int32)
    return DqnState(
      params=params,
      # Another buffer: states are donated, and nothing may be donated twice.
      target_params=jax.tree.map(jnp.copy, params),
      optimizer=self.descent.init(params),
      replay=replay_lib.empty(self.settings.replay, self.game.num_cells),
      num_updates=jnp.int32(0),
      key=key,
      evaluation_key=key_evaluation,
      games=batching.repeat(self.game.init(), self.num_lanes),
      memory=self.seats.begin(key_begin, rounds),
      is_first=self.seats.draw(key_starts, rounds),
      rounds=rounds,
      num_games=jnp.int32(0),
      tally=Tally(*[jnp.float32(0)] * len(Tally._fields)),
    )

  def turn(self, state: DqnState, goes_on: chex.Array) -> DqnState:
    # A trial that waits adds nothing to its memory.
    fields = [name for name in DqnState._fields if name != "replay"]
    return _where(goes_on, self._turn(state, goes_on), state, fields)

  def num_games(self, state: DqnState) -> jax.Array:
    return state.num_games

  def is_done(self, state: DqnState) -> jax.Array:
    del state
    return jnp.bool_(False)

  def report(self, state: DqnState) -> tuple[DqnState, dict[str, jax.Array]]:
    tally = state.tally
    wins = "first_wins" if self.opponent is None else "wins_in_training"
    num_updates = jnp.maximum(tally.num_updates, 1.0)
    score = self._evaluate(state)
    metrics = {
      "average_q": tally.values / tally.num_choices,
      "q_error": jnp.sqrt(tally.squared_errors / num_updates),
      "rewards_of_game": tally.rewards / tally.num_games,
      "invalid_choices": tally.num_invalid / tally.num_choices,
      "game_length": tally.num_moves / tally.num_games,
      wins: tally.num_wins / tally.num_games,
      "draws_in_training": tally.num_draws / tally.num_games,
      "epsilon": self._epsilon(state),
      "evaluation_wins": score.wins.sum(),
      "evaluation_losses": score.losses.sum(),
      "evaluation_draws": score.draws.sum(),
    }
    return state._replace(tally=jax.tree.map(jnp.zeros_like, tally)), metrics

  def player(self, state: DqnState) -> players.Player:
    return players.QGreedy(self.network, state.params)

  def parameters(self, state: DqnState) -> chex.ArrayTree:
    return state.params

  # One turn of every game.

  def _turn(self, state: DqnState, goes_on: chex.Array) -> DqnState:
    key, key_play, key_learn = jax.random.split(state.key, 3)
    state, transitions, is_kept = self._play(state._replace(key=key), key_play)
    memory = replay_lib.add(state.replay, transitions, is_kept & goes_on)
    return self._learn(state._replace(replay=memory), key_learn)

  def _play(
    self, state: DqnState, key: chex.PRNGKey
  ) -> tuple[DqnState, replay_lib.Transitions, jax.Array]:
    """Moves every game on.

    Returns:
      The state, `[B]` what happened, and `[B]` bool, whether it is to be remembered.
    """
    key_choose, key_answer, key_restart = jax.random.split(key, 3)
    choice = self._choose(state, key_choose)
    after = jax.vmap(self.game.step)(state.games, choice.actions)
    after = batching.where(choice.is_mine, after, state.games)
    if self.opponent is not None:
      after = self._answer(state, after, key_answer)
    transitions = self._transitions(state.games, choice, after)
    is_kept = choice.is_mine
    if not self.settings.keeps_invalid:
      is_kept = is_kept & choice.is_legal
    state = self._count(state, choice, after, transitions.rewards)
    return self._restart(state, after, key_restart), transitions, is_kept

  def _choose(self, state: DqnState, key: chex.PRNGKey) -> _Choice:
    """Chooses a move in every game, possible or not."""
    is_legal = jax.vmap(self.game.legal_actions)(state.games)
    boards = self._observe(state.games)
    outputs = jnp.asarray(self.network.apply(state.params, boards, is_legal))
    is_masked = self.settings.invalid == "masked"
    is_allowed = is_legal if is_masked else jnp.ones_like(is_legal)
    actions = jax.vmap(dqn_evaluation.choose, in_axes=(0, 0, None, 0))(
      outputs, is_allowed, self._epsilon(state), jax.random.split(key, self.num_lanes)
    )
    return _Choice(
      actions=actions,
      is_mine=self.seats.is_mine(state.is_first, state.games.num_moves),
      is_legal=batching.pick(is_legal, actions),
      values=jnp.where(is_allowed, outputs, -jnp.inf).max(axis=1),
    )

  def _answer(
    self, state: DqnState, games: jaxgames.State, key: chex.PRNGKey
  ) -> jaxgames.State:
    """Lets the opponent move where it is its turn."""
    keys = jax.random.split(key, self.num_lanes)
    actions = jax.vmap(self._answerer.act)(state.memory, games, keys)
    # Once a game is over nothing is possible, and it stays as it is.
    after = jax.vmap(self.game.step)(games, actions)
    return batching.where(
      self.seats.is_mine(state.is_first, games.num_moves), games, after
    )

  def _transitions(
    self, before: jaxgames.State, choice: _Choice, after: jaxgames.State
  ) -> replay_lib.Transitions:
    """Returns what became of the learner's choices (Tables 2 and 3)."""
    settings = self.settings
    mover = jnp.where(before.num_moves % 2 == 0, jnp.int8(1), jnp.int8(-1))
    result = mover * after.winner
    end = jnp.where(result == 0, settings.draw, settings.win)
    end = jnp.where(result < 0, settings.loss, end)
    penalty = settings.invalid_reward if settings.invalid == "penalized" else 0.0
    rewards = jnp.where(choice.is_legal, 0.0, penalty)
    # In self-play it is then the other side's turn, unless the move was not possible.
    is_theirs = choice.is_legal & (self.opponent is None)
    discounts = jnp.where(is_theirs, -settings.discount, settings.discount)
    return replay_lib.Transitions(
      boards=self._observe(before),
      actions=choice.actions,
      rewards=jnp.where(after.is_over, end, rewards).astype(jnp.float32),
      discounts=jnp.where(after.is_over, 0.0, discounts).astype(jnp.float32),
      next_boards=self._observe(after),
    )

  def _count(
    self,
    state: DqnState,
    choice: _Choice,
    after: jaxgames.State,
    rewards: jax.Array,
  ) -> DqnState:
    """Counts choices, and games that have ended."""
    sign = jnp.where(state.is_first, jnp.int8(1), jnp.int8(-1))
    ended, mine, tally = after.is_over, choice.is_mine, state.tally

    def total(values: jax.Array, condition: jax.Array) -> jax.Array:
      return jnp.where(condition, values.astype(jnp.float32), 0.0).sum()

    return state._replace(
      rounds=state.rounds + ended.astype(jnp.int32),
      num_games=state.num_games + ended.sum(dtype=jnp.int32),
      tally=tally._replace(
        values=tally.values + total(choice.values, mine),
        num_choices=tally.num_choices + total(mine, mine),
        num_invalid=tally.num_invalid + total(~choice.is_legal, mine),
        rewards=tally.rewards + total(rewards, mine),
        num_games=tally.num_games + total(ended, ended),
        num_moves=tally.num_moves + total(after.num_moves, ended),
        num_wins=tally.num_wins + total(after.winner == sign, ended),
        num_draws=tally.num_draws + total(after.winner == 0, ended),
      ),
    )

  def _restart(
    self, state: DqnState, after: jaxgames.State, key: chex.PRNGKey
  ) -> DqnState:
    """Goes on to the new positions, and begins new games where one has ended."""
    key_begin, key_starts = jax.random.split(key)
    ended = after.is_over
    empty = batching.repeat(self.game.init(), self.num_lanes)
    memory = self.seats.begin(key_begin, state.rounds)
    is_first = self.seats.draw(key_starts, state.rounds)
    return state._replace(
      games=batching.where(ended, empty, after),
      memory=batching.where(ended, memory, state.memory),
      is_first=jnp.where(ended, is_first, state.is_first),
    )

  # Learning.

  def _learn(self, state: DqnState, key: chex.PRNGKey) -> DqnState:
    """Takes a turn's steps of gradient descent, once there is enough to learn from."""
    settings = self.settings
    key_draw, key_symmetry = jax.random.split(key)
    drawn = replay_lib.draw(state.replay, key_draw, settings.updates * settings.batch)
    if settings.symmetries:
      drawn = self._turn_boards(drawn, key_symmetry)
    batches = jax.tree.map(
      lambda rows: rows.reshape(settings.updates, settings.batch, *rows.shape[1:]),
      drawn,
    )

    def step(state: DqnState, batch: replay_lib.Transitions) -> tuple[DqnState, None]:
      return self._descend(state, batch), None

    after, _ = jax.lax.scan(step, state, batches)
    is_ready = state.replay.num_held >= settings.num_to_begin
    fields = ("params", "target_params", "optimizer", "num_updates", "tally")
    return _where(is_ready, after, state, fields)

  def _descend(self, state: DqnState, batch: replay_lib.Transitions) -> DqnState:
    """Takes one step on a batch (equation 2), and copies the network in its time."""
    targets = self._targets(state, batch)

    def loss(params: chex.ArrayTree) -> jax.Array:
      outputs = self._outputs(params, batch.boards)
      return ((targets - batching.pick(outputs, batch.actions)) ** 2).mean()

    error, gradient = jax.value_and_grad(loss)(state.params)
    params, optimizer = self.descent.step(
      gradient, state.optimizer, state.params, state.num_games
    )
    is_time = state.num_updates + 1 == self.settings.target_every
    tally = state.tally
    return state._replace(
      params=params,
      target_params=jax.tree.map(
        lambda new, old: jnp.where(is_time, new, old), params, state.target_params
      ),
      optimizer=optimizer,
      num_updates=jnp.where(is_time, 0, state.num_updates + 1),
      tally=tally._replace(
        squared_errors=tally.squared_errors + error,
        num_updates=tally.num_updates + 1.0,
      ),
    )

  def _targets(self, state: DqnState, batch: replay_lib.Transitions) -> jax.Array:
    """Returns `[batch]` float32, what the moves are taught to be worth."""
    is_allowed = self._legal_actions(batch.next_boards)
    if self.settings.target_moves == "all":
      is_allowed = jnp.ones_like(is_allowed)
    values = self._outputs(state.target_params, batch.next_boards)
    chooser = values
    if self.settings.double:
      chooser = self._outputs(state.params, batch.next_boards)
    best = jnp.argmax(jnp.where(is_allowed, chooser, -jnp.inf), axis=1)
    return batch.rewards + batch.discounts * batching.pick(values, best)

  def _turn_boards(
    self, batch: replay_lib.Transitions, key: chex.PRNGKey
  ) -> replay_lib.Transitions:
    """Returns each transition under a symmetry of the board, drawn at random."""
    cells = jnp.asarray(self.game.symmetries)
    # Where each action goes, not where the one that comes there was.
    actions = jnp.asarray(np.argsort(self.game.action_symmetries, axis=1), jnp.int32)
    drawn = jax.random.randint(key, batch.actions.shape, 0, cells.shape[0])

    def turn(boards: jax.Array) -> jax.Array:
      return jnp.take_along_axis(boards, cells[drawn], axis=1)

    return batch._replace(
      boards=turn(batch.boards),
      actions=actions[drawn, batch.actions],
      next_boards=turn(batch.next_boards),
    )

  def _outputs(self, params: chex.ArrayTree, boards: jax.Array) -> jax.Array:
    """Returns the network's outputs, `[..., A]` float32."""
    return jnp.asarray(self.network.apply(params, boards, self._legal_actions(boards)))

  def _legal_actions(self, boards: jax.Array) -> jax.Array:
    """Returns the actions that have room, `[..., A]` bool; of an end, they may not."""
    return boards[..., self.game.num_cells - self.game.num_actions :] == 0

  # Evaluation.

  def _evaluate(self, state: DqnState) -> arena.Score:
    """Plays the games that the paper evaluates an agent by."""
    settings = self.settings
    agent = dqn_evaluation.EpsilonGreedy(
      self.network,
      state.params,
      settings.evaluation_epsilon,
      is_masked=settings.invalid == "masked",
    )
    return arena.play_match(
      agent,
      self.examiner,
      jax.random.fold_in(state.evaluation_key, state.num_games),
      num_games=settings.evaluation_games,
      starts=settings.starts,
    )

  # Games.

  @functools.cached_property
  def _answerer(self) -> players.Player:
    """The opponent as it is played against."""
    assert self.opponent is not None
    if self.settings.searches is None:
      return self.opponent
    # Only training needs it, whose programs are being built when it is first asked for.
    with jax.ensure_compile_time_eval():
      return dqn_opponents.search_beforehand(self.opponent, self.settings.searches)

  def _observe(self, games: jaxgames.State) -> jax.Array:
    """Returns `[B, num_cells]` int8, the boards seen by who is to move."""
    return jax.vmap(self.game.observe)(games).reshape(self.num_lanes, -1)

  def _epsilon(self, state: DqnState) -> jax.Array:
    settings = self.settings
    return exponential(
      settings.epsilon, settings.final_epsilon, state.num_games, settings.epsilon_games
    )


def exponential(
  first: float, last: float, num_games: chex.Array, scale: float
) -> jax.Array:
  """Returns a number that falls from `first` to `last`, ever slower.

  Args:
    first: at the beginning.
    last: in the end.
    num_games: `[]` int32, games done.
    scale: games in which the distance from `last` falls to 1/e of itself.
  """
  return last + (first - last) * jnp.exp(-num_games.astype(jnp.float32) / scale)


def _make_examiner(game: jaxgames.LineGame, spec: str) -> players.Player:
  try:
    return players.make(game, spec)
  except ValueError as error:
    raise ValueError(f"learner.evaluation_opponent: {error}") from error


def _where(
  condition: chex.Array, new: DqnState, old: DqnState, fields: Sequence[str]
) -> DqnState:
  """Returns the new state, with some of its fields the old one's if it is not to be.

  The memory is never chosen: it is too large.
  """
  chosen = {
    name: jax.tree.map(
      lambda a, b: jnp.where(condition, a, b), getattr(new, name), getattr(old, name)
    )
    for name in fields
  }
  return new._replace(**chosen)
