"""The rules agree with OpenSpiel and with pgx, move by move."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pyspiel
import pytest

from jaxgames import bits
from jaxgames import game as game_lib

# OpenSpiel's name for each game, and in how many games it is asked.
OPENSPIEL = {
  "tictactoe": ("tic_tac_toe", 10_000),
  "connect4_4x4": ("connect_four(rows=4,columns=4)", 10_000),
  "connect4": ("connect_four", 10_000),
  "gomoku": ("gomoku(size=15)", 1_000),
}
# Four in a row in a cube, but stones do not fall.
OPENSPIEL_CUBE = "gomoku(size=4,dims=3,connect=4)"

# pgx's name, and how its board lies: its row 0 is the top one.
PGX = {"tictactoe": ("tic_tac_toe", 1), "connect4": ("connect_four", -1)}
NUM_PGX_GAMES = 10_000


class Record(NamedTuple):
  """Random games; what follows the end of a game repeats its last position.

  Attributes:
    actions: `[plies, games]` int32.
    cells: `[plies, games]` int32, where the stone comes to lie.
    legal: `[plies + 1, games, num_actions]` bool.
    empty: `[plies + 1, games, num_cells]` bool; none once the game is over.
    is_over: `[plies + 1, games]` bool.
    winner: `[plies + 1, games]` int8.
    num_moves: `[games]` int32, how long each game was.
  """

  actions: np.ndarray
  cells: np.ndarray
  legal: np.ndarray
  empty: np.ndarray
  is_over: np.ndarray
  winner: np.ndarray
  num_moves: np.ndarray


def describe(game, states):
  legal = jax.vmap(game.legal_actions)(states)
  empty = jax.vmap(lambda state: bits.unpack(game.empty_cells(state), game.num_cells))
  return legal, empty(states), states.is_over, states.winner


def act_randomly(game, states, key):
  legal = jax.vmap(game.legal_actions)(states)
  return jnp.where(legal, jax.random.uniform(key, legal.shape), -1.0).argmax(axis=1)


def begin(game, num_games):
  return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, num_games), game.init())


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play_randomly(game, num_games, key):
  def ply(states, key):
    actions = act_randomly(game, states, key)
    cells = jax.vmap(game.landing_cells)(states)[jnp.arange(num_games), actions]
    states = jax.vmap(game.step)(states, actions)
    return states, (actions, cells, describe(game, states))

  first = begin(game, num_games)
  keys = jax.random.split(key, game.num_cells)
  last, (actions, cells, later) = jax.lax.scan(ply, first, keys)
  whole = jax.tree.map(
    lambda a, b: jnp.concatenate([a[None], b]), describe(game, first), later
  )
  return Record(actions, cells, *whole, last.num_moves)


def play_randomly(game, num_games, seed=0):
  record = jax.device_get(_play_randomly(game, num_games, jax.random.key(seed)))
  assert record.is_over[-1].all()
  return record


def replay(oracle, actions):
  """Plays one game on the host.

  Returns:
    Before every move and after the last: the mask of legal actions, whether the game
    is over, and the winner.
  """
  state = oracle.new_initial_state()
  masks, ends, winners = [state.legal_actions_mask()], [False], [0]
  for action in actions:
    # The bare `apply_action` would write past OpenSpiel's board for a wrong action.
    state.apply_action_with_legality_check(action)
    masks.append(state.legal_actions_mask())
    ends.append(state.is_terminal())
    winners.append(int(state.player_return(0)))
  return np.array(masks, bool), ends, winners


@pytest.mark.parametrize("name", OPENSPIEL)
def test_every_move_agrees_with_openspiel(name):
  oracle_name, num_games = OPENSPIEL[name]
  oracle = pyspiel.load_game(oracle_name)
  record = play_randomly(game_lib.make(name), num_games)
  for i, length in enumerate(record.num_moves.tolist()):
    masks, ends, winners = replay(oracle, record.actions[:length, i].tolist())
    assert (masks == record.legal[: length + 1, i]).all(), i
    assert ends == record.is_over[: length + 1, i].tolist(), i
    assert winners == record.winner[: length + 1, i].tolist(), i
  results = {-1, 1} if name == "gomoku" else {-1, 0, 1}
  assert set(np.unique(record.winner[-1])) == results


def test_every_move_in_the_cube_agrees_with_openspiel():
  game = game_lib.make("ttt3d")
  oracle = pyspiel.load_game(OPENSPIEL_CUBE)
  record = play_randomly(game, 10_000)
  for i, length in enumerate(record.num_moves.tolist()):
    cells = record.cells[:length, i]
    masks, ends, winners = replay(oracle, cells.tolist())
    assert (masks == record.empty[: length + 1, i]).all(), i
    assert ends == record.is_over[: length + 1, i].tolist(), i
    assert winners == record.winner[: length + 1, i].tolist(), i
    # What OpenSpiel does not know, from its own board: a column is open as long as its
    # top is empty, and a stone falls onto the lowest empty cell.
    levels = masks.reshape(length + 1, 4, 16)
    assert (record.legal[: length + 1, i] == levels[:, 3]).all(), i
    actions = record.actions[:length, i]
    heights = levels[np.arange(length), :, actions].argmax(axis=1)
    assert (cells == 16 * heights + actions).all(), i
  assert {-1, 1} <= set(np.unique(record.winner[-1]))


def test_cells_are_numbered_as_in_openspiel():
  for name, oracle_name in {
    "gomoku": "gomoku(size=15)",
    "ttt3d": OPENSPIEL_CUBE,
  }.items():
    game = game_lib.make(name)
    oracle = pyspiel.load_game(oracle_name)
    assert oracle.num_distinct_actions() == game.num_cells
    for cell in range(game.num_cells):
      place = [int(i) for i in np.unravel_index(cell, game.shape)]
      assert oracle.action_to_move(cell) == place
  assert oracle.action_to_move(16 * 3 + 4 * 2 + 1) == [3, 2, 1]


@pytest.mark.parametrize("length", [4, 5, 6, 9])
def test_long_lines_win_gomoku_as_in_openspiel(length):
  # The last stone joins two shorter rows, so that the line is longer than five at once.
  *line, last = sorted(range(length), key=lambda i: i == 4 % length)
  other_side = [15 + 2 * i for i in range(len(line))]
  moves = [move for pair in zip(line, other_side, strict=True) for move in pair]
  moves.append(last)
  game = game_lib.make("gomoku")
  masks, ends, winners = replay(pyspiel.load_game("gomoku(size=15)"), moves)
  state = game.from_moves(moves)
  assert bool(state.is_over) == ends[-1] == (length >= 5)
  assert int(state.winner) == winners[-1] == int(length >= 5)
  np.testing.assert_array_equal(game.legal_actions(state), masks[-1])
  assert not any(ends[:-1])


@pytest.mark.parametrize("name", PGX)
def test_every_move_agrees_with_pgx(name):
  peer_name, direction = PGX[name]
  # pgx's own code is not written for strict promotion.
  with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
    agreement, winner = compare_with_pgx(
      game_lib.make(name), pgx.make(peer_name), direction, jax.random.key(1)
    )
  for field, agrees in agreement.items():
    assert np.asarray(agrees).all(), field
  assert set(np.unique(winner)) == {-1, 0, 1}


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def compare_with_pgx(game, env, direction, key):
  """Returns what agrees, `[plies, games]` for each field, and the winners."""

  def compare(states, peers):
    seen = jax.vmap(game.observe)(states)[:, ::direction]
    # Once the game is over pgx declares all moves legal.
    legal = jax.vmap(game.legal_actions)(states) | states.is_over[:, None]
    return {
      "own stones": (peers.observation[..., 0] == (seen == 1)).all((1, 2)),
      "other stones": (peers.observation[..., 1] == (seen == -1)).all((1, 2)),
      "legal actions": (peers.legal_action_mask == legal).all(1),
      "end": peers.terminated == states.is_over,
    }

  def ply(carry, key):
    states, peers, first_player, winner = carry
    actions = act_randomly(game, states, key)
    states = jax.vmap(game.step)(states, actions)
    peers = jax.vmap(env.step)(peers, actions)
    # pgx gives the reward once, in the state that ends the game.
    winner += peers.rewards[jnp.arange(NUM_PGX_GAMES), first_player].astype(jnp.int8)
    agreement = compare(states, peers) | {"winner": winner == states.winner}
    return (states, peers, first_player, winner), agreement

  key_init, key_play = jax.random.split(key)
  peers = jax.vmap(env.init)(jax.random.split(key_init, NUM_PGX_GAMES))
  winner = jnp.zeros(NUM_PGX_GAMES, jnp.int8)
  first = (begin(game, NUM_PGX_GAMES), peers, peers.current_player, winner)
  keys = jax.random.split(key_play, game.num_cells)
  last, agreement = jax.lax.scan(ply, first, keys)
  return agreement, last[-1]
