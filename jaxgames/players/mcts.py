"""Monte Carlo tree search with random rollouts."""

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames import search
from jaxgames.players import base
from jaxgames.players import random

__all__ = ["Mcts", "check_search", "make", "roll_out"]

# A search that stands in for a longer one has this many times fewer simulations.
FEWER_SIMULATIONS = 8


@struct.dataclass
class Mcts(base.Memoryless):
  """Searches as in section 2 of the dqn paper, then plays the most visited move.

  Each simulation descends by the paper's upper confidence bound, adds one position to
  the tree, plays on from it at random, and counts the result on the way back.

  Attributes:
    game: the game played.
    simulations: how many for each move.
    exploration: the constant c of the bound; the paper names 2.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  simulations: int = struct.field(pytree_node=False, default=200)
  exploration: chex.Numeric = 2.0

  def act(
    self, memory: base.Memory, state: game_lib.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    key_search, key_ties = jax.random.split(key)
    visits = self.grow(state, key_search).visits[0]
    tie_breaks = jax.random.uniform(key_ties, visits.shape, maxval=0.5)
    is_legal = self.game.legal_actions(state)
    return jnp.argmax(jnp.where(is_legal, visits + tie_breaks, -1.0)).astype(jnp.int32)

  def grow(self, state: game_lib.State, key: chex.PRNGKey) -> search.Tree:
    """Returns the tree of a position; the key is consumed."""

    def evaluate(state: game_lib.State, key: chex.PRNGKey) -> search.Evaluation:
      return search.Evaluation(roll_out(self.game, state, key))

    return search.search(
      self.game,
      state,
      key,
      evaluate_fn=evaluate,
      select_fn=search.upper_confidence_bound(self.exploration),
      num_simulations=self.simulations,
    )

  @property
  def is_search(self) -> bool:
    return True

  def faster(self) -> tuple[base.Player, ...]:
    found = []
    simulations = self.simulations // FEWER_SIMULATIONS
    while simulations:
      found.append(Mcts(self.game, simulations, self.exploration))
      simulations //= FEWER_SIMULATIONS
    return tuple(found)


def make(game: game_lib.LineGame, *, simulations: int, exploration: float) -> Mcts:
  """Returns a player that searches.

  Raises:
    ValueError: if a number is out of range.
  """
  check_search(simulations, exploration)
  return Mcts(game, simulations, exploration)


def check_search(simulations: int, exploration: float) -> None:
  """Raises a `ValueError` if no search can have these numbers."""
  if simulations < 1:
    raise ValueError(f"simulations must be at least 1, not {simulations}")
  if not 0 <= exploration < float("inf"):
    raise ValueError(f"exploration must be 0 or more, not {exploration}")


def roll_out(
  game: game_lib.LineGame, state: game_lib.State, key: chex.PRNGKey
) -> jax.Array:
  """Returns the winner if both sides play at random: 1 first player, 0, or -1."""
  player = random.Random(game)

  def play_on(
    carry: tuple[game_lib.State, chex.PRNGKey],
  ) -> tuple[game_lib.State, chex.PRNGKey]:
    now, key = carry
    key, key_move = jax.random.split(key)
    return game.step(now, player.act((), now, key_move)), key

  final, _ = jax.lax.while_loop(lambda carry: ~carry[0].is_over, play_on, (state, key))
  return final.winner.astype(jnp.float32)
