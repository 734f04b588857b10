"""Scripted players: they follow their rules; how they choose among equals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from tests.support import moves
from tests.support import positions
from tests.support import quick

# Threats, found by trying every move on a copied board: slow and plain.


def completing_cells(game, seen, stone):
  """Returns `[num_cells]` bool: would a stone there complete a line?"""
  boards = np.repeat(seen.reshape(1, -1), game.num_cells, axis=0)
  np.fill_diagonal(boards, stone)
  return (boards[:, game.lines] == stone).all(axis=2).any(axis=1)


def offered_actions(game, rule, seen, legal, landing):
  """Returns the set of actions that a rule recommends."""
  completing = completing_cells(game, seen, 1 if rule == "win" else -1)
  actions = np.flatnonzero(legal)
  if rule != "safe":
    return {int(a) for a in actions if completing[landing[a]]}
  above = landing + game.num_actions
  return {
    int(a) for a in actions if above[a] >= game.num_cells or not completing[above[a]]
  }


SCRIPTS = {
  "attack": ("win",),
  "defense": ("block",),
  "attack-defense": ("win", "block"),
  "defense-attack": ("block", "win"),
  "benchmark": ("win", "block", "safe"),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
  ("name", "ties"),
  [
    ("tictactoe", "first"),
    ("connect4", "first"),
    ("ttt3d", "random"),
    ("gomoku", "random"),
    ("ttt3d", "game"),
  ],
)
def test_rule_players_follow_their_rules(script, name, ties):
  game = jaxgames.make(name)
  player = players.make(game, f"{script}:ties={ties}")
  # Late positions, which are full of threats: of two games in three, near the end.
  final, states, _ = positions.random_games(game, 64, seed=4)
  plies = final.num_moves - 1 - np.arange(64) % 3
  states = jax.tree.map(lambda x: x[np.arange(64), plies], states)
  actions = np.asarray(moves.quick_act(player, states))
  _, *views = positions.see(game, states)
  num_decided = 0
  # A batch of the usual size is asked; to find threats the slow way takes too long.
  for action, *seen in list(zip(actions, *views, strict=True))[:24]:
    for rule in SCRIPTS[script]:
      offer = offered_actions(game, rule, *seen)
      if offer:
        assert int(action) in offer, (rule, seen)
        num_decided += 1
        break
  assert num_decided > 3


def test_first_block_follows_the_order_of_lines():
  game = jaxgames.make("tictactoe")
  # X . X      X threatens 1 in the top row and 6 in the middle of nowhere else; with
  # . X .      the diagonals 0-4-8 and 2-4-6 it threatens 8 and 6 too. The row comes
  # . O .      first.
  state = game.from_moves([0, 7, 2, 3, 4])
  defense = players.make(game, "defense")
  blocks = [
    moves.quick_act(defense, positions.repeat(state, 1), seed) for seed in range(5)
  ]
  assert set(np.concatenate(blocks).tolist()) == {1}
  random_blocks = players.make(game, "defense:ties=random")
  many = positions.repeat(state, 200)
  assert set(np.asarray(moves.quick_act(random_blocks, many)).tolist()) == {1, 6, 8}


def test_an_order_is_drawn_for_each_game_and_kept_throughout_it():
  game = jaxgames.make("ttt3d")
  player = players.make(game, "benchmark:ties=game")
  state = game.init()
  keys = jax.random.split(jax.random.key(0), 64)
  memories = jax.vmap(player.begin)(keys, jnp.arange(64))
  act = jax.vmap(player.act, in_axes=(0, None, 0))
  first = np.asarray(act(memories, state, keys))
  again = np.asarray(act(memories, state, jnp.roll(keys, 1)))
  assert (first == again).all()
  assert len(set(first.tolist())) > 8
  # Once there is no danger on top, its stones go where the first one went.
  after = game.from_moves([0, 1])
  np.testing.assert_array_equal(act(memories, after, keys), first)


def test_benchmark_beats_random():
  game = jaxgames.make("ttt3d")
  score = quick.play_match(
    players.make(game, "benchmark"),
    players.make(game, "random"),
    jax.random.key(0),
    num_games=1000,
  )
  assert score.wins.sum() > 950
