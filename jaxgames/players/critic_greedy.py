"""The player that follows the critic of the gomoku paper, and how it considers moves.

In the shapes, `B` is the number of games and `S` that of shapes of stones.
"""

from collections.abc import Callable
import functools
from typing import NamedTuple

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import batching
from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import networks
from jaxgames.gomoku import shapes as shapes_lib
from jaxgames.gomoku import windows
from jaxgames.networks import count_rows
from jaxgames.players import base

__all__ = ["CriticGreedy", "Moves", "after", "consider", "is_best"]

# Moves of each game that are evaluated at a time, on average; and of all games, at
# least and at most.
MOVES_EACH, LEAST, MOST = 16, 32, 512

# Moves that change the counts of more shapes than this are evaluated by all inputs, so
# many at a time. Measured on a CPU, where one move in thirty is of that kind.
MOST_CHANGES, REST = 6, 32


class Moves(NamedTuple):
  """The moves of each game.

  Attributes:
    is_move: `[B, num_cells]` bool, the moves that are considered.
    values: `[B, num_cells]` float32, how likely player 1 is to win after each.
  """

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
  """Evaluates all moves near stones.

  Games differ in how many moves there are. Those of all games make one list, of which
  a chunk is evaluated at a time until none is left: only moves are evaluated. Most of
  them change the counts of a few shapes, and are evaluated by what they change; then
  the others by all inputs.

  Args:
    critic: evaluates situations.
    params: its parameters.
    games: `[B]` positions; of one that is over there are no moves.
    situations: `[B]` the same, as the critic sees them.
    distance: how far from a stone a move may be.
  """
  game, (num_games,) = critic.game, games.num_moves.shape
  chex.assert_shape(situations.boards, (num_games, game.num_cells))
  near_fn = functools.partial(windows.near_stones, game, distance=distance)
  is_move = jax.vmap(near_fn)(games)
  chunk = min(max(MOVES_EACH * num_games, LEAST), MOST)
  # Of a place that holds no move, another move is evaluated and not used.
  listed = _list(is_move.reshape(-1), chunk, padding=0)
  evaluator = _Evaluator(critic, params, games, situations)
  values, is_few = _in_chunks(evaluator.by_changes, listed, chunk)

  size = listed.indices.shape[0]
  is_rest = ~is_few & (np.arange(size, dtype=np.int32) < listed.num)
  rest = _list(is_rest, REST, padding=size)
  (others,) = _in_chunks(
    lambda places: (evaluator.by_inputs(listed.indices[places]),), rest, REST
  )
  values = values.at[rest.indices].set(others, mode="drop")
  return Moves(is_move, values[listed.place].reshape(is_move.shape))


class _Listed(NamedTuple):
  """Where a condition `[size]` holds.

  Attributes:
    indices: `[n]` int32, where it does, in order, and then padding; in whole chunks.
    num: `[]` int32, how often it does.
    place: `[size]` int32, where in `indices` each is for which it holds.
  """

  indices: jax.Array
  num: jax.Array
  place: jax.Array


def _list(condition: jax.Array, chunk: int, *, padding: int) -> _Listed:
  """Lists where a condition `[size]` holds, in chunks."""
  (size,) = condition.shape
  place = jnp.cumsum(condition, dtype=jnp.int32) - 1
  most = -(-size // chunk) * chunk
  # Where it does not hold, a place that does not exist: nothing is written.
  target = jnp.where(condition, place, most)
  indices = (
    jnp.full(most, padding, jnp.int32)
    .at[target]
    .set(jnp.arange(size, dtype=jnp.int32), mode="drop", unique_indices=True)
  )
  return _Listed(indices, place[-1] + 1, place)


def _in_chunks(
  evaluate_fn: Callable[[jax.Array], tuple[jax.Array, ...]], listed: _Listed, chunk: int
) -> tuple[jax.Array, ...]:
  """Returns what a function finds for all that is listed, a chunk at a time."""
  kinds = jax.eval_shape(evaluate_fn, listed.indices[:chunk])
  nothing = tuple(jnp.zeros(listed.indices.shape, kind.dtype) for kind in kinds)

  def go_on(
    carry: tuple[jax.Array, tuple[jax.Array, ...]],
  ) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    start, found = carry
    news = evaluate_fn(jax.lax.dynamic_slice_in_dim(listed.indices, start, chunk))
    return start + chunk, tuple(
      jax.lax.dynamic_update_slice_in_dim(old, new, start, 0)
      for old, new in zip(found, news, strict=True)
    )

  return jax.lax.while_loop(
    lambda carry: carry[0] < listed.num, go_on, (jnp.int32(0), nothing)
  )[1]


class _Evaluator:
  """Evaluates moves of many games; a move is game times number of cells plus cell."""

  def __init__(
    self,
    critic: networks.Critic,
    params: chex.ArrayTree,
    games: game_lib.State,
    situations: networks.Situation,
  ):
    """Computes what all moves have in common; for the arguments see `consider`."""
    self._critic = critic
    self._params = params
    self._situations = situations
    self._near = _surroundings(critic, games)
    self._tables = critic.apply(params, method="tables")
    turned = situations._replace(is_turn=~situations.is_turn)
    sums = critic.apply(params, critic.encode(turned), method="sums")
    self._sums = jnp.asarray(sums)

  def by_changes(self, moves: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the values of moves, and whether they change few enough counts."""
    lane, cells = self._split(moves)
    is_turn = self._situations.is_turn[lane]
    differences = _differences(self._critic, self._near[lane, cells], is_turn)
    changes = count_rows.find_changes(
      self._situations.counts[lane], differences, MOST_CHANGES
    )
    values = self._critic.apply(
      self._params,
      self._tables,
      self._sums[lane],
      changes,
      ~is_turn,
      cells,
      method="after",
    )
    return jnp.asarray(values), changes.num_changed <= MOST_CHANGES

  def by_inputs(self, moves: jax.Array) -> jax.Array:
    """Returns the values of moves, whatever they change."""
    lane, cells = self._split(moves)
    before = jax.tree.map(lambda leaf: leaf[lane], self._situations)
    after = _after(self._critic, before, self._near[lane, cells], cells)
    return jnp.asarray(self._critic.apply(self._params, self._critic.encode(after)))

  def _split(self, moves: jax.Array) -> tuple[jax.Array, jax.Array]:
    num_cells = self._critic.game.num_cells
    return moves // num_cells, moves % num_cells


def is_best(moves: Moves, is_turn: chex.Array) -> jax.Array:
  """Returns `[B, num_cells]` bool, the moves that are worth most to the mover.

  Args:
    moves: that may be played.
    is_turn: `[B]` bool, whether player 1 is to move, for which high values are good.
  """
  chex.assert_rank(moves.values, 2)
  chex.assert_shape(is_turn, (moves.values.shape[0],))
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
  chex.assert_equal_shape([cells, games.num_moves, situations.is_turn])
  near = _surroundings(critic, games)
  places = jnp.arange(cells.shape[0], dtype=jnp.int32)
  return _after(critic, situations, near[places, cells], cells)


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
  """Returns `[n]` the situations after one move each.

  Args:
    critic: whose shapes are counted.
    situations: `[n]` before.
    near: `[n, 2, num_directions]` int32, the surroundings of the moves.
    cells: `[n]` int32, the moves.
  """
  is_turn = situations.is_turn
  stone = jnp.where(is_turn, jnp.int8(1), jnp.int8(-1))[:, None]
  places = jnp.arange(situations.boards.shape[1], dtype=jnp.int32)
  is_new = cells[:, None] == places[None]
  return networks.Situation(
    counts=situations.counts + _differences(critic, near, is_turn),
    boards=jnp.where(is_new, stone, situations.boards),
    is_turn=~is_turn,
    is_first=situations.is_first,
  )


def _differences(
  critic: networks.Critic, near: jax.Array, is_turn: jax.Array
) -> jax.Array:
  """Returns `[n, 2, S]` int32, what moves add to the counts of players 1 and 2.

  Args:
    critic: whose shapes are counted.
    near: `[n, 2, num_directions]` int32, the surroundings of the moves.
    is_turn: `[n]` bool, whether they are player 1's.
  """
  # The mover's come first.
  found = shapes_lib.count_differences(critic.drawings, near)
  return jnp.where(is_turn[:, None, None], found, found[:, ::-1])


@struct.dataclass
class CriticGreedy(base.Chooser):
  """Plays the move after which it is most likely to win, any if there are several.

  It takes itself for player 1, whether it moves first or second.

  Attributes:
    critic: evaluates situations.
    params: the critic's parameters.
    distance: how far from a stone a move may be.
    takes_five: whether it completes a line wherever it can, whatever the critic says.
  """

  critic: networks.Critic = struct.field(pytree_node=False)
  params: chex.ArrayTree
  distance: int = struct.field(pytree_node=False, default=1)
  takes_five: bool = struct.field(pytree_node=False, default=True)

  @property
  def game(self) -> game_lib.LineGame:
    return self.critic.game

  def on(self, game: game_lib.LineGame) -> base.Player:
    """Returns the same player on a board of another size.

    Raises:
      ValueError: if the critic sees each cell, or lines are not as long.
    """
    is_flat = len(game.shape) == 2 and not game.gravity
    is_alike = is_flat and game.length == self.game.length
    if game == self.game or self.critic.sees_board or not is_alike:
      return super().on(game)
    return CriticGreedy(
      self.critic.clone(game=game), self.params, self.distance, self.takes_five
    )

  def choices(self, state: game_lib.State) -> bits.Words:
    moves, fives = self._consider(state), self._fives(state)
    best = bits.pack(is_best(moves, jnp.ones(1, bool))[0], self.game.num_words)
    return bits.select(bits.contains_any(fives), fives, best)

  def values(self, state: game_lib.State) -> jax.Array:
    moves, fives = self._consider(state), self._fives(state)
    is_five = bits.unpack(fives, self.game.num_cells)
    values = jnp.where(moves.is_move, moves.values, -jnp.inf)[0]
    return jnp.where(is_five, 1.0, values)

  def rate_actions(self, state: game_lib.State, ties: chex.Array) -> jax.Array:
    """Returns how much it prefers each move; see `lookahead.Rater`."""
    return self.values(state) + 1e-6 * ties

  def evaluate(self, state: game_lib.State) -> jax.Array:
    """Returns how good a position is for the player to move; see `lookahead.Rater`."""
    inputs = self.critic.encode(self._situation(state))
    return 2.0 * jnp.asarray(self.critic.apply(self.params, inputs)) - 1.0

  def _consider(self, state: game_lib.State) -> Moves:
    games, situations = batching.repeat((state, self._situation(state)), 1)
    return consider(self.critic, self.params, games, situations, distance=self.distance)

  def _fives(self, state: game_lib.State) -> bits.Words:
    """Returns the cells that complete a line, if it always takes those."""
    game = self.game
    if not self.takes_five:
      return bits.constant(0, game.num_words)
    return bits.intersection(game.winning_cells(state.own), game.playable_cells(state))

  def _situation(self, state: game_lib.State) -> networks.Situation:
    board = self.game.observe(state)
    return networks.Situation(
      counts=self.critic.count(board),
      boards=board.reshape(-1),
      is_turn=jnp.bool_(True),
      is_first=state.num_moves % 2 == 0,
    )
