"""The pgx environments keep pgx's contract and play by our rules."""

import contextlib
import functools
import importlib
import sys
import typing

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pgx
from pgx import core
import pgx.experimental
import pytest

from jaxgames import game as game_lib
import jaxgames.pgx
from tests.support import quick

NUM_GAMES = 64

# The games that pgx has too, and how its board lies: its row 0 is the top one.
PEERS = {"tictactoe": ("tic_tac_toe", 1), "connect4": ("connect_four", -1)}


@contextlib.contextmanager
def lenient():
  """Lets pgx's own code promote types and ranks as it likes."""
  with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
    yield


@pytest.fixture
def contract(monkeypatch):
  """Returns pgx's `api_test`, made fit for games that pgx does not know."""
  module = importlib.import_module("pgx._src.api_test")
  # The test accepts no name outside a closed list. Ours are not on it, on purpose: a
  # name of pgx's would promise pgx's board, version and drawing.
  ours = tuple(jaxgames.pgx.make(name).id for name in game_lib.GAMES)
  env_ids = typing.Literal[typing.get_args(core.EnvId) + ours]
  monkeypatch.setattr(module, "EnvId", env_ids)
  # pgx 2.6 draws along axis 1 even for a single state, which jax 0.10 refuses
  # (sotetsuk/pgx#1314): its own games fail too.
  monkeypatch.setattr(module, "act_randomly", jax.jit(act_randomly))
  return module.api_test


def act_randomly(key, legal_action_mask):
  logits = jnp.where(legal_action_mask, 0.0, -jnp.inf)
  return jax.random.categorical(key, logits, axis=-1)


# Environments are equal only to themselves: the same ones share what is compiled.
our_env = functools.cache(jaxgames.pgx.make)
their_env = functools.cache(pgx.make)


@functools.partial(quick.jit, static_argnums=0)
def play(env, actions):
  """Returns every state of a batch of games, `[plies + 1, games]`."""

  def ply(states, batch):
    states = jax.vmap(env.step)(states, batch)
    return states, states

  keys = jax.random.split(jax.random.key(0), actions.shape[1])
  first = jax.vmap(env.init)(keys)
  _, later = jax.lax.scan(ply, first, actions)
  return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, later)


@functools.partial(quick.jit, static_argnums=0)
def play_randomly(game):
  """Returns `[num_cells + 1, NUM_GAMES]` random moves and the positions before each.

  Every action is legal, except where its game is over already.
  """

  def ply(positions, key):
    legal = jax.vmap(game.legal_actions)(positions)
    actions = act_randomly(key, legal).astype(jnp.int32)
    return jax.vmap(game.step)(positions, actions), (actions, positions)

  first = jax.tree.map(lambda leaf: jnp.stack([leaf] * NUM_GAMES), game.init())
  keys = jax.random.split(jax.random.key(1), game.num_cells + 1)
  return jax.lax.scan(ply, first, keys)[1]


@functools.partial(quick.jit, static_argnums=0)
def see(game, positions):
  """Returns legal actions and observations, `[plies, games]`."""
  methods = (game.legal_actions, game.observe)
  return tuple(jax.vmap(jax.vmap(method))(positions) for method in methods)


@pytest.mark.parametrize("name", game_lib.GAMES)
def test_environment_passes_the_test_of_pgx(name, contract):
  contract(jaxgames.pgx.make(name), num=1 if name == "gomoku" else 3)


@pytest.mark.parametrize("name", game_lib.GAMES)
def test_environment_plays_the_same_game(name):
  game = game_lib.make(name)
  actions, positions = jax.device_get(play_randomly(game))
  states = jax.device_get(play(our_env(name), actions))
  # The last state comes after the last move, of which there is no position.
  states = jax.tree.map(lambda leaf: leaf[:-1], states)
  legal, seen = jax.device_get(see(game, positions))
  np.testing.assert_array_equal(states.terminated, positions.is_over)
  assert states.terminated[-1].all()
  legal = legal | positions.is_over[..., None]
  np.testing.assert_array_equal(states.legal_action_mask, legal)
  np.testing.assert_array_equal(states.observation[..., 0], seen == 1)
  np.testing.assert_array_equal(states.observation[..., 1], seen == -1)
  # The reward is given once, in the state in which the game has just ended.
  first = states.current_player[0][None, :, None] == np.arange(2)
  sign = np.where(first, 1.0, -1.0)
  winner = np.diff(positions.winner.astype(np.float32), axis=0, prepend=0)
  np.testing.assert_array_equal(states.rewards, sign * winner[..., None])


def play_both(name, actions):
  """Returns what our environment and that of pgx make of the same actions."""
  ours = play(our_env(name), actions)
  with lenient():
    theirs = play(their_env(PEERS[name][0]), actions)
  return jax.device_get((ours, theirs))


@pytest.mark.parametrize("name", PEERS)
def test_environment_equals_that_of_pgx(name):
  _, direction = PEERS[name]
  actions, _ = play_randomly(game_lib.make(name))
  ours, theirs = play_both(name, actions)
  for field in ("current_player", "terminated", "truncated", "rewards", "_step_count"):
    np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), field)
  np.testing.assert_array_equal(ours.legal_action_mask, theirs.legal_action_mask)
  np.testing.assert_array_equal(
    ours.observation, theirs.observation[:, :, ::direction], "observation"
  )
  # Both agents have begun, won and lost, else this says little.
  assert set(np.unique(ours.current_player[0])) == {0, 1}
  assert {tuple(row) for row in ours.rewards.reshape(-1, 2)} >= {
    (1.0, -1.0),
    (-1.0, 1.0),
  }


@pytest.mark.parametrize("name", PEERS)
def test_illegal_action_ends_the_game_as_in_pgx(name):
  # The second stone on a full place: the first square, or a column after it is full.
  game = game_lib.make(name)
  height = game.shape[0] if game.gravity else 1
  ours, theirs = play_both(name, np.zeros((game.num_cells + 1, NUM_GAMES), np.int32))
  np.testing.assert_array_equal(ours.rewards, theirs.rewards)
  np.testing.assert_array_equal(ours.terminated, theirs.terminated)
  np.testing.assert_array_equal(ours.legal_action_mask, theirs.legal_action_mask)
  assert ours.terminated[height + 1].all()
  np.testing.assert_array_equal(ours.rewards[height + 1].sum(axis=-1), 0.0)
  # The board is still that of the player who may not have moved so.
  before, after = ours.observation[height], ours.observation[height + 1]
  np.testing.assert_array_equal(before, after)


def test_other_player_sees_the_planes_exchanged():
  env = jaxgames.pgx.make("tictactoe")
  state = env.step(env.init(jax.random.key(0)), jnp.int32(4))
  with pytest.warns(DeprecationWarning, match="player_id"):
    other = env.observe(state, 1 - state.current_player)
  np.testing.assert_array_equal(other, state.observation[..., ::-1])
  assert other[1, 1, 0]


def test_step_works_without_compilation():
  env = jaxgames.pgx.make("connect4")
  state = env.init(jax.random.key(0))
  for action in (3, 3, 2, 2, 1, 1, 0, 6):
    state = env.step(state, jnp.int32(action))
  assert state.terminated
  assert state._position.num_moves == 7


def test_restart_wrapper_of_pgx_begins_the_next_game():
  env = jaxgames.pgx.make("tictactoe")
  step = jax.jit(pgx.experimental.auto_reset(env.step, env.init))
  key_init, *keys = jax.random.split(jax.random.key(0), 8)
  state = env.init(key_init)
  first = state.current_player
  for action, key in zip((0, 3, 1, 4, 2, 8), keys, strict=False):
    is_end = action == 2
    state = step(state, jnp.int32(action), key)
    assert state.terminated == is_end
    assert state.rewards[first] == float(is_end)
  assert state._position.num_moves == 1


def test_sizes_are_those_of_the_game():
  for name, game in game_lib.GAMES.items():
    env = jaxgames.pgx.make(name)
    state = env.init(jax.random.key(0))
    assert env.num_actions == game.num_actions == state.legal_action_mask.shape[0]
    assert env.observation_shape == (*game.shape, 2) == state.observation.shape
    assert env.num_players == 2
    assert env.version == f"v{game.version}"


def test_unnamed_board_has_an_id():
  game = game_lib.LineGame(shape=(5, 4), length=3, gravity=True)
  env = jaxgames.pgx.LineGameEnv(game)
  assert env.id == "jaxgames_5x4_3_gravity"
  assert env.init(jax.random.key(0)).env_id == env.id


def test_drawing_of_a_batch_is_that_of_its_first_game(tmp_path):
  env = our_env("tictactoe")
  states = jax.device_get(play(env, play_randomly(env.game)[0]))
  last = jax.tree.map(lambda leaf: leaf[-1], states)
  first = jax.tree.map(lambda leaf: leaf[0], last)
  assert first.to_svg().lstrip().startswith("<svg")
  assert last.to_svg() == first.to_svg()
  last.save_svg(tmp_path / "board.svg")
  assert (tmp_path / "board.svg").read_text() == first.to_svg()


def test_missing_pgx_names_the_extra(monkeypatch):
  monkeypatch.setitem(sys.modules, "pgx", None)
  monkeypatch.delitem(sys.modules, "jaxgames.pgx")
  with pytest.raises(ImportError, match=r"jaxgames\[pgx\]"):
    importlib.import_module("jaxgames.pgx")


def test_steps_lower_for_accelerators():
  env = jaxgames.pgx.make("ttt3d")
  keys = jax.random.split(jax.random.key(0), 4)
  states = jax.eval_shape(jax.vmap(env.init), keys)
  actions = jax.ShapeDtypeStruct((4,), jnp.int32)
  step = jax.jit(jax.vmap(env.step))
  exported = jax.export.export(step, platforms=["cuda", "tpu"])(states, actions)
  assert "callback" not in exported.mlir_module()
