"""Random openings, so that players without chance play more than two games."""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import bits
from jaxgames import players
from jaxgames import randomness

__all__ = ["DEFAULT_PLIES", "draw"]

# Where both players are deterministic and nothing else is asked for: enough for hundreds
# of positions even of tic-tac-toe, and over before a game is decided.
DEFAULT_PLIES = 4

# Openings that are drawn at a time; most of them are good ones.
NUM_CANDIDATES = 1024

# The key of openings is that of this batch of games, which no match reaches.
STREAM = np.uint32(2**32 - 1)


class _Candidates(NamedTuple):
  """Random beginnings of games.

  Attributes:
    actions: `[n, num_plies]` int32.
    boards: `[n, *shape]` int8.
    is_good: `[n]` bool, whether they can be openings.
  """

  actions: jax.Array
  boards: jax.Array
  is_good: jax.Array


def draw(
  game: jaxgames.LineGame, *, num_openings: int, num_plies: int, seed: int
) -> np.ndarray:
  """Draws openings: random legal moves after which the game is open.

  An opening does not end the game, and the player to move cannot win at once. No two
  lead to the same position, as long as there are others; then all of them come again
  in the same order.

  Args:
    game: the rules.
    num_openings: how many.
    num_plies: the moves of each, of both players together.
    seed: the same seed, the same openings.

  Returns:
    `[num_openings, num_plies]` int32.

  Raises:
    ValueError: if there are no such openings.
  """
  if num_plies == 0:
    return np.zeros((num_openings, 0), np.int32)
  found: dict[bytes, np.ndarray] = {}
  if 0 < num_plies < game.num_cells:
    key = jax.random.fold_in(randomness.key(seed), STREAM)
    num_before = -1
    while num_before < len(found) < num_openings:
      num_before = len(found)
      key, key_draw = jax.random.split(key)
      drawn = _draw(game, key_draw, num_plies)
      drawn = jax.tree.map(np.asarray, drawn)
      for place in np.flatnonzero(drawn.is_good):
        found.setdefault(drawn.boards[place].tobytes(), drawn.actions[place])
  if not found:
    raise ValueError(
      f"openings of {num_plies} plies leave no game open on a board of "
      f"{game.num_cells} cells: choose fewer, or 0 for none"
    )
  distinct = np.stack(list(found.values()))
  return distinct[np.arange(num_openings) % len(distinct)]


@functools.partial(jax.jit, static_argnums=(0, 2))
def _draw(game: jaxgames.LineGame, key: chex.PRNGKey, num_plies: int) -> _Candidates:
  """Draws some; the key is consumed."""
  player = players.Random(game)

  def ply(state: jaxgames.State, key: chex.PRNGKey) -> tuple[jaxgames.State, jax.Array]:
    action = player.act((), state, key)
    return game.step(state, action), action

  def candidate(key: chex.PRNGKey) -> _Candidates:
    keys = jax.random.split(key, num_plies)
    state, actions = jax.lax.scan(ply, game.init(), keys)
    wins = bits.intersection(game.winning_cells(state.own), game.playable_cells(state))
    is_good = ~state.is_over & ~bits.contains_any(wins)
    return _Candidates(actions.astype(jnp.int32), game.board(state), is_good)

  return jax.vmap(candidate)(jax.random.split(key, NUM_CANDIDATES))
