"""A table of utilities, updated backward after each game: the hybrid paper, Listing 1.

A trial plays one game after the other, as the paper does; what runs in parallel are the
trials. A step is a whole game: its plies are unrolled, since games of one length keep all
trials in step, and a game that is over stays where it is. Positions are indices into the
game's graph, so a move is a look-up, and so are the opponent's rules.
"""

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from jaxgames.players import base
from jaxgames.players import table_greedy
from train.learners import base as learner_base
from train.learners.common import schedule
from train.learners.tabular import agent
from train.learners.tabular import opponents as opponents_lib
from train.learners.tabular import settings as tabular_settings

__all__ = ["TabularLearner", "TabularState"]


class TabularState(NamedTuple):
  """One trial.

  Attributes:
    utilities: `[num_states]` float32.
    key: of all randomness; each game's is folded in.
    opponent: `[]` int32, the index of the opponent in training.
    num_games: `[]` int32.
    last_loss: `[]` int32, the number of games when the last was lost.
    num_losses: `[]` int32.
    is_lost: `[window]` bool, of the last games, a ring.
    num_moves: `[]` float32, since the last report.
    num_reported: `[]` int32, games at the last report.
  """

  utilities: chex.Array
  key: chex.PRNGKey
  opponent: chex.Array
  num_games: chex.Array
  last_loss: chex.Array
  num_losses: chex.Array
  is_lost: chex.Array
  num_moves: chex.Array
  num_reported: chex.Array


class _Random(NamedTuple):
  """The random numbers of a game, uint32.

  Attributes:
    game: `[2]` for what the opponent is in this game.
    choices: `[num_cells]`, which of the actions is chosen at each ply.
    coins: `[num_cells]`, whether the opponent moves at random; if it never does, none.
  """

  game: chex.Array
  choices: chex.Array
  coins: chex.Array


class _Game(NamedTuple):
  """A game that was played.

  Attributes:
    places: `[num_cells + 1]` int32, its positions; from the end on, the last again.
    is_random: `[num_cells]` bool, whether a move was a random one of the opponent.
  """

  places: chex.Array
  is_random: chex.Array


class TabularLearner:
  """Learns what every position of a small game is worth."""

  def __init__(self, task: learner_base.Task, settings: tabular_settings.Settings):
    if task.parallel_games != 1:
      raise ValueError(
        f"parallel_games is {task.parallel_games}, but the tabular learner plays one "
        "game after the other in each trial: use more trials"
      )
    self.settings = settings
    self.game = task.game
    self.graph = graph_lib.of(self.game)
    self.side = agent.side_of(settings)
    self.opponents = opponents_lib.tabulate(task)
    self.rate_fn = schedule.linear(
      settings.learning_rate, settings.final_learning_rate, task.num_games
    )
    successors = self.graph.successors
    # Under symmetry games are played among representatives only.
    self.successors = (
      self.graph.representatives[successors] if settings.symmetry else successors
    )
    reward = {1: settings.win, 0: settings.draw, -1: settings.loss}
    ends = [reward[int(sign)] for sign in self.graph.states.winner * self.side]
    self.rewards = np.asarray(ends, np.float32)

  def init(self, key: chex.PRNGKey, opponent: chex.Array) -> TabularState:
    return TabularState(
      utilities=jnp.full(self.graph.num_states, self.settings.initial, jnp.float32),
      key=key,
      opponent=opponent,
      num_games=jnp.int32(0),
      last_loss=jnp.int32(0),
      num_losses=jnp.int32(0),
      is_lost=jnp.zeros(self.settings.window, bool),
      num_moves=jnp.float32(0),
      num_reported=jnp.int32(0),
    )

  def step(self, state: TabularState, is_active: chex.Array) -> TabularState:
    random = self._random_numbers(state)
    policy = self._draw_policy(state, random.game)
    game = self._play(state.utilities, policy, random)
    places, values = self._updates(state, game)
    # An inactive trial writes the values that are there already.
    with jax.named_scope("update"):
      before = state.utilities[places]
      updated = state.utilities.at[places].set(jnp.where(is_active, values, before))
    return self._count(state._replace(utilities=updated), game, policy, is_active)

  def num_games(self, state: TabularState) -> jax.Array:
    return state.num_games

  def is_done(self, state: TabularState) -> jax.Array:
    patience, check_every = self.settings.patience, self.settings.check_every
    is_unbeaten = state.num_games - state.last_loss >= patience
    is_checked = (state.num_games % check_every == 0) & (state.num_games > 0)
    return is_unbeaten & is_checked & (patience > 0)

  def report(self, state: TabularState) -> tuple[TabularState, dict[str, jax.Array]]:
    num_recent = jnp.minimum(state.num_games, self.settings.window)
    num_new = state.num_games - state.num_reported
    metrics = {
      "lost_games": state.num_losses.astype(jnp.float32),
      "loss_ratio": state.is_lost.sum(dtype=jnp.int32) / num_recent,
      "game_length": state.num_moves / num_new.astype(jnp.float32),
    }
    state = state._replace(num_moves=jnp.float32(0), num_reported=state.num_games)
    return state, metrics

  def parameters(self, state: TabularState) -> chex.ArrayTree:
    return state.utilities

  def agent(self, parameters: chex.ArrayTree) -> players.Player:
    return agent.make_agent(self.game, self.settings, parameters)

  # One game.

  @jax.named_scope("random")
  def _random_numbers(self, state: TabularState) -> _Random:
    num_cells = self.game.num_cells
    num_coins = num_cells if self.settings.random_moves else 0
    key = jax.random.fold_in(state.key, state.num_games)
    random = jax.random.bits(key, (2 + num_cells + num_coins,), jnp.uint32)
    return _Random(random[:2], random[2 : 2 + num_cells], random[2 + num_cells :])

  @jax.named_scope("answer")
  def _draw_policy(self, state: TabularState, random: chex.Array) -> jax.Array:
    """Returns the policy that the opponent follows in the next game, `[]` int32."""
    policy = self.opponents.draw(state.opponent, random[0])
    every = self.settings.random_every
    if not every:
      return policy
    is_random = state.num_games % every == 0
    if self.settings.random_games == "drawn":
      is_random = base.draw_from(random[1], jnp.int32(every)) == 0
    return jnp.where(is_random, opponents_lib.RANDOM, policy)

  @jax.named_scope("move")
  def _play(self, utilities: chex.Array, policy: chex.Array, random: _Random) -> _Game:
    """Plays a game.

    Args:
      utilities: `[num_states]` float32.
      policy: `[]` int32, of the opponent.
      random: numbers for this game.
    """
    place = jnp.int32(0)
    places, is_random = [place], []
    for ply in range(self.game.num_cells):
      successors = jnp.asarray(self.successors)[place]
      legal = jnp.asarray(self.graph.legal_actions)[place]
      worth = utilities[successors]
      if self._is_mine(ply):
        actions = table_greedy.best_actions(worth, legal)
        if self.settings.ties == "first":
          actions = actions & (~actions + np.uint32(1))
        is_random.append(jnp.bool_(False))
      else:
        is_random.append(self._moves_at_random(ply, policy, random))
        with jax.named_scope("answer"):
          actions = self.opponents.choices(policy, place, worth, legal)
        actions = jnp.where(is_random[-1], legal, actions)
      rank = base.draw_from(random.choices[ply], bits.count((actions,)))
      action = bits.nth((actions,), rank)
      # Once the game is over no action is legal, and every successor the same.
      place = successors[jnp.minimum(action, self.game.num_actions - 1)]
      places.append(place)
    return _Game(jnp.stack(places), jnp.stack(is_random))

  def _moves_at_random(
    self, ply: int, policy: chex.Array, random: _Random
  ) -> jax.Array:
    """Returns whether the opponent chooses among all actions, `[]` bool."""
    if ply == 0 and self.settings.opening == "random":
      return jnp.bool_(True)
    is_random = policy == opponents_lib.RANDOM
    share = self.settings.random_moves
    if share:
      is_random |= random.coins[ply] < np.uint32(round(share * 0xFFFFFFFF))
    return is_random

  @jax.named_scope("update")
  def _updates(self, state: TabularState, game: _Game) -> tuple[jax.Array, jax.Array]:
    """Returns the positions to be updated, and their new utilities (equation 1)."""
    settings, places = self.settings, game.places
    before = state.utilities[places]
    is_over = jnp.asarray(self.graph.legal_actions)[places] == 0
    reward = jnp.asarray(self.rewards)[places[-1]]
    rate = self.rate_fn(state.num_games)
    values, target = [reward], reward
    for ply in range(self.game.num_cells - 1, -1, -1):
      error = settings.discount * target - before[ply]
      old = jnp.where(is_over[ply], reward, before[ply])
      new = jnp.where(is_over[ply], reward, before[ply] + rate * error)
      if not settings.random_updates:
        new = jnp.where(game.is_random[ply], old, new)
      # Where the learner is to move, it was the opponent who went there.
      is_updated = settings.visits == "all" or not self._is_mine(ply)
      values.append(new if is_updated else old)
      if is_updated:
        target = new if settings.values == "fresh" else old
    return places, jnp.stack(values[::-1])

  @jax.named_scope("rules")
  def _count(
    self,
    state: TabularState,
    game: _Game,
    policy: chex.Array,
    is_active: chex.Array,
  ) -> TabularState:
    """Counts a game, if the trial is active."""
    end = game.places[-1]
    is_lost = jnp.asarray(self.graph.states.winner)[end] == -self.side
    num_moves = jnp.asarray(self.graph.states.num_moves)[end]
    slot = state.num_games % self.settings.window
    num_games = state.num_games + is_active.astype(jnp.int32)
    counts = is_lost & is_active
    if self.settings.losses_count == "scripted":
      counts = counts & (policy != opponents_lib.RANDOM)
    return state._replace(
      num_games=num_games,
      last_loss=jnp.where(counts, num_games, state.last_loss),
      num_losses=state.num_losses + (is_lost & is_active).astype(jnp.int32),
      is_lost=state.is_lost.at[slot].set(
        jnp.where(is_active, is_lost, state.is_lost[slot])
      ),
      num_moves=state.num_moves
      + jnp.where(is_active, num_moves, 0).astype(jnp.float32),
    )

  def _is_mine(self, ply: int) -> bool:
    return (ply % 2 == 0) == (self.side == 1)
