"""The player that trusts the critic of the gomoku paper, and how it looks at moves.

In the shapes, `B` is the number of games and `S` that of shapes of stones.
"""

from typing import NamedTuple

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import lanes
from jaxgames import networks
from jaxgames import shapes as shapes_lib
from jaxgames import windows
from jaxgames.players import base

__all__ = ["CriticGreedy", "Moves", "after", "consider", "is_best"]

# Moves judged at a time: most positions have no more near their stones, or twice that.
CHUNK = 32


class Moves(NamedTuple):
  """What may be played in each game, in the order of the cells.

  Attributes:
    cells: `[B, n]` int32; the place of no move has some cell.
    is_move: `[B, n]` bool, whether there is a move at this place.
    values: `[B, n]` float32, how likely player 1 is to win after it.
  """

  cells: chex.Array
  is_move: chex.Array
  values: chex.Array


def consider(
  critic: networks.Critic,
  params: chex.ArrayTree,
  games: game_lib.State,
  situations: networks.Situation,
  *,
  distance: int,
) -> Moves:
  """Judges all moves near stones.

  Games differ in how many moves there are. They are judged some at a time until no game
  has any left, so that the usual position does not pay for the largest.

  Args:
    critic: judges.
    params: its parameters.
    games: `[B]` positions that are not over; if one is, its moves mean nothing.
    situations: `[B]` the same, as the critic sees them.
    distance: how far from a stone a move may be.
  """
  game, num_games = critic.game, games.num_moves.shape[0]
  num_chunks = -(-game.num_cells // CHUNK)

  def list_moves(state: game_lib.State) -> tuple[jax.Array, jax.Array]:
    is_near = windows.near_stones(game, state, distance)
    (cells,) = jnp.nonzero(is_near, size=num_chunks * CHUNK, fill_value=0)
    return cells.astype(jnp.int32), is_near.sum(dtype=jnp.int32)

  cells, num_moves = jax.vmap(list_moves)(games)
  near = _surroundings(critic, games)

  def judge(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    number, values = carry
    start = number * CHUNK
    chunk = jax.lax.dynamic_slice_in_dim(cells, start, CHUNK, axis=1)
    inputs = critic.encode(_after(critic, situations, near, chunk))
    found = jnp.asarray(critic.apply(params, inputs))
    values = jax.lax.dynamic_update_slice_in_dim(values, found, start, axis=1)
    return number + 1, values

  values = jnp.zeros((num_games, num_chunks * CHUNK), jnp.float32)
  _, values = jax.lax.while_loop(
    lambda carry: carry[0] * CHUNK < num_moves.max(), judge, (jnp.int32(0), values)
  )
  places = jnp.arange(num_chunks * CHUNK, dtype=jnp.int32)
  return Moves(cells, places[None] < num_moves[:, None], values)


def is_best(moves: Moves, is_turn: chex.Array) -> jax.Array:
  """Returns `[B, n]` bool, the moves that are worth most to who is to move.

  Args:
    moves: that may be played.
    is_turn: `[B]` bool, whether player 1 is to move, who wants a high value.
  """
  worth = jnp.where(is_turn[:, None], moves.values, -moves.values)
  worth = jnp.where(moves.is_move, worth, -jnp.inf)
  return moves.is_move & (worth == worth.max(axis=1, keepdims=True))


def after(
  critic: networks.Critic,
  games: game_lib.State,
  situations: networks.Situation,
  cells: chex.Array,
) -> networks.Situation:
  """Returns `[B]` the situations after a move in each game.

  Args:
    critic: whose shapes are counted.
    games: `[B]` positions.
    situations: `[B]` the same.
    cells: `[B]` int32, the moves.
  """
  near = _surroundings(critic, games)
  found = _after(critic, situations, near, cells[:, None])
  return jax.tree.map(lambda rows: rows[:, 0], found)


def _surroundings(critic: networks.Critic, games: game_lib.State) -> jax.Array:
  """Returns `[B, num_cells, 2, num_directions]` int32, for the mover and the other."""
  game = critic.game
  return jax.vmap(lambda s: shapes_lib.surroundings(game, game.observe(s)))(games)


def _after(
  critic: networks.Critic,
  situations: networks.Situation,
  near: jax.Array,
  cells: jax.Array,
) -> networks.Situation:
  """Returns `[B, n]` the situations after each of `[B, n]` moves."""

  def moves_of(
    now: networks.Situation, near: jax.Array, cells: jax.Array
  ) -> networks.Situation:
    # Those who move first, then back to player 1 first.
    counts = jnp.where(now.is_turn, now.counts, now.counts[::-1])
    counts = shapes_lib.count_after(critic.drawings, counts, near[cells])
    stone = jnp.where(now.is_turn, jnp.int8(1), jnp.int8(-1))
    places = jnp.arange(now.boards.shape[0], dtype=jnp.int32)
    is_new = cells[:, None] == places[None]
    return networks.Situation(
      counts=jnp.where(now.is_turn, counts, counts[:, ::-1]),
      boards=jnp.where(is_new, stone, now.boards[None]),
      is_turn=jnp.broadcast_to(~now.is_turn, cells.shape),
      is_first=jnp.broadcast_to(now.is_first, cells.shape),
    )

  return jax.vmap(moves_of)(situations, near, cells)


@struct.dataclass
class CriticGreedy(base.Chooser):
  """Plays the move after which it is most likely to win, any if there are several.

  It takes itself for player 1, whether it moves first or second.

  Attributes:
    critic: judges.
    params: the critic's parameters.
    distance: how far from a stone a move may be.
    takes_five: whether it completes a line wherever it can, whatever the critic says.
  """

  critic: networks.Critic = struct.field(pytree_node=False)
  params: chex.ArrayTree
  distance: int = struct.field(pytree_node=False, default=1)
  takes_five: bool = struct.field(pytree_node=False, default=True)

  @property
  def game(self) -> game_lib.LineGame:  # type: ignore[override]
    return self.critic.game

  def choices(self, state: game_lib.State) -> bits.Words:
    game = self.game
    games, situations = lanes.repeat((state, self._situation(state)), 1)
    moves = consider(
      self.critic, self.params, games, situations, distance=self.distance
    )
    is_chosen = is_best(moves, situations.is_turn)[0]
    places = jnp.where(is_chosen, moves.cells[0], game.num_cells)
    is_chosen = jnp.zeros(game.num_cells, bool).at[places].set(True, mode="drop")
    cells = bits.pack(is_chosen, game.num_words)
    if not self.takes_five:
      return cells
    fives = bits.intersection(game.winning_cells(state.own), game.playable_cells(state))
    return bits.select(bits.contains_any(fives), fives, cells)

  def _situation(self, state: game_lib.State) -> networks.Situation:
    board = self.game.observe(state)
    return networks.Situation(
      counts=self.critic.count(board),
      boards=board.reshape(-1),
      is_turn=jnp.bool_(True),
      is_first=state.num_moves % 2 == 0,
    )
