"""Deep Q-learning from a replay memory: the dqn paper.

Many games share one network. In every step each game moves on, the transition goes into
a replay memory, and gradient descent on batches drawn from there updates the network
towards targets of its slower copy, the target network. Against a player a step is the
learner's choice and the answer. In self-play it is one ply of either side, and the
value of the other side's best move counts against a move.

In the shapes, `B` is the number of games in parallel and `A` that of actions.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import arena
from jaxgames import batching
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from train.learners import base
from train.learners.common import counting
from train.learners.common import descent
from train.learners.common import games as games_lib
from train.learners.common import learner as learner_lib
from train.learners.common import q_network
from train.learners.common import schedule
from train.learners.common import sides
from train.learners.dqn import agent
from train.learners.dqn import evaluation as dqn_evaluation
from train.learners.dqn import opponents as dqn_opponents
from train.learners.dqn import q_updates
from train.learners.dqn import replay as replay_lib
from train.learners.dqn import settings as dqn_settings

__all__ = ["DqnLearner", "DqnState"]


class Counts(NamedTuple):
  """Sums since the last report, all `[]` float32.

  Attributes:
    values: the highest output at each choice.
    num_choices: choices, of legal moves or not.
    num_invalid: of them, those of moves that were not legal.
    rewards: of the learner; in self-play, of both sides.
    squared_errors: the mean of each step's batch.
    num_updates: steps of gradient descent.
    games: those that ended.
  """

  values: chex.Array
  num_choices: chex.Array
  num_invalid: chex.Array
  rewards: chex.Array
  squared_errors: chex.Array
  num_updates: chex.Array
  games: counting.GameCounts


class DqnState(NamedTuple):
  """One trial.

  Attributes:
    online: the networks and the optimizer.
    replay: the memory.
    key: of all randomness to come in training.
    evaluation_key: of evaluations; each one's is folded in.
    games: `[B]` in play.
    counts: for the next report.
  """

  online: q_updates.Online
  replay: replay_lib.Replay
  key: chex.PRNGKey
  evaluation_key: chex.PRNGKey
  games: games_lib.Games
  counts: Counts


class _Choice(NamedTuple):
  """The learner's choice in every game.

  Attributes:
    actions: `[B]` int32.
    is_mine: `[B]` bool, whether it was the learner's turn; else it does not count.
    is_legal: `[B]` bool, whether the move is legal.
    values: `[B]` float32, the highest output of all that could be chosen.
  """

  actions: chex.Array
  is_mine: chex.Array
  is_legal: chex.Array
  values: chex.Array


class DqnLearner(learner_lib.NetworkLearner):
  """Learns a Q network from a memory of its games."""

  def __init__(self, task: base.Task, settings: dqn_settings.Settings):
    self.settings = settings
    self.game = task.game
    self.network = agent.make_network(task.game, settings.network)
    self.num_lanes = task.parallel_games
    self.opponent = task.make_opponent()
    self.games = games_lib.ParallelGames.of_task(task, self.opponent, settings.starts)
    self.evaluation_opponent = _make_evaluation_opponent(task, settings)
    self._check()
    self.epsilon_fn = schedule.exponential(
      settings.epsilon, settings.final_epsilon, settings.epsilon_games
    )
    the_descent = descent.Descent(
      settings.optimizer,
      settings.learning_rate,
      settings.final_learning_rate,
      task.num_games,
    )
    self.updates = q_updates.QUpdates(self.network, settings, the_descent)

  def _check(self) -> None:
    """Refuses settings that do not fit the task."""
    settings = self.settings
    if settings.replay < self.num_lanes:
      raise ValueError(
        f"learner.replay is {settings.replay}, but must be at least parallel_games, "
        f"which is {self.num_lanes}: each game adds a transition in each step"
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

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> DqnState:
    del opponent  # There is one.
    keys = jax.random.split(key, 5)
    key, key_params, key_memory, key_evaluation, key_starts = (
      keys[i] for i in range(5)
    )
    zero = jnp.float32(0)
    return DqnState(
      online=self.updates.init(q_network.init_params(self.network, key_params)),
      replay=replay_lib.empty(self.settings.replay, self.game.num_cells),
      key=key,
      evaluation_key=key_evaluation,
      games=self.games.init(key_memory, key_starts),
      counts=Counts(
        values=zero,
        num_choices=zero,
        num_invalid=zero,
        rewards=zero,
        squared_errors=zero,
        num_updates=zero,
        games=counting.zeros(counting.GameCounts),
      ),
    )

  def step(self, state: DqnState, is_active: chex.Array) -> DqnState:
    after = self._step(state, is_active)
    # The memory is too large to select; an inactive trial has added nothing to it.
    return learner_lib.select(is_active, after, state, keep=("replay",))

  def parameters(self, state: DqnState) -> chex.ArrayTree:
    return state.online.params

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return agent.make_agent(self.game, self.settings, parameters)

  def _step(self, state: DqnState, is_active: chex.Numeric = True) -> DqnState:
    key, key_play, key_learn = jax.random.split(state.key, 3)
    state, transitions, is_kept = self._play(state._replace(key=key), key_play)
    with jax.named_scope("memory"):
      replay = replay_lib.add(state.replay, transitions, is_kept & is_active)
    return self._learn(state._replace(replay=replay), key_learn)

  # Playing: choose, let the opponent answer, remember.

  def _play(
    self, state: DqnState, key: chex.PRNGKey
  ) -> tuple[DqnState, replay_lib.Transitions, jax.Array]:
    """Moves every game on.

    Returns:
      The state, `[B]` the transitions, and `[B]` bool, whether to remember them.
    """
    key_choose, key_answer, key_restart = jax.random.split(key, 3)
    before = state.games.states
    choice = self._choose(state, key_choose)
    with jax.named_scope("rules"):
      after = jax.vmap(self.game.step)(before, choice.actions)
    after = batching.where(choice.is_mine, after, before)
    games = state.games._replace(states=after)
    if self.opponent is not None:
      games = self.games.answer(games, key_answer, self._prepared_opponent)
    transitions = self._transitions(before, choice, games.states)
    is_kept = choice.is_mine
    if not self.settings.keeps_invalid:
      is_kept = is_kept & choice.is_legal
    state = state._replace(
      games=self.games.restart(games, key_restart),
      counts=self._count(state.counts, choice, games, transitions.rewards),
    )
    return state, transitions, is_kept

  @jax.named_scope("move")
  def _choose(self, state: DqnState, key: chex.PRNGKey) -> _Choice:
    """Chooses a move in every game, legal or not."""
    states = state.games.states
    is_legal = jax.vmap(self.game.legal_actions)(states)
    boards = self.games.observe(states)
    outputs = jnp.asarray(self.network.apply(state.online.params, boards, is_legal))
    is_masked = self.settings.invalid == "masked"
    is_allowed = is_legal if is_masked else jnp.ones_like(is_legal)
    epsilon = self.epsilon_fn(state.games.num_games)
    actions = jax.vmap(dqn_evaluation.choose, in_axes=(0, 0, None, 0))(
      outputs, is_allowed, epsilon, jax.random.split(key, self.num_lanes)
    )
    return _Choice(
      actions=actions,
      is_mine=self.games.is_learners_turn(state.games),
      is_legal=batching.pick(is_legal, actions),
      values=jnp.where(is_allowed, outputs, -jnp.inf).max(axis=1),
    )

  @jax.named_scope("memory")
  def _transitions(
    self, before: jaxgames.State, choice: _Choice, after: jaxgames.State
  ) -> replay_lib.Transitions:
    """Returns what followed from the learner's choices (Tables 2 and 3)."""
    settings = self.settings
    result = sides.sign(before.num_moves % 2 == 0) * after.winner
    end = jnp.where(result == 0, settings.draw, settings.win)
    end = jnp.where(result < 0, settings.loss, end)
    penalty = settings.invalid_reward if settings.invalid == "penalized" else 0.0
    rewards = jnp.where(choice.is_legal, 0.0, penalty)
    # In self-play it is then the other side's turn, unless the move was not legal.
    is_theirs = choice.is_legal & (self.opponent is None)
    discounts = jnp.where(is_theirs, -settings.discount, settings.discount)
    return replay_lib.Transitions(
      boards=self.games.observe(before),
      actions=choice.actions,
      rewards=jnp.where(after.is_over, end, rewards).astype(jnp.float32),
      discounts=jnp.where(after.is_over, 0.0, discounts).astype(jnp.float32),
      next_boards=self.games.observe(after),
    )

  @functools.cached_property
  def _prepared_opponent(self) -> players.Player:
    """The opponent, with its searches of all positions made beforehand if wanted."""
    assert self.opponent is not None
    if self.settings.searches is None:
      return self.opponent
    # Only training needs it, whose programs are being built when it is first asked for.
    with jax.ensure_compile_time_eval():
      return dqn_opponents.search_beforehand(self.opponent, self.settings.searches)

  # Learning: batches from the memory.

  @jax.named_scope("update")
  def _learn(self, state: DqnState, key: chex.PRNGKey) -> DqnState:
    """Takes the steps of gradient descent, once there is enough to learn from."""
    settings = self.settings
    key_draw, key_symmetry = jax.random.split(key)
    drawn = replay_lib.draw(state.replay, key_draw, settings.updates * settings.batch)
    if settings.symmetries:
      drawn = q_updates.transform(self.game, drawn, key_symmetry)
    batches = jax.tree.map(
      lambda rows: rows.reshape(settings.updates, settings.batch, *rows.shape[1:]),
      drawn,
    )

    def step(
      carry: tuple[q_updates.Online, Counts], batch: replay_lib.Transitions
    ) -> tuple[tuple[q_updates.Online, Counts], None]:
      online, counts = carry
      online, error = self.updates.step(online, batch, state.games.num_games)
      counts = counts._replace(
        squared_errors=counts.squared_errors + error,
        num_updates=counts.num_updates + 1.0,
      )
      return (online, counts), None

    (online, counts), _ = jax.lax.scan(step, (state.online, state.counts), batches)
    is_ready = state.replay.num_held >= settings.num_to_begin
    online, counts = jax.tree.map(
      lambda new, old: jnp.where(is_ready, new, old),
      (online, counts),
      (state.online, state.counts),
    )
    return state._replace(online=online, counts=counts)

  # Counts, metrics, and the paper's own evaluation.

  @jax.named_scope("rules")
  def _count(
    self,
    counts: Counts,
    choice: _Choice,
    games: games_lib.Games,
    rewards: jax.Array,
  ) -> Counts:
    """Counts choices, and games that have ended."""
    mine, total = choice.is_mine, counting.total
    return counts._replace(
      values=counts.values + total(choice.values, mine),
      num_choices=counts.num_choices + total(mine, mine),
      num_invalid=counts.num_invalid + total(~choice.is_legal, mine),
      rewards=counts.rewards + total(rewards, mine),
      games=counting.count_ended(counts.games, games.states, games.is_first),
    )

  def _metrics(self, state: DqnState) -> base.Metrics:
    counts, score = state.counts, self._evaluate(state)
    wins = "first_wins" if self.opponent is None else "wins_in_training"
    num_updates = jnp.maximum(counts.num_updates, 1.0)
    return {
      "average_q": counts.values / counts.num_choices,
      "q_error": jnp.sqrt(counts.squared_errors / num_updates),
      "rewards_of_game": counts.rewards / counts.games.num_games,
      "invalid_choices": counts.num_invalid / counts.num_choices,
      **counting.game_metrics(counts.games, wins),
      "epsilon": self.epsilon_fn(state.games.num_games),
      "evaluation_wins": score.wins.sum(),
      "evaluation_losses": score.losses.sum(),
      "evaluation_draws": score.draws.sum(),
    }

  def _evaluate(self, state: DqnState) -> arena.Score:
    """Plays the games that the paper evaluates an agent by."""
    settings = self.settings
    player = dqn_evaluation.EpsilonGreedy(
      self.network,
      state.online.params,
      settings.evaluation_epsilon,
      is_masked=settings.invalid == "masked",
    )
    return arena.play_match(
      player,
      self.evaluation_opponent,
      jax.random.fold_in(state.evaluation_key, state.games.num_games),
      num_games=settings.evaluation_games,
      starts=settings.starts,
    )


def _make_evaluation_opponent(
  task: base.Task, settings: dqn_settings.Settings
) -> players.Player:
  try:
    return task.make_player_fn(task.game, settings.evaluation_opponent)
  except ValueError as error:
    raise ValueError(f"learner.evaluation_opponent: {error}") from error
