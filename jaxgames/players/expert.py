"""Perfect play, looked up in a solved table."""

from typing import cast, get_args

import chex
from flax import struct
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.exact import numbering
from jaxgames.exact import solver
from jaxgames.players import base

__all__ = ["Expert", "make"]


@struct.dataclass
class Expert(base.Chooser):
  """Plays the soonest win, else a draw, else the latest loss.

  Attributes:
    game: the game played.
    best_actions: `[num_numbers]` uint32, a set of actions for each position.
    ties: which of several best actions to play, a `random` one or the `first`.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  best_actions: chex.Array
  ties: options.Ties = struct.field(pytree_node=False, default="random")

  @property
  def is_deterministic(self) -> bool:
    return self.ties == "first"

  def choices(self, state: game_lib.State) -> bits.Words:
    table = jnp.asarray(self.best_actions)
    word = table[numbering.number(self.game, state)]
    if self.ties == "first":
      word = word & (~word + np.uint32(1))
    cells = base.unfold(self.game, (word,))
    return bits.intersection(cells, self.game.playable_cells(state))


def make(game: game_lib.LineGame, *, ties: str) -> Expert:
  """Returns the expert of a game.

  Args:
    game: one that is small enough to be solved.
    ties: one of `options.Ties`.

  Raises:
    ValueError: if the game is too large to be solved, or there are no such ties.
  """
  if ties not in get_args(options.Ties):
    raise ValueError(f"ties must be first or random, not {ties!r}")
  best_actions = solver.solve(game).best_actions
  return Expert(game, best_actions, cast(options.Ties, ties))
