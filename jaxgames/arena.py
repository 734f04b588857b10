"""Games between players, thousands at a time."""

import functools
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import batching
from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.players import base

__all__ = [
  "Games",
  "Group",
  "Score",
  "SelfPlay",
  "Starts",
  "advance_games",
  "begin_games",
  "play_match",
  "self_play",
]

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


class Group(NamedTuple):
  """Games in which the same of the two players is to move.

  Attributes:
    state: `[n]` the positions.
    memory_a: `[n]` what `player_a` keeps in mind.
    memory_b: `[n]` likewise.
    a_is_first: `[n]` bool, whether `player_a` has the first side.
    number: `[n]` int32, the games' numbers in the match.
    actions: `[n, num_cells]` int16, the moves so far, then -1; None if nobody asks.
  """

  state: game_lib.State
  memory_a: base.Memory
  memory_b: base.Memory
  a_is_first: chex.Array
  number: chex.Array
  actions: chex.Array | None = None


class Games(NamedTuple):
  """Games in progress, all of the same age as long as they are not over.

  Attributes:
    turn_a: those in which `player_a` is to move.
    turn_b: those in which `player_b` is.
    key: for the moves to come.
  """

  turn_a: Group
  turn_b: Group
  key: chex.PRNGKey


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
  # With an odd number of games one more is played, to keep the halves equally long.
  half = -(-num_games // 2)
  games = _begin(
    player_a, player_b, key, half, first_number=first_number, starts=starts
  )
  games = jax.lax.while_loop(
    lambda games: ~_are_over(games),
    functools.partial(_ply, player_a, player_b),
    games,
  )

  def score(group: Group) -> Score:
    return _score(group, group.number - first_number < num_games)

  return score(games.turn_a) + score(games.turn_b)


@jax.jit
def begin_games(
  player_a: base.Player,
  player_b: base.Player,
  openings: chex.Array,
  key: chex.PRNGKey,
  *,
  first_number: chex.Numeric = 0,
) -> Games:
  """Begins the games of a match whose moves are of interest.

  Each opening is played twice in a row, with `player_a` as the first side and then as
  the second. From empty openings these are the games of `play_match`.

  Args:
    player_a: one player.
    player_b: the other.
    openings: `[num_pairs, num_plies]` int32, legal moves that end no game.
    key: consumed.
    first_number: the number of the first game, even.
  """
  chex.assert_rank(openings, 2)
  half, num_plies = openings.shape
  game = player_a.game
  rest = np.full((half, game.num_cells - num_plies), -1, np.int16)
  actions = jnp.concatenate([jnp.asarray(openings, jnp.int16), rest], axis=1)

  def step(state: game_lib.State, action: chex.Array) -> tuple[game_lib.State, None]:
    return game.step(state, action), None

  def set_up(opening: chex.Array) -> game_lib.State:
    state, _ = jax.lax.scan(step, game.init(), opening)
    return state

  games = _begin(player_a, player_b, key, half, first_number=first_number)
  states = jax.vmap(set_up)(openings)
  turn_a = games.turn_a._replace(state=states, actions=actions)
  turn_b = games.turn_b._replace(state=states, actions=actions)
  # After an odd number of plies the second side is to move.
  if num_plies % 2:
    turn_a, turn_b = turn_b, turn_a
  return Games(turn_a, turn_b, games.key)


@jax.jit
def advance_games(
  player_a: base.Player, player_b: base.Player, games: Games, num_plies: chex.Numeric
) -> Games:
  """Plays on for some plies, or until all games are over.

  How the plies are divided among calls makes no difference to the games.

  Args:
    player_a: as in `begin_games`.
    player_b: likewise.
    games: from `begin_games` or from this function.
    num_plies: `[]` int32, how many at most.
  """

  def is_active(carry: tuple[Games, jax.Array]) -> jax.Array:
    return ~_are_over(carry[0]) & (carry[1] < num_plies)

  def ply(carry: tuple[Games, jax.Array]) -> tuple[Games, jax.Array]:
    return _ply(player_a, player_b, carry[0]), carry[1] + 1

  return jax.lax.while_loop(is_active, ply, (games, jnp.int32(0)))[0]


def _begin(
  player_a: base.Player,
  player_b: base.Player,
  key: chex.PRNGKey,
  half: int,
  *,
  first_number: chex.Numeric,
  starts: Starts = "alternate",
) -> Games:
  """Returns games on empty boards, half of them with an even number."""
  chex.assert_rank(first_number, 0)
  game = player_a.game
  if player_b.game != game:
    raise ValueError(f"a match is of one game, not of {game} and {player_b.game}")

  def begin(key: chex.PRNGKey, number: chex.Array) -> Group:
    key_a, key_b = jax.random.split(key)
    memory_a = player_a.begin(key_a, number)
    memory_b = player_b.begin(key_b, number)
    a_is_first = number % 2 == 0 if starts == "alternate" else starts == "always"
    return Group(game.init(), memory_a, memory_b, jnp.asarray(a_is_first), number)

  key_begin, key_play = jax.random.split(key)
  numbers = first_number + jnp.arange(2 * half, dtype=jnp.int32).reshape(half, 2).T
  groups = jax.vmap(jax.vmap(begin))(jax.random.split(key_begin, (2, half)), numbers)
  turn_a = jax.tree.map(lambda x: x[0], groups)
  turn_b = jax.tree.map(lambda x: x[1], groups)
  return Games(turn_a, turn_b, key_play)


def _are_over(games: Games) -> jax.Array:
  return games.turn_a.state.is_over.all() & games.turn_b.state.is_over.all()


def _ply(player_a: base.Player, player_b: base.Player, games: Games) -> Games:
  """Makes a move in every game that is not over; then the other player is to move."""
  game, half = player_a.game, games.turn_a.number.shape[0]

  def move_a(group: Group, key: chex.PRNGKey) -> Group:
    action = player_a.act(group.memory_a, group.state, key)
    return _move(game, group, action, may_begin=group.a_is_first)

  def move_b(group: Group, key: chex.PRNGKey) -> Group:
    action = player_b.act(group.memory_b, group.state, key)
    return _move(game, group, action, may_begin=~group.a_is_first)

  key, key_a, key_b = jax.random.split(games.key, 3)
  moved_a = jax.vmap(move_a)(games.turn_a, jax.random.split(key_a, half))
  moved_b = jax.vmap(move_b)(games.turn_b, jax.random.split(key_b, half))
  return Games(turn_a=moved_b, turn_b=moved_a, key=key)


def _move(
  game: game_lib.LineGame, group: Group, action: jax.Array, *, may_begin: jax.Array
) -> Group:
  """Makes a move, unless the other player has to make the first one."""
  before = group.state
  after = game.step(before, action)
  may_move = may_begin | (before.num_moves > 0)
  state = jax.tree.map(lambda new, old: jnp.where(may_move, new, old), after, before)
  actions = group.actions
  if actions is not None:
    # Of a game that is over nothing is written: there is no such place.
    place = jnp.where(
      state.num_moves > before.num_moves, before.num_moves, len(actions)
    )
    actions = actions.at[place].set(action.astype(actions.dtype), mode="drop")
  return group._replace(state=state, actions=actions)


def _score(group: Group, is_counted: jax.Array) -> Score:
  """Returns the results of those of a group's games that count."""
  result = jnp.where(group.a_is_first, group.state.winner, -group.state.winner)

  def tally(is_result: chex.Array) -> jax.Array:
    counts = is_result & is_counted
    by_side = (counts & group.a_is_first, counts & ~group.a_is_first)
    return jnp.stack([side.sum(dtype=jnp.int32) for side in by_side])

  return Score(
    wins=tally(result == 1),
    draws=tally(result == 0),
    losses=tally(result == -1),
    num_moves=jnp.where(is_counted, group.state.num_moves, 0).sum(dtype=jnp.int32),
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
