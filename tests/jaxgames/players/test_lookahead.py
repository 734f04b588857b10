"""Looking ahead: any player that rates moves, and lines of play that it follows."""

from flax import struct
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import lookahead
from tests.support import quick

TICTACTOE = jaxgames.make("tictactoe")


@struct.dataclass
class Highest(base.Memoryless):
  """Likes cells the better the higher their number, and knows nothing of positions."""

  game: jaxgames.LineGame = struct.field(pytree_node=False)
  opinion: float = 0.0

  def rate_actions(self, state, ties):
    del ties
    numbers = jnp.arange(self.game.num_actions, dtype=jnp.float32)
    return jnp.where(self.game.legal_actions(state), numbers, -jnp.inf)

  def evaluate(self, state):
    del state
    return jnp.float32(self.opinion)


def choose(player, moves, seed=0):
  state = player.game.from_moves(moves)
  return int(quick.jit(player.act)((), state, jax.random.key(seed)))


def test_a_win_at_once_is_taken():
  # X has 0 and 1, O has 3 and 4; X prefers 8, but sees that 2 wins.
  assert (
    choose(lookahead.Lookahead(Highest(TICTACTOE), width=9, depth=4), [0, 3, 1, 4]) == 2
  )


def test_values_are_those_of_the_moves_that_are_tried():
  player = lookahead.Lookahead(Highest(TICTACTOE), width=3, depth=4)
  state = TICTACTOE.from_moves([0, 3, 1, 4])
  values = np.asarray(quick.jit(player.values)(state))
  assert np.flatnonzero(np.isfinite(values)).tolist() == [6, 7, 8]
  wide = lookahead.Lookahead(Highest(TICTACTOE), width=9, depth=4)
  values = np.asarray(quick.jit(wide.values)(state))
  assert np.flatnonzero(np.isfinite(values)).tolist() == [2, 5, 6, 7, 8]
  assert np.argmax(values) == 2
  assert values[2] == 1


@pytest.mark.parametrize(
  ("moves", "value", "plies"),
  [
    # X is to move: 8, 7, 6, and O completes 3, 4, 5.
    ([0, 3, 1, 4], -1, 4),
    # O is to move: 8, 7, 6, 5, 4, and X completes 0, 1, 2.
    ([0, 3, 1], -1, 6),
    # O is to move and completes 3, 4, 5.
    ([0, 3, 1, 4, 8, 7, 6], 1, 1),
  ],
)
def test_a_line_of_play_is_worth_less_the_longer_it_takes(moves, value, plies):
  player = lookahead.Lookahead(Highest(TICTACTOE), width=9, depth=9)
  found = player._play_out(TICTACTOE.from_moves(moves), jnp.zeros(9))
  assert float(found) == pytest.approx(value * lookahead.DISCOUNT**plies)


def test_moves_that_are_not_among_the_best_are_not_tried():
  # Of the two best, 8 and 7, none wins at once; 2 is not looked at.
  chosen = choose(
    lookahead.Lookahead(Highest(TICTACTOE), width=2, depth=1), [0, 3, 1, 4]
  )
  assert chosen in (7, 8)


def test_few_moves_left_are_no_trouble():
  moves = [0, 1, 2, 4, 3, 5, 7, 6]
  assert choose(lookahead.Lookahead(Highest(TICTACTOE), width=9, depth=9), moves) == 8


@pytest.mark.parametrize(("depth", "sign"), [(1, 1), (2, -1)])
def test_the_end_of_a_line_is_judged_by_who_is_to_move_there(depth, sign):
  player = lookahead.Lookahead(Highest(TICTACTOE, opinion=0.5), width=3, depth=depth)
  start = TICTACTOE.from_moves([0])
  value = player._play_out(start, jnp.zeros(9))
  expected = -sign * 0.5 * lookahead.DISCOUNT**depth
  assert float(value) == pytest.approx(expected)


def test_named_players_must_rate_moves():
  found = players.make(
    jaxgames.make("gomoku"), "lookahead:player=(ladder:level=2),width=3"
  )
  assert (found.width, found.depth) == (3, 16)
  with pytest.raises(ValueError, match="must rate moves"):
    players.make(TICTACTOE, "lookahead:player=random")
  with pytest.raises(ValueError, match="width must be at least 1"):
    players.make(TICTACTOE, "lookahead:player=(ladder:level=2),width=0")


def test_all_of_it_is_legal():
  player = lookahead.Lookahead(Highest(TICTACTOE), width=4, depth=3)
  act = quick.jit(jax.vmap(player.act, in_axes=(None, 0, 0)))
  random = np.random.default_rng(0)
  states = []
  for _ in range(30):
    state = TICTACTOE.init()
    for _ in range(random.integers(0, 9)):
      legal = np.flatnonzero(TICTACTOE.legal_actions(state))
      after = TICTACTOE.step(state, int(random.choice(legal)))
      state = state if after.is_over else after
    states.append(state)
  batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
  actions = act((), batch, jax.random.split(jax.random.key(0), 30))
  is_legal = jax.vmap(TICTACTOE.legal_actions)(batch)
  assert np.take_along_axis(np.asarray(is_legal), np.asarray(actions)[:, None], 1).all()


def test_the_player_itself_may_stand_in():
  ahead = players.make(TICTACTOE, "lookahead:player=(ladder:level=2)")
  assert ahead.faster() == (players.Dilettante(TICTACTOE),)
  assert not ahead.is_search
