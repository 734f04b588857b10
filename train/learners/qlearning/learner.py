"""Neural Q-learning from whole games of self-play: the qlearn paper.

In every step each of many games is played from the first move to the last by the same
network, which moves for both sides. Its outputs on the way become a training set: the
output of each move made is replaced by its target, from the last move backward. Gradient
descent on the sets and their symmetric copies then updates the network.

In the shapes, `B` is the number of games in parallel, `P` that of plies of the longest
game and `A` that of actions.
"""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

import jaxgames
from jaxgames import batching
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import q_greedy
from train.learners import base as learner_base
from train.learners.common import counting
from train.learners.common import descent
from train.learners.common import learner as learner_lib
from train.learners.common import minibatches
from train.learners.common import q_network
from train.learners.common import schedule
from train.learners.qlearning import agent
from train.learners.qlearning import settings as qlearning_settings

__all__ = ["Episodes", "Examples", "QLearner", "QLearningState", "desired_outputs"]


class Counts(NamedTuple):
  """Sums since the last report, all `[]` float32.

  Attributes:
    squared_errors: of the moves made, when they were made.
    games: those that ended.
  """

  squared_errors: chex.Array
  games: counting.GameCounts


class QLearningState(NamedTuple):
  """One trial.

  Attributes:
    params: of the network.
    optimizer: its state.
    key: of all randomness to come.
    num_games: `[]` int32.
    counts: for the next report.
  """

  params: chex.ArrayTree
  optimizer: chex.ArrayTree
  key: chex.PRNGKey
  num_games: chex.Array
  counts: Counts


class Episodes(NamedTuple):
  """Whole games; after the end of a game nothing is legal, and all outputs are 0.

  Attributes:
    boards: `[P, B, num_cells]` int8, before each move, 1 the mover's stones.
    is_legal: `[P, B, A]` bool.
    outputs: `[P, B, A]` float32, of the network.
    actions: `[P, B]` int32, the moves made.
    is_best: `[P, B]` bool, whether their outputs are among the highest.
    ends: `[B]` the last positions.
  """

  boards: chex.Array
  is_legal: chex.Array
  outputs: chex.Array
  actions: chex.Array
  is_best: chex.Array
  ends: jaxgames.State


class Examples(NamedTuple):
  """Positions with the outputs that the network is to have, `[...]` of them.

  Attributes:
    boards: `[..., num_cells]` int8.
    is_legal: `[..., A]` bool.
    desired: `[..., A]` float32.
  """

  boards: chex.Array
  is_legal: chex.Array
  desired: chex.Array


# What a step of gradient descent changes: the parameters and the optimizer's state.
Online = tuple[chex.ArrayTree, chex.ArrayTree]


class QLearner(learner_lib.NetworkLearner):
  """Learns a Q network from its own games."""

  def __init__(self, task: learner_base.Task, settings: qlearning_settings.Settings):
    task.require_self_play("qlearning")
    self.settings = settings
    self.game = task.game
    self.network = agent.make_network(task.game, settings.network)
    self.num_lanes = task.parallel_games
    self.minibatch = minibatches.check_size(settings.minibatch, self.num_lanes)
    self.epsilon_fn = schedule.linear(
      settings.epsilon, settings.final_epsilon, task.num_games
    )
    self.descent = descent.Descent(
      "sgd", settings.learning_rate, settings.final_learning_rate, task.num_games
    )

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> QLearningState:
    del opponent  # There is one.
    key, key_params = jax.random.split(key)
    params = q_network.init_params(self.network, key_params)
    return QLearningState(
      params=params,
      optimizer=self.descent.init(params),
      key=key,
      num_games=jnp.int32(0),
      counts=Counts(jnp.float32(0), counting.zeros(counting.GameCounts)),
    )

  def num_games(self, state: QLearningState) -> jax.Array:
    return state.num_games

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return agent.make_agent(self.game, self.settings, parameters)

  # Section 4: play, find the desired outputs backward, train on all symmetric copies.

  def _step(self, state: QLearningState) -> QLearningState:
    key, key_play = jax.random.split(state.key)
    episodes = self._play(state, key_play)
    desired = self._desired(episodes)
    examples = self._examples(episodes, desired)
    state = self._update(state._replace(key=key), examples)
    return self._count(state, episodes, desired)

  @jax.named_scope("move")
  def _play(self, state: QLearningState, key: chex.PRNGKey) -> Episodes:
    """Plays games from the first move to the last."""
    game, epsilon = self.game, self.epsilon_fn(state.num_games)

    def ply(
      positions: jaxgames.State, key_ply: chex.PRNGKey
    ) -> tuple[jaxgames.State, tuple[jax.Array, ...]]:
      boards = jax.vmap(game.observe)(positions).reshape(self.num_lanes, -1)
      is_legal = jax.vmap(game.legal_actions)(positions)
      outputs = jnp.asarray(self.network.apply(state.params, boards, is_legal))
      actions, is_best = self._choose(outputs, is_legal, epsilon, key_ply)
      with jax.named_scope("rules"):
        after = jax.vmap(game.step)(positions, actions)
      return after, (boards, is_legal, outputs, actions, is_best)

    begin = batching.repeat(game.init(), self.num_lanes)
    keys = jax.random.split(key, game.num_cells)
    ends, seen = jax.lax.scan(ply, begin, keys)
    boards, is_legal, outputs, actions, is_best = seen
    return Episodes(boards, is_legal, outputs, actions, is_best, ends)

  def _choose(
    self,
    outputs: jax.Array,
    is_legal: jax.Array,
    epsilon: jax.Array,
    key: chex.PRNGKey,
  ) -> tuple[jax.Array, jax.Array]:
    """Returns moves `[B]` int32, some of them random, and whether they are best."""
    key_whether, key_which = jax.random.split(key)
    is_random = jax.random.uniform(key_whether, (self.num_lanes,)) < epsilon
    random = jax.random.bits(key_which, (self.num_lanes,), jnp.uint32)
    is_best = jax.vmap(q_greedy.best_actions, in_axes=(0, 0, None))(
      outputs, is_legal, self.settings.margin
    )
    is_choice = jnp.where(is_random[:, None], is_legal, is_best)
    actions = jax.vmap(base.draw_allowed)(random, is_choice)
    return actions, batching.pick(is_best, actions)

  @jax.named_scope("update")
  def _desired(self, episodes: Episodes) -> jax.Array:
    """Returns what the outputs should have been, `[P, B, A]` (Table 2)."""
    settings = self.settings
    # The answer to each move; to the last one there is none.
    is_updated = jnp.ones_like(episodes.is_best)
    if settings.random_answers == "ignored":
      is_over = ~episodes.is_legal.any(axis=2)
      is_updated = is_updated.at[:-1].set((episodes.is_best | is_over)[1:])
    rewards = (settings.win, settings.draw, settings.loss)
    return jax.vmap(
      functools.partial(desired_outputs, discount=settings.discount, rewards=rewards),
      in_axes=(1, 1, 1, 0, 0),
      out_axes=1,
    )(
      episodes.outputs,
      episodes.actions,
      is_updated,
      episodes.ends.num_moves,
      episodes.ends.winner != 0,
    )

  @jax.named_scope("memory")
  def _examples(self, episodes: Episodes, desired: jax.Array) -> Examples:
    """Returns the training sets with their copies, `[P, copies, B]`, last move first."""
    cells, actions = self.game.symmetries, self.game.action_symmetries
    if not self.settings.symmetric_copies:
      cells, actions = cells[:1], actions[:1]

    def copies(values: jax.Array, table: chex.Array) -> jax.Array:
      return jnp.moveaxis(values[::-1][:, :, table], 2, 1)

    return Examples(
      boards=copies(episodes.boards, cells),
      is_legal=copies(episodes.is_legal, actions),
      desired=copies(desired, actions),
    )

  @jax.named_scope("update")
  def _update(self, state: QLearningState, examples: Examples) -> QLearningState:
    """Trains on the examples of all games, minibatch by minibatch."""
    # Games first, `[B, P, copies]`, so that minibatches are rows.
    by_game = jax.tree.map(lambda values: jnp.moveaxis(values, 2, 0), examples)
    train = functools.partial(self._train, state.num_games)
    params, optimizer = minibatches.scan(
      train, (state.params, state.optimizer), by_game, self.minibatch
    )
    return state._replace(params=params, optimizer=optimizer)

  def _train(self, num_games: jax.Array, online: Online, by_game: Examples) -> Online:
    """Takes the steps of gradient descent, in one pass over the examples or more."""
    examples = jax.tree.map(lambda values: jnp.moveaxis(values, 0, 2), by_game)
    num_plies, num_copies, *_ = examples.boards.shape
    steps = {"set": 1, "position": num_plies, "example": num_plies * num_copies}
    num_steps = steps[self.settings.steps]

    def divide(values: jax.Array) -> jax.Array:
      return values.reshape(num_steps, -1, values.shape[-1])

    divided = jax.tree.map(divide, examples)

    def step(online: Online, part: Examples) -> tuple[Online, None]:
      return self._descend(num_games, online, part), None

    def one_pass(online: Online, _: None) -> tuple[Online, None]:
      return jax.lax.scan(step, online, divided)

    return jax.lax.scan(one_pass, online, None, length=self.settings.passes)[0]

  def _descend(
    self, num_games: jax.Array, online: Online, examples: Examples
  ) -> Online:
    """Takes one step of gradient descent."""
    params, optimizer = online
    share = 1.0 if self.settings.gradient == "sum" else 1.0 / self.minibatch

    def loss(params: chex.ArrayTree) -> jax.Array:
      outputs = self.network.apply(params, examples.boards, examples.is_legal)
      return 0.5 * share * ((examples.desired - outputs) ** 2).sum()

    gradient = jax.grad(loss)(params)
    return self.descent.step(gradient, optimizer, params, num_games)

  @jax.named_scope("rules")
  def _count(
    self, state: QLearningState, episodes: Episodes, desired: jax.Array
  ) -> QLearningState:
    """Counts the games, all of which have ended."""
    counts, ends = state.counts, episodes.ends
    squared_errors = ((desired - episodes.outputs) ** 2).sum()
    is_first = jnp.ones_like(ends.is_over)
    return state._replace(
      num_games=state.num_games + self.num_lanes,
      counts=Counts(
        squared_errors=counts.squared_errors + squared_errors,
        games=counting.count_ended(counts.games, ends, is_first),
      ),
    )

  def _metrics(self, state: QLearningState) -> learner_base.Metrics:
    counts = state.counts
    return {
      "q_error": jnp.sqrt(counts.squared_errors / counts.games.num_moves),
      **counting.game_metrics(counts.games, "first_wins"),
    }


def desired_outputs(
  outputs: chex.Array,
  actions: chex.Array,
  is_updated: chex.Array,
  num_moves: chex.Array,
  is_won: chex.Array,
  *,
  discount: float,
  rewards: tuple[float, float, float],
) -> jax.Array:
  """Returns the desired outputs of one game, section 4 of the qlearn paper.

  The last move of each side is worth its reward. An earlier one is worth the discount
  times the most of the desired outputs at the side's next move, two plies later.

  Args:
    outputs: `[P, A]` float32, the network's at each ply, 0 for moves that are not legal.
    actions: `[P]` int32, the moves made.
    is_updated: `[P]` bool, whether a move's output is replaced by its worth.
    num_moves: `[]` int32, how many there were before the end.
    is_won: `[]` bool, whether the last of them won.
    discount: gamma.
    rewards: for a win, a draw and a loss.
  """
  chex.assert_rank([outputs, actions, is_updated, num_moves, is_won], [2, 1, 1, 0, 0])
  chex.assert_equal_shape_prefix([outputs, actions, is_updated], 1)
  win, draw, loss = rewards
  places = jnp.arange(outputs.shape[1], dtype=jnp.int32)
  numbers = jnp.arange(outputs.shape[0], dtype=jnp.int32)
  reward = jnp.where(is_won, jnp.where(numbers == num_moves - 1, win, loss), draw)
  is_last = numbers >= num_moves - 2
  is_updated = is_updated & (numbers < num_moves)

  def ply(
    later: tuple[jax.Array, jax.Array], now: tuple[jax.Array, ...]
  ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
    theirs, mine = later
    output, action, is_updated, reward, is_last = now
    target = jnp.where(is_last, reward, discount * mine)
    desired = jnp.where((places == action) & is_updated, target, output)
    return (desired.max(), theirs), desired

  nothing = jnp.float32(0)
  plies = (outputs, actions, is_updated, reward, is_last)
  _, desired = jax.lax.scan(ply, (nothing, nothing), plies, reverse=True)
  return desired
