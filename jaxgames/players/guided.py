"""Tree search guided by a player that rates moves and evaluates positions."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames import search
from jaxgames.players import base
from jaxgames.players import lookahead
from jaxgames.players import mcts
from jaxgames.players import value_greedy

__all__ = ["Guided", "make"]

# Stands for -inf: finite, so that positions without a move make no nan.
LOWEST = -1e30


@struct.dataclass
class Guided(base.Memoryless):
  """Searches as AlphaZero does, then plays the most visited move.

  New positions are evaluated by the player, without rollouts. A softmax of its ratings
  is the prior. Until moves are tried, the best is assumed to be worth as much as the
  position, and others less by as much as their ratings are lower. Where a move wins at
  once, only such moves are tried; else, where the opponent threatens to win at once,
  only moves that stop it. A player that would have to stop two such moves has lost.

  Attributes:
    player: rates moves and evaluates positions.
    simulations: how many for each move.
    exploration: the constant c of the bound.
    temperature: by which ratings are divided; the lower, the fewer moves are tried.
  """

  player: lookahead.Rater
  simulations: int = struct.field(pytree_node=False, default=200)
  exploration: chex.Numeric = 0.5
  temperature: chex.Numeric = 0.05

  @property
  def game(self) -> game_lib.LineGame:
    return self.player.game

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    tree = self.grow(state, key)
    visits = tree.visits[0]
    # Among the most visited the one with the best results; they weigh less than a visit.
    worth = visits + 0.25 * tree.results[0] / jnp.maximum(visits, 1.0)
    is_legal = self.game.legal_actions(state)
    return jnp.argmax(jnp.where(is_legal, worth, -1.0)).astype(jnp.int32)

  def grow(self, state: game_lib.State, key: chex.PRNGKey) -> search.Tree:
    """Returns the tree of a position; the key is consumed."""
    return search.search(
      self.game,
      state,
      key,
      evaluate_fn=self._evaluate,
      select_fn=search.prior_bound(self.exploration),
      num_simulations=self.simulations,
    )

  def _evaluate(self, state: game_lib.State, key: chex.PRNGKey) -> search.Evaluation:
    wins = value_greedy.winning_actions(self.game, state)
    others = state._replace(own=state.other, other=state.own)
    stops = value_greedy.winning_actions(self.game, others)
    is_forced = jnp.where(wins.any(), wins, stops)
    ratings = self.player.rate_actions(state, jax.random.uniform(key, wins.shape))
    ratings = jnp.where(is_forced | ~is_forced.any(), ratings, -jnp.inf)
    ratings = jnp.maximum(ratings, LOWEST)
    below_best = ratings - ratings.max()
    has_lost = stops.sum(dtype=jnp.int32) > 1
    value = jnp.where(has_lost, -1.0, self.player.evaluate(state))
    value = jnp.where(wins.any(), 1.0, value)
    return search.Evaluation(
      result=jnp.where(state.num_moves % 2 == 0, value, -value),
      advice=search.Advice(
        priors=jax.nn.softmax(below_best / self.temperature),
        values=jnp.maximum(value + below_best, -1.0),
      ),
    )


def make(
  game: game_lib.LineGame,
  *,
  player: base.Player,
  simulations: int,
  exploration: float,
  temperature: float,
) -> Guided:
  """Returns a player that searches with the help of another.

  Raises:
    ValueError: if that player does not rate moves, or a number is out of range.
  """
  del game
  mcts.check_search(simulations, exploration)
  if not 0 < temperature < float("inf"):
    raise ValueError(f"temperature must be above 0, not {temperature}")
  rater = lookahead.as_rater(player)
  return Guided(rater, simulations, exploration, temperature)
