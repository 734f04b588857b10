"""A table of utilities, updated backward after each game: the hybrid paper, Listing 1.

A trial plays one game after the other, as the paper does; the many are the trials. A
turn is a whole game: its plies are written out, since games of one length keep all
trials in step, and a game that is over stays where it is. Positions are places in the
game's graph, so a move is a look-up, and so are the opponent's rules.
"""

from __future__ import annotations

from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from jaxgames.players import base
from jaxgames.players import table_greedy
from train import config as config_lib
from train.learners.common import schedule
from train.learners.tabular import opponents as opponents_lib
from train.learners.tabular import settings as tabular_settings

__all__ = ["TabularLearner", "TabularState"]


class TabularState(NamedTuple):
  """One trial.

  Attributes:
    utilities: `[num_states]` float32.
    key: of all randomness; each game's is folded in.
    opponent: `[]` int32, whom the trial plays against.
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

  def __init__(self, config: config_lib.RunConfig):
    settings = config.learner.settings
    assert isinstance(settings, tabular_settings.Settings)
    if config.parallel_games != 1:
      raise ValueError(
        f"parallel_games is {config.parallel_games}, but the tabular learner plays one "
        "game after the other in each trial: use more trials"
      )
    self.settings = settings
    self.game = jaxgames.make(config.game)
    self.num_games_wanted = config.games
    self.graph = graph_lib.of(self.game)
    self.side = 1 if settings.starts == "always" else -1
    self.opponents = opponents_lib.tabulate(self.game, config.opponents)
    successors = self.graph.successors
    # Under symmetry games are played among representatives only.
    self.successors = (
      self.graph.representatives[successors] if settings.symmetry else successors
    )
    reward = {1: settings.win, 0: settings.draw, -1: settings.loss}
    ends = [reward[int(sign)] for sign in self.graph.states.winner * self.side]
    self.rewards = np.asarray(ends, np.float32)

  # What the loop asks for.

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

  def turn(self, state: TabularState, goes_on: chex.Array) -> TabularState:
    random = self._random_numbers(state)
    way = self._draw_way(state, random.game)
    moves = self._play(state.utilities, way, random)
    places, values = self._learn(state, moves)
    # A trial that waits writes what is there already.
    before = state.utilities[places]
    updated = state.utilities.at[places].set(jnp.where(goes_on, values, before))
    return self._count(state._replace(utilities=updated), moves, way, goes_on)

  def num_games(self, state: TabularState) -> jax.Array:
    return state.num_games

  def is_done(self, state: TabularState) -> jax.Array:
    patience, look_every = self.settings.patience, self.settings.look_every
    is_calm = state.num_games - state.last_loss >= patience
    is_looked_at = (state.num_games % look_every == 0) & (state.num_games > 0)
    return is_calm & is_looked_at & (patience > 0)

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

  def player(self, state: TabularState) -> players.Player:
    table = state.utilities
    if self.settings.symmetry:
      table = table[self.graph.representatives]
    return table_greedy.TableGreedy(self.game, table, self.side)

  def parameters(self, state: TabularState) -> chex.ArrayTree:
    return state.utilities

  # One game.

  def _random_numbers(self, state: TabularState) -> _Random:
    num_cells = self.game.num_cells
    num_coins = num_cells if self.settings.random_moves else 0
    key = jax.random.fold_in(state.key, state.num_games)
    random = jax.random.bits(key, (2 + num_cells + num_coins,), jnp.uint32)
    return _Random(random[:2], random[2 : 2 + num_cells], random[2 + num_cells :])

  def _draw_way(self, state: TabularState, random: chex.Array) -> jax.Array:
    """Returns the way in which the opponent plays the next game, `[]` int32."""
    way = self.opponents.draw(state.opponent, random[0])
    every = self.settings.random_every
    if not every:
      return way
    is_random = state.num_games % every == 0
    if self.settings.random_games == "drawn":
      is_random = base.draw_from(random[1], jnp.int32(every)) == 0
    return jnp.where(is_random, opponents_lib.RANDOM, way)

  def _play(self, utilities: chex.Array, way: chex.Array, random: _Random) -> _Game:
    """Plays a game.

    Args:
      utilities: `[num_states]` float32.
      way: `[]` int32, how the opponent plays.
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
        is_random.append(self._moves_at_random(ply, way, random))
        actions = self.opponents.choices(way, place, worth, legal)
        actions = jnp.where(is_random[-1], legal, actions)
      rank = base.draw_from(random.choices[ply], bits.count((actions,)))
      action = bits.nth((actions,), rank)
      # Once the game is over no action is legal, and every successor the same.
      place = successors[jnp.minimum(action, self.game.num_actions - 1)]
      places.append(place)
    return _Game(jnp.stack(places), jnp.stack(is_random))

  def _moves_at_random(self, ply: int, way: chex.Array, random: _Random) -> jax.Array:
    """Returns whether the opponent chooses among all actions, `[]` bool."""
    if ply == 0 and self.settings.opening == "random":
      return jnp.bool_(True)
    is_random = way == opponents_lib.RANDOM
    share = self.settings.random_moves
    if share:
      is_random |= random.coins[ply] < np.uint32(round(share * 0xFFFFFFFF))
    return is_random

  def _learn(self, state: TabularState, game: _Game) -> tuple[jax.Array, jax.Array]:
    """Returns the positions to be updated, and their new utilities (equation 1)."""
    settings, places = self.settings, game.places
    before = state.utilities[places]
    is_over = jnp.asarray(self.graph.legal_actions)[places] == 0
    reward = jnp.asarray(self.rewards)[places[-1]]
    rate = schedule.linear(
      settings.learning_rate,
      settings.final_learning_rate,
      state.num_games,
      self.num_games_wanted,
    )
    values, target = [reward], reward
    for ply in range(self.game.num_cells - 1, -1, -1):
      error = settings.discount * target - before[ply]
      old = jnp.where(is_over[ply], reward, before[ply])
      new = jnp.where(is_over[ply], reward, before[ply] + rate * error)
      if not settings.random_teaches:
        new = jnp.where(game.is_random[ply], old, new)
      # Where the learner is to move, it was the opponent who went there.
      is_updated = settings.visits == "all" or not self._is_mine(ply)
      values.append(new if is_updated else old)
      if is_updated:
        target = new if settings.values == "fresh" else old
    return places, jnp.stack(values[::-1])

  def _count(
    self,
    state: TabularState,
    game: _Game,
    way: chex.Array,
    goes_on: chex.Array,
  ) -> TabularState:
    """Counts a game, if it was one."""
    end = game.places[-1]
    is_lost = jnp.asarray(self.graph.states.winner)[end] == -self.side
    num_moves = jnp.asarray(self.graph.states.num_moves)[end]
    slot = state.num_games % self.settings.window
    num_games = state.num_games + goes_on.astype(jnp.int32)
    counts = is_lost & goes_on
    if self.settings.losses_count == "scripted":
      counts = counts & (way != opponents_lib.RANDOM)
    return state._replace(
      num_games=num_games,
      last_loss=jnp.where(counts, num_games, state.last_loss),
      num_losses=state.num_losses + (is_lost & goes_on).astype(jnp.int32),
      is_lost=state.is_lost.at[slot].set(
        jnp.where(goes_on, is_lost, state.is_lost[slot])
      ),
      num_moves=state.num_moves + jnp.where(goes_on, num_moves, 0).astype(jnp.float32),
    )

  def _is_mine(self, ply: int) -> bool:
    return (ply % 2 == 0) == (self.side == 1)
