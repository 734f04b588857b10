"""Perfect play of a small game, solved from the last positions to the first."""

import functools
from typing import NamedTuple

import numpy as np

from jaxgames import game as game_lib
from jaxgames.exact import graph as graph_lib
from jaxgames.exact import numbering

__all__ = ["Solution", "solve"]

# A loss now; a later one is nearer to 0 by one for each move until then.
LOSS = -100


class Solution(NamedTuple):
  """Perfect play, as tables over `numbering.number`.

  Attributes:
    score: `[num_numbers]` int8 for the player to move: 0 draw, above 0 a win, the
      higher the sooner, below 0 a loss; 0 for numbers of no position.
    best_actions: `[num_numbers]` uint32, a set of the actions with the best score.
    num_states: how many positions can be reached.
  """

  score: np.ndarray
  best_actions: np.ndarray
  num_states: int


@functools.lru_cache
def solve(game: game_lib.LineGame) -> Solution:
  """Returns perfect play: the soonest win, else a draw, else the latest loss.

  Raises:
    ValueError: if the game is too large.
  """
  graph = graph_lib.of(game)
  states = graph.states
  # In a position that is won the player to move has lost.
  scores = np.where(states.is_over & (states.winner != 0), LOSS, 0).astype(np.int8)
  actions = np.zeros(graph.num_states, np.uint32)
  bits = np.uint32(1) << np.arange(game.num_actions, dtype=np.uint32)
  for start, stop in zip(graph.starts[-2::-1], graph.starts[:0:-1], strict=True):
    is_legal = (graph.legal_actions[start:stop, None] & bits) != 0
    theirs = scores[graph.successors[start:stop]]
    mine = np.where(is_legal, -theirs + np.sign(theirs), np.iinfo(np.int8).min)
    best = mine.max(axis=1, keepdims=True)
    is_best = is_legal & (mine == best)
    actions[start:stop] = (is_best * bits).sum(axis=1, dtype=np.uint32)
    is_active = is_legal.any(axis=1)
    scores[start:stop] = np.where(is_active, best[:, 0], scores[start:stop])
  score = np.zeros(numbering.num_numbers(game), np.int8)
  best_actions = np.zeros(score.shape, np.uint32)
  score[graph.numbers], best_actions[graph.numbers] = scores, actions
  return Solution(score, best_actions, graph.num_states)
