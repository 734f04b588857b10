"""Line games: two players put stones on a grid; the first line of k stones wins."""

from collections.abc import Iterable
import dataclasses
import functools
import math
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import lines
from jaxgames import registry

__all__ = ["GAMES", "LineGame", "State", "make"]


class State(NamedTuple):
  """A position. Its boards are seen by the player to move.

  Attributes:
    own: the stones of the player to move, as bit boards.
    other: the stones of the player who moved last.
    num_moves: `[]` int32, stones on the board.
    winner: `[]` int8, 1 first player, -1 second player, 0 draw or not over.
    is_over: `[]` bool.
  """

  own: bits.Words
  other: bits.Words
  num_moves: chex.Array
  winner: chex.Array
  is_over: chex.Array


@dataclasses.dataclass(frozen=True)
class LineGame:
  """The rules of one board.

  A board has two or three axes. With gravity axis 0 is the height, level 0 the
  lowest, and an action is the row-major index over the other axes; without, an
  action is the row-major cell. Lines of at least `length` stones win.

  All methods take one state, are pure, and may be compiled and vmapped. Outside
  compiled code a wrong action raises a `ValueError`; inside, where nothing can be
  raised, an action that is not legal leaves the state as it is.

  Attributes:
    shape: the sizes of the board's axes.
    length: how many stones in a line win.
    gravity: whether stones fall along axis 0.
  """

  shape: lines.Shape
  length: int
  gravity: bool = False

  # Goes up whenever the same actions could lead to another position.
  version = 1

  def __post_init__(self):
    object.__setattr__(self, "shape", tuple(map(int, self.shape)))
    _check_board(self.shape, self.length)

  # Sizes and tables, all on the host.

  @property
  def num_cells(self) -> int:
    return math.prod(self.shape)

  @property
  def num_actions(self) -> int:
    return math.prod(self.shape[1:]) if self.gravity else self.num_cells

  @property
  def num_words(self) -> int:
    return -(-self.num_cells // bits.WORD_BITS)

  @property
  def lines(self) -> np.ndarray:
    """`[num_lines, length]` int32, the cells of every winning line."""
    return lines.winning_lines(self.shape, self.length)

  @property
  def symmetries(self) -> np.ndarray:
    """`[num_symmetries, num_cells]` int32; see `lines.cell_symmetries`."""
    return lines.cell_symmetries(self.shape, self.gravity)

  @property
  def action_symmetries(self) -> np.ndarray:
    """`[num_symmetries, num_actions]` int32; see `lines.action_symmetries`."""
    return lines.action_symmetries(self.shape, self.gravity)

  # The rules.

  def init(self) -> State:
    """Returns the empty board."""
    return State(
      own=tuple(jnp.uint32(0) for _ in range(self.num_words)),
      other=tuple(jnp.uint32(0) for _ in range(self.num_words)),
      num_moves=jnp.int32(0),
      winner=jnp.int8(0),
      is_over=jnp.bool_(False),
    )

  def step(self, state: State, action: chex.Numeric) -> State:
    """Returns the position after a move.

    Args:
      state: one position; batches go through `jax.vmap`.
      action: `[]` integer below `num_actions`.

    Raises:
      ValueError: outside compiled code, if the action is not legal.
    """
    # Where code is being compiled a new constant is a tracer too, even if the state and
    # the action are not, as in a branch of `jax.lax.cond` that closes over them.
    leaves = jax.tree.leaves((state, action, jnp.int32(0)))
    if not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
      self._check_action(state, action)
      return _jitted_step(self, state, jnp.int32(action))
    return self._step(state, jnp.asarray(action, jnp.int32))

  def legal_actions(self, state: State) -> jax.Array:
    """Returns `[num_actions]` bool; none is legal once the game is over."""
    empty = self.empty_cells(state)
    top = self.num_cells - self.num_actions
    return bits.unpack(bits.shift_down(empty, top), self.num_actions)

  def board(self, state: State) -> jax.Array:
    """Returns `[*shape]` int8: 1 first player's stone, -1 second's, 0 empty."""
    sign = jnp.where(state.num_moves % 2 == 0, jnp.int8(1), jnp.int8(-1))
    return sign * self.observe(state)

  def observe(self, state: State) -> jax.Array:
    """Returns `[*shape]` int8: 1 own stone of the player to move, -1 the other's."""
    own = bits.unpack(state.own, self.num_cells).astype(jnp.int8)
    other = bits.unpack(state.other, self.num_cells).astype(jnp.int8)
    return (own - other).reshape(self.shape)

  def landing_cells(self, state: State) -> jax.Array:
    """Returns `[num_actions]` int32: the cell that each legal action would fill."""
    actions = np.arange(self.num_actions, dtype=np.int32)
    if not self.gravity:
      return jnp.asarray(actions)
    occupied = bits.unpack(bits.union(state.own, state.other), self.num_cells)
    heights = occupied.reshape(self.shape[0], -1).sum(axis=0, dtype=jnp.int32)
    return heights * self.num_actions + actions

  def afterstates(self, state: State) -> jax.Array:
    """Returns what the board would be after each action, seen by the mover.

    Returns:
      `[num_actions, *shape]` int8: 1 the mover's stone, -1 the other's. The board of
      an action that is not legal is the present one.
    """
    here = np.arange(self.num_cells, dtype=np.int32)[None]
    is_new = self.landing_cells(state)[:, None] == here
    is_new &= self.legal_actions(state)[:, None]
    boards = jnp.where(is_new, jnp.int8(1), self.observe(state).reshape(1, -1))
    return boards.reshape(self.num_actions, *self.shape)

  # Positions as sets of cells: what rule players and learners compute with.

  def empty_cells(self, state: State) -> bits.Words:
    """Returns the cells without a stone; none once the game is over."""
    nothing = bits.constant(0, self.num_words)
    board = bits.constant((1 << self.num_cells) - 1, self.num_words)
    empty = bits.difference(board, bits.union(state.own, state.other))
    return bits.select(state.is_over, nothing, empty)

  def playable_cells(self, state: State) -> bits.Words:
    """Returns the cells that a stone can be put into now, one for each legal action."""
    empty = self.empty_cells(state)
    if not self.gravity:
      return empty
    floor = bits.constant((1 << self.num_actions) - 1, self.num_words)
    stones = bits.union(state.own, state.other)
    return bits.intersection(empty, bits.union(self.above(stones), floor))

  def winning_cells(self, stones: bits.Words) -> bits.Words:
    """Returns the cells, empty or not, that complete a line of a side's stones."""
    found = [bits.constant(0, self.num_words)]
    for direction in lines.directions(self.shape, self.length):
      starts = self._cells(direction.starts)
      places = [
        bits.shift_down(stones, i * direction.stride) for i in range(self.length)
      ]
      for hole, others in enumerate(_all_but_one(places)):
        here = bits.intersection(others, starts)
        found.append(bits.shift_up(here, hole * direction.stride))
    return bits.union(*found)

  def above(self, cells: bits.Words) -> bits.Words:
    """Returns the cells on top of the given ones; of the highest, none."""
    board = bits.constant((1 << self.num_cells) - 1, self.num_words)
    return bits.intersection(bits.shift_up(cells, self.num_actions), board)

  def below(self, cells: bits.Words) -> bits.Words:
    """Returns the cells directly under the given ones."""
    return bits.shift_down(cells, self.num_actions)

  def action_of(self, cell: chex.Array) -> chex.Array:
    """Returns the action that puts a stone into a cell."""
    return cell % self.num_actions

  def has_line(self, stones: bits.Words) -> jax.Array:
    """Returns whether a side has `length` stones in a line."""
    found = []
    for direction in lines.directions(self.shape, self.length):
      run = _runs(stones, self.length, direction.stride)
      found.append(bits.intersection(run, self._cells(direction.starts)))
    return bits.contains_any(bits.union(*found))

  def from_moves(self, actions: Iterable[int]) -> State:
    """Returns the position after a sequence of moves, each checked."""
    return functools.reduce(self.step, actions, self.init())

  def _step(self, state: State, action: jax.Array) -> State:
    stone = bits.intersection(self.playable_cells(state), self._reach(action))
    stones = bits.union(state.own, stone)
    has_won = self.has_line(stones)
    mover = jnp.where(state.num_moves % 2 == 0, jnp.int8(1), jnp.int8(-1))
    after = State(
      own=state.other,
      other=stones,
      num_moves=state.num_moves + 1,
      winner=jnp.where(has_won, mover, jnp.int8(0)),
      is_over=has_won | (state.num_moves + 1 == self.num_cells),
    )
    is_legal = bits.contains_any(stone)
    return jax.tree.map(lambda new, old: jnp.where(is_legal, new, old), after, state)

  def _reach(self, action: jax.Array) -> bits.Words:
    """Returns the cells that an action may fill: itself, or its whole column."""
    reach = bits.single(action, self.num_words)
    if self.gravity:
      in_range = (action >= 0) & (action < self.num_actions)
      nothing = bits.constant(0, self.num_words)
      reach = bits.select(in_range, reach, nothing)
      height = 1
      while height < self.shape[0]:
        reach = bits.union(reach, bits.shift_up(reach, height * self.num_actions))
        height *= 2
    return reach

  def _cells(self, cells: Iterable[int]) -> bits.Words:
    return bits.constant(sum(1 << cell for cell in cells), self.num_words)

  def _check_action(self, state: State, action: chex.Numeric) -> None:
    """Raises an error that names a wrong action and the legal ones."""
    if np.ndim(action) or np.ndim(state.is_over):
      raise ValueError(
        "step takes one state and one action, not a batch with action shape "
        f"{np.shape(action)}: use jax.vmap(game.step)"
      )
    if not jnp.issubdtype(jnp.result_type(action), jnp.integer):
      raise ValueError(f"an action is an integer, not {action!r}")
    if state.is_over:
      raise ValueError(f"action {action} comes after the end of the game")
    legal = np.flatnonzero(_jitted_legal_actions(self, state))
    if action not in legal:
      is_known = 0 <= action < self.num_actions
      reason = "that place is full" if is_known else f"there are {self.num_actions}"
      raise ValueError(
        f"action {action} is not legal ({reason}); legal are {legal.tolist()}"
      )


@functools.partial(jax.jit, static_argnums=0)
def _jitted_step(game: LineGame, state: State, action: jax.Array) -> State:
  return game._step(state, action)


@functools.partial(jax.jit, static_argnums=0)
def _jitted_legal_actions(game: LineGame, state: State) -> jax.Array:
  return game.legal_actions(state)


def _runs(stones: bits.Words, length: int, stride: int) -> bits.Words:
  """Returns the cells from which `length` stones follow each other."""
  # A run of n and the run m <= n further on make a run of n + m.
  run, so_far = stones, 1
  while so_far < length:
    more = min(so_far, length - so_far)
    run = bits.intersection(run, bits.shift_down(run, more * stride))
    so_far += more
  return run


def _all_but_one(sets: list[bits.Words]) -> list[bits.Words]:
  """Returns, for each set, the intersection of all the others."""
  before: list[bits.Words] = [sets[0]]
  after: list[bits.Words] = [sets[-1]]
  for i in range(1, len(sets) - 1):
    before.append(bits.intersection(before[-1], sets[i]))
    after.append(bits.intersection(after[-1], sets[-1 - i]))
  between = [
    bits.intersection(a, b) for a, b in zip(before, reversed(after[:-1]), strict=False)
  ]
  return [after[-1], *between, before[-1]]


def _check_board(shape: lines.Shape, length: int) -> None:
  """Refuses boards on which no game can be played."""
  if len(shape) not in (2, 3):
    raise ValueError(f"a board has two or three axes, shape {shape} has {len(shape)}")
  if min(shape) < 1:
    raise ValueError(f"every side of a board is at least 1, shape is {shape}")
  if not 2 <= length <= max(shape):
    raise ValueError(
      f"length {length} must be at least 2 and at most {max(shape)}, the longest side "
      f"of shape {shape}"
    )


GAMES: dict[str, LineGame] = {
  name: LineGame(board.shape, board.length, board.gravity)
  for name, board in registry.BOARDS.items()
}


def make(name: str) -> LineGame:
  """Returns a game by its name, perhaps on a board of another size.

  >>> make("connect4").shape
  (6, 7)
  >>> make("gomoku:size=19").shape
  (19, 19)

  Raises:
    ValueError: if there is no such game, or not with this size.
  """
  board = registry.parse(name)
  return LineGame(board.shape, board.length, board.gravity)
