"""Games between players, thousands at a time."""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp

from jaxgames import batching
from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.players import base

__all__ = ["Score", "SelfPlay", "Starts", "play_match", "self_play"]

Starts = options.Starts


class Score(NamedTuple):
  """The results of a match, for the first player named.

  Attributes:
    wins: `[2]` int32, games won when moving first and when moving second.
    draws: `[2]` int32.
    losses: `[2]` int32.
    num_moves: `[]` int32, moves made in all games.
  """

  wins: chex.Array
  draws: chex.Array
  losses: chex.Array
  num_moves: chex.Array

  def __add__(self, other: "Score") -> "Score":  # type: ignore[override]
    return Score(*(a + b for a, b in zip(self, other, strict=True)))


class _Group(NamedTuple):
  """Games in which the same of the two players is to move."""

  state: game_lib.State
  memory_a: base.Memory
  memory_b: base.Memory
  a_is_first: chex.Array
  is_counted: chex.Array


# The games in which `player_a` is to move, those in which `player_b` is, and a key.
_Carry = tuple[_Group, _Group, chex.PRNGKey]


@functools.partial(jax.jit, static_argnames=("num_games", "starts"))
def play_match(
  player_a: base.Player,
  player_b: base.Player,
  key: chex.PRNGKey,
  *,
  num_games: int,
  first_number: chex.Numeric = 0,
  starts: Starts = "alternate",
) -> Score:
  """Plays games at once.

  At every ply each player is to move in one half of the games, so that no player ever
  computes a move for the other side.

  Args:
    player_a: the player whose results are returned.
    player_b: its opponent.
    key: consumed.
    num_games: how many games.
    first_number: the number of the first game, even; long matches come in pieces.
    starts: the games that `player_a` begins; if they alternate, those with an even
      number.
  """
  chex.assert_rank(first_number, 0)
  game = player_a.game
  if player_b.game != game:
    raise ValueError(f"a match is of one game, not of {game} and {player_b.game}")
  half = -(-num_games // 2)

  def begin(key: chex.PRNGKey, number: chex.Array) -> _Group:
    key_a, key_b = jax.random.split(key)
    memory_a = player_a.begin(key_a, number)
    memory_b = player_b.begin(key_b, number)
    a_is_first = number % 2 == 0 if starts == "alternate" else starts == "always"
    # With an odd number of games one more is played, to keep the halves equally long.
    is_counted = number - first_number < num_games
    return _Group(game.init(), memory_a, memory_b, jnp.asarray(a_is_first), is_counted)

  def move_a(group: _Group, key: chex.PRNGKey) -> _Group:
    action = player_a.act(group.memory_a, group.state, key)
    return _move(game, group, action, may_begin=group.a_is_first)

  def move_b(group: _Group, key: chex.PRNGKey) -> _Group:
    action = player_b.act(group.memory_b, group.state, key)
    return _move(game, group, action, may_begin=~group.a_is_first)

  def ply(carry: _Carry) -> _Carry:
    turn_a, turn_b, key = carry
    key, key_a, key_b = jax.random.split(key, 3)
    moved_a = jax.vmap(move_a)(turn_a, jax.random.split(key_a, half))
    moved_b = jax.vmap(move_b)(turn_b, jax.random.split(key_b, half))
    return moved_b, moved_a, key

  def is_active(carry: _Carry) -> jax.Array:
    return ~(carry[0].state.is_over.all() & carry[1].state.is_over.all())

  key_begin, key_play = jax.random.split(key)
  numbers = first_number + jnp.arange(2 * half, dtype=jnp.int32).reshape(half, 2).T
  groups = jax.vmap(jax.vmap(begin))(jax.random.split(key_begin, (2, half)), numbers)
  turn_a = jax.tree.map(lambda x: x[0], groups)
  turn_b = jax.tree.map(lambda x: x[1], groups)
  turn_a, turn_b, _ = jax.lax.while_loop(is_active, ply, (turn_a, turn_b, key_play))
  return _score(turn_a) + _score(turn_b)


def _move(
  game: game_lib.LineGame, group: _Group, action: jax.Array, *, may_begin: jax.Array
) -> _Group:
  """Makes a move, unless the other player has to make the first one."""
  after = game.step(group.state, action)
  may_move = may_begin | (group.state.num_moves > 0)
  return group._replace(
    state=jax.tree.map(
      lambda new, old: jnp.where(may_move, new, old), after, group.state
    )
  )


def _score(group: _Group) -> Score:
  """Returns the results of a group's games."""
  result = jnp.where(group.a_is_first, group.state.winner, -group.state.winner)

  def tally(is_result: chex.Array) -> jax.Array:
    counts = is_result & group.is_counted
    by_side = (counts & group.a_is_first, counts & ~group.a_is_first)
    return jnp.stack([side.sum(dtype=jnp.int32) for side in by_side])

  return Score(
    wins=tally(result == 1),
    draws=tally(result == 0),
    losses=tally(result == -1),
    num_moves=jnp.where(group.is_counted, group.state.num_moves, 0).sum(
      dtype=jnp.int32
    ),
  )


class SelfPlay(NamedTuple):
  """Games in progress that start again as soon as they end.

  Attributes:
    state: `[lanes]` the positions.
    memory: `[lanes]` the player's memory in each game.
    num_games: `[lanes]` int32, finished games.
  """

  state: game_lib.State
  memory: base.Memory
  num_games: chex.Array


@functools.partial(jax.jit, static_argnames=("num_lanes", "num_plies"))
def self_play(
  player: base.Player, key: chex.PRNGKey, *, num_lanes: int, num_plies: int
) -> SelfPlay:
  """Lets a player play both sides for some plies, with no lane ever idle.

  Args:
    player: moves for both sides.
    key: consumed.
    num_lanes: how many games are played at a time.
    num_plies: how many moves are made in each lane.
  """
  game = player.game
  first_numbers = jnp.arange(num_lanes, dtype=jnp.int32)

  def begin(key: chex.PRNGKey, num_games: chex.Array) -> SelfPlay:
    keys = jax.random.split(key, num_lanes)
    memory = jax.vmap(player.begin)(keys, first_numbers + num_games * num_lanes)
    empty = batching.repeat(game.init(), num_lanes)
    return SelfPlay(empty, memory, num_games)

  def ply(now: SelfPlay, key: chex.PRNGKey) -> tuple[SelfPlay, None]:
    key_begin, key_act = jax.random.split(key)
    fresh = begin(key_begin, now.num_games)
    now = batching.where(now.state.is_over, fresh, now)
    keys = jax.random.split(key_act, num_lanes)
    actions = jax.vmap(player.act)(now.memory, now.state, keys)
    state = jax.vmap(game.step)(now.state, actions)
    ended = state.is_over.astype(jnp.int32)
    return SelfPlay(state, now.memory, now.num_games + ended), None

  key_begin, key_play = jax.random.split(key)
  start = begin(key_begin, jnp.zeros_like(first_numbers))
  final, _ = jax.lax.scan(ply, start, jax.random.split(key_play, num_plies))
  return final
