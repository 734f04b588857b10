"""The contract of every game."""

import functools

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import bits
from tests.support import positions
from tests.support import quick

# Adding a game adds a line here, unless it has a name.
GAMES = {
  **jaxgames.GAMES,
  "qubic": jaxgames.LineGame(shape=(4, 4, 4), length=4),
  "wide_drop": jaxgames.LineGame(shape=(3, 5, 6), length=3, gravity=True),
  "rectangle": jaxgames.LineGame(shape=(5, 7), length=4),
  "one_row": jaxgames.LineGame(shape=(1, 9), length=3),
  "tall": jaxgames.LineGame(shape=(40, 2), length=5, gravity=True),
}
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())


def naive_winner(game: jaxgames.LineGame, board: np.ndarray) -> int:
  """Looks at every line, as a person would."""
  sums = board.ravel()[game.lines].astype(int).sum(axis=1)
  return int((sums == game.length).any()) - int((sums == -game.length).any())


@every_game
def test_types_and_shapes(game):
  state = game.init()
  chex.assert_shape(game.board(state), game.shape)
  chex.assert_type(game.board(state), jnp.int8)
  chex.assert_shape(game.legal_actions(state), (game.num_actions,))
  chex.assert_type(game.legal_actions(state), bool)
  after = game.step(state, 0)
  chex.assert_trees_all_equal_shapes_and_dtypes(state, after)
  assert int(after.num_moves) == 1
  assert game.board(after).ravel()[0] == 1
  assert hash(game) == hash(jaxgames.LineGame(game.shape, game.length, game.gravity))


@every_game
def test_random_games_follow_the_rules(game):
  final, states, actions = positions.random_games(game, 50)
  assert final.is_over.all()
  for i in range(5):
    seen = positions.see(game, positions.position(states, i))
    board = np.zeros(game.shape, np.int8)
    for ply in range(int(final.num_moves[i])):
      np.testing.assert_array_equal(seen.board[ply], board)
      assert naive_winner(game, board) == 0
      empty = (board == 0).reshape(-1, game.num_actions)
      np.testing.assert_array_equal(seen.legal[ply], empty.any(axis=0))
      action = actions[i, ply]
      level = np.flatnonzero(empty[:, action])[0]
      board.reshape(-1, game.num_actions)[level, action] = 1 if ply % 2 == 0 else -1
    np.testing.assert_array_equal(game.board(positions.position(final, i)), board)
    assert final.winner[i] == naive_winner(game, board)
    assert final.winner[i] != 0 or (board != 0).all()


@every_game
def test_a_finished_game_has_no_legal_action_and_stays(game):
  final, _, _ = positions.random_games(game, 20)
  assert not positions.see(game, final).legal.any()
  for action in range(0, game.num_actions, 3):
    after = positions.step(game, final, np.full(20, action))
    chex.assert_trees_all_equal(after, final)


@every_game
def test_compiled_illegal_actions_change_nothing(game):
  states = positions.random_positions(game, 64)
  legal = positions.see(game, states).legal
  for offset in range(0, game.num_actions, max(1, game.num_actions // 8)):
    after = positions.step(game, states, np.full(64, offset))
    np.testing.assert_array_equal(
      after.num_moves, states.num_moves + legal[:, offset].astype(np.int32)
    )
  for outside in (-1, -32, game.num_actions, game.num_cells + 40, 10**6):
    after = positions.step(game, states, np.full(64, outside))
    chex.assert_trees_all_equal(after, states)


@every_game
def test_wrong_actions_outside_compiled_code_are_named(game):
  state = game.init()
  for action in (-1, game.num_actions):
    with pytest.raises(ValueError, match=rf"action {action} is not legal.*legal are"):
      game.step(state, action)
  with pytest.raises(ValueError, match=r"an action is an integer, not 0\.5"):
    game.step(state, 0.5)
  with pytest.raises(ValueError, match=r"use jax.vmap\(game.step\)"):
    game.step(positions.repeat(state, 2), jnp.zeros(2, jnp.int32))
  final, _, _ = positions.random_games(game, 1)
  with pytest.raises(ValueError, match="after the end"):
    game.step(positions.position(final, 0), 0)


@every_game
def test_afterstates_are_what_stepping_gives(game):
  states = positions.random_positions(game, 16, seed=1)
  present = positions.see(game, states)
  # Every action in every position, position by position.
  every = jax.tree.map(lambda x: np.repeat(x, game.num_actions), states)
  stepped = positions.step(game, every, np.tile(np.arange(game.num_actions), 16))
  seen_by_mover = -positions.see(game, stepped).observation
  is_legal = present.legal.reshape(16, game.num_actions, *[1] * len(game.shape))
  expected = np.where(
    is_legal,
    seen_by_mover.reshape(16, game.num_actions, *game.shape),
    present.observation[:, None],
  )
  np.testing.assert_array_equal(afterstates(game, states), expected)


@functools.partial(quick.jit, static_argnums=0)
def afterstates(game, states):
  return jax.vmap(game.afterstates)(states)


@every_game
def test_symmetric_games_stay_symmetric(game):
  final, _, actions = positions.random_games(game, 4, seed=2)
  # `legal[moves]` is the new order, so old action a is found where moves == a.
  image_of = np.argsort(game.action_symmetries, axis=1)
  images = np.concatenate([image_of[:, actions[i]] for i in range(4)])
  states = positions.repeat(game.init(), len(images))
  for ply in range(game.num_cells):
    states = positions.step(game, states, images[:, ply])
  replayed = positions.see(game, states).board.reshape(4, len(game.symmetries), -1)
  boards = positions.see(game, final).board.reshape(4, -1)
  winners = states.winner.reshape(4, -1)
  for i in range(4):
    np.testing.assert_array_equal(replayed[i], boards[i][game.symmetries])
    assert (winners[i] == final.winner[i]).all()


@every_game
def test_winning_cells_complete_a_line(game):
  states = positions.random_positions(game, 16, seed=3)
  observations = positions.see(game, states).observation.reshape(16, -1)
  found = np.asarray(winning_cells(game, states))
  for cells, seen in zip(found, observations, strict=True):
    stones = (seen == 1)[game.lines]
    num_others = stones.sum(axis=1, keepdims=True) - stones
    expected = np.zeros(game.num_cells, bool)
    expected[game.lines[num_others == game.length - 1]] = True
    np.testing.assert_array_equal(cells, expected)


@functools.partial(quick.jit, static_argnums=0)
def winning_cells(game, states):
  cells = jax.vmap(game.winning_cells)(states.own)
  return jax.vmap(lambda words: bits.unpack(words, game.num_cells))(cells)


@every_game
def test_second_call_does_not_compile_again(game):
  chex.clear_trace_counter()
  step = quick.jit(chex.assert_max_traces(game.step, n=1))
  state = game.init()
  for _ in range(2):
    legal = np.flatnonzero(game.legal_actions(state))
    state = step(state, int(legal[0]))


@every_game
def test_rules_lower_for_accelerators(game):
  batch = positions.repeat(game.init(), 8)

  def everything(states, actions):
    after = jax.vmap(game.step)(states, actions)
    return after, jax.vmap(game.afterstates)(after), jax.vmap(game.board)(after)

  actions = np.zeros(8, np.int32)
  exported = jax.export.export(jax.jit(everything), platforms=["cuda", "tpu"])(
    batch, actions
  )
  assert "callback" not in exported.mlir_module()


@every_game
def test_one_game_and_a_batch_agree(game):
  states = positions.random_positions(game, 4, seed=5)
  actions = [np.flatnonzero(row)[-1] for row in positions.see(game, states).legal]
  batched = positions.step(game, states, np.array(actions))
  for i in range(4):
    alone = game.step(positions.position(states, i), int(actions[i]))
    chex.assert_trees_all_equal(alone, positions.position(batched, i))
