"""The contract that every player goes through, and what each player promises."""

import chex
from hypothesis import given
from hypothesis import strategies as st
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import arena
from jaxgames import bits
from jaxgames import players
from jaxgames.exact import evaluation
from jaxgames.players import registry
from tests.support import positions
from tests.support import quick

# Adding a player adds a line here: how it is written, and games to try it on.
SMALL = ("tictactoe", "connect4_4x4")
ALL = tuple(jaxgames.GAMES)
PLAYERS = {
  "random": ALL,
  "attack": ALL,
  "defense": ALL,
  "attack-defense": ALL,
  "defense-attack": ("tictactoe", "ttt3d"),
  "attack-defense:ties=random": ("tictactoe", "connect4"),
  "benchmark:ties=game": ("tictactoe", "ttt3d"),
  "combined": ("tictactoe", "connect4"),
  "benchmark": ALL,
  "expert": SMALL,
  "expert:ties=first": SMALL,
  "ladder": ("tictactoe", "gomoku"),
  "ladder:level=2": ("tictactoe", "gomoku"),
  "ladder:level=3": ("tictactoe", "gomoku"),
  "ahead:player=(ladder:level=2),width=3,depth=2": ("tictactoe",),
  "guided:player=(ladder:level=2),simulations=8,temperature=50": (
    "tictactoe",
    "gomoku",
  ),
  "mcts:simulations=8": ("tictactoe", "ttt3d"),
  "sometimes:player=benchmark,other=random,probability=0.5": ("tictactoe", "ttt3d"),
  "every:player=benchmark,other=random,every=3": ("connect4",),
  "sometimes:player=(mcts:simulations=4),other=(expert:ties=first),probability=0.1": (
    "tictactoe",
  ),
}
CASES = [(spec, name) for spec, games in PLAYERS.items() for name in games]
every_player = pytest.mark.parametrize(("spec", "name"), CASES)


def test_every_name_goes_through_the_contract():
  tried = {registry.parse(spec)[0] for spec in PLAYERS}
  assert tried == set(players.PLAYERS)


def act_once(player, states, seed=0):
  """Returns what a player plays in each of many positions."""
  num = len(states.is_over)

  def act(state, key, number):
    key_begin, key_act = jax.random.split(key)
    return player.act(player.begin(key_begin, number), state, key_act)

  keys = jax.random.split(jax.random.key(seed), num)
  return jax.vmap(act)(states, keys, jnp.arange(num, dtype=jnp.int32))


# One function for all tests, so that what one of them compiled serves the others.
quick_act = quick.jit(act_once)


@every_player
def test_plays_legal_moves_and_the_same_for_the_same_key(spec, name):
  game = jaxgames.make(name)
  player = players.make(game, spec)
  states = positions.random_positions(game, 64)
  actions = quick_act(player, states)
  chex.assert_type(actions, jnp.int32)
  legal = positions.see(game, states).legal
  assert legal[np.arange(64), actions].all()
  np.testing.assert_array_equal(actions, quick_act(player, states))


@every_player
def test_is_a_pytree_and_lowers_for_accelerators(spec, name):
  game = jaxgames.make(name)
  player = players.make(game, spec)
  leaves, structure = jax.tree.flatten(player)
  assert jax.tree.unflatten(structure, leaves).game == game
  same = players.make(game, spec)
  assert jax.tree.structure(same) == structure, "an equal player would compile again"
  states = positions.random_positions(game, 64)
  export = jax.export.export(jax.jit(act_once), platforms=["cuda", "tpu"])
  assert "callback" not in export(player, states).mlir_module()


@pytest.mark.parametrize(
  "spec",
  [
    "random",
    "combined",
    "expert",
    "ladder:level=3",
    "mcts:simulations=3",
    "guided:player=(ladder:level=2),simulations=3",
    *list(PLAYERS)[-3:],
  ],
)
def test_no_key_is_used_twice(spec):
  game = jaxgames.make("tictactoe")
  player = players.make(game, spec)
  states = positions.random_positions(game, 4)
  with jax.debug_key_reuse(True):
    quick_act(player, states)


def test_random_plays_every_move_equally_often():
  game = jaxgames.make("connect4")
  state = game.from_moves([3] * 6)
  states = positions.repeat(state, 12_000)
  counts = np.bincount(quick_act(players.Random(game), states), minlength=7)
  assert counts[3] == 0
  expected = 12_000 / 6
  chi_squared = ((np.delete(counts, 3) - expected) ** 2 / expected).sum()
  assert chi_squared < 25.7  # one in ten thousand, with 5 degrees of freedom


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
  actions = np.asarray(quick_act(player, states))
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
  blocks = [quick_act(defense, positions.repeat(state, 1), seed) for seed in range(5)]
  assert set(np.concatenate(blocks).tolist()) == {1}
  random_blocks = players.make(game, "defense:ties=random")
  many = positions.repeat(state, 200)
  assert set(np.asarray(quick_act(random_blocks, many)).tolist()) == {1, 6, 8}


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


def test_combined_is_one_script_throughout_a_game():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "combined")
  chosen, _ = begin_games(player, np.zeros(4000, np.int32))
  counts = np.bincount(chosen, minlength=4)
  assert (abs(counts - 1000) < 150).all()
  # The attacker ignores a threat of the other side, the defender its own.
  state = game.from_moves([0, 3, 1, 4])
  for script, expected in ((0, 2), (1, 5), (2, 2), (3, 5)):
    memory = (jnp.int32(script), ((), (), (), ()))
    # Not compiled: a player must work so too.
    assert int(player.act(memory, state, jax.random.key(1))) == expected


@quick.jit
def begin_games(player, numbers):
  keys = jax.random.split(jax.random.key(0), len(numbers))
  return jax.vmap(player.begin)(keys, numbers)


def test_every_nth_game_counts_from_the_first():
  game = jaxgames.make("tictactoe")
  player = players.make(game, "every:player=attack,other=random,every=7")
  is_other, _ = begin_games(player, np.arange(21, dtype=np.int32))
  assert np.flatnonzero(is_other).tolist() == [0, 7, 14]


@given(st.floats(0, 1, width=32))
def test_sometimes_mixes_in_the_right_proportion(probability):
  game = jaxgames.make("tictactoe")
  state = game.from_moves([0, 3, 1, 4])  # attack plays 2, defense 5
  spec = f"sometimes:player=attack,other=defense,probability={probability}"
  many = positions.repeat(state, 2000)
  actions = np.asarray(quick_act(players.make(game, spec), many))
  assert set(actions.tolist()) <= {2, 5}
  assert abs((actions == 5).mean() - probability) < 0.06


@pytest.mark.parametrize(("name", "num_games"), [(name, 10_000) for name in SMALL])
def test_expert_never_loses_to_random(name, num_games):
  game = jaxgames.make(name)
  score = quick.play_match(
    players.make(game, "expert"),
    players.make(game, "random"),
    jax.random.key(0),
    num_games=num_games,
  )
  assert score.losses.tolist() == [0, 0]
  assert int(score.wins.sum()) > num_games // 2


@pytest.mark.parametrize("name", SMALL)
def test_two_experts_draw(name):
  game = jaxgames.make(name)
  expert = players.make(game, "expert")
  score = quick.play_match(expert, expert, jax.random.key(0), num_games=500)
  assert score.draws.tolist() == [250, 250]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("side", [1, -1])
def test_expert_is_unbeatable_by_exhaustion(name, side):
  game = jaxgames.make(name)
  found = evaluation.examine(players.make(game, "expert:ties=first"), side=side)
  assert found.is_unbeatable
  assert found.num_lost == 0
  assert found.losing_moves is None


def test_expert_refuses_large_games():
  with pytest.raises(ValueError, match=r"player .expert.*too large to solve"):
    players.make(jaxgames.make("connect4"), "expert")


def test_mcts_never_loses_to_the_expert():
  # 1,000 games at 3,200 simulations were without a loss, at 1,600 there were 13 (all
  # as second player); the README has the table. Here, fewer games for the time.
  game = jaxgames.make("tictactoe")
  searcher = players.make(game, "mcts:simulations=3200")
  expert = players.make(game, "expert")
  score = arena.play_match(searcher, expert, jax.random.key(1), num_games=100)
  assert score.losses.tolist() == [0, 0]


def test_benchmark_beats_random():
  game = jaxgames.make("ttt3d")
  score = quick.play_match(
    players.make(game, "benchmark"),
    players.make(game, "random"),
    jax.random.key(0),
    num_games=1000,
  )
  assert score.wins.sum() > 950


@pytest.mark.parametrize(
  ("spec", "message"),
  [
    ("bencmark", "no player 'bencmark': did you mean 'benchmark'"),
    ("mcts:sims=3", "player 'mcts' has no option 'sims': .*simulations"),
    ("random:x=1", "player 'random' has no option 'x': it has none"),
    ("mcts:simulations=many", "simulations must be a whole number, not 'many'"),
    ("mcts:simulations=0", "simulations must be at least 1, not 0"),
    ("mcts:exploration=-1", "exploration must be 0 or more"),
    ("mcts:simulations", "'simulations' is not of the form option=value"),
    ("mcts:simulations=1,simulations=2", "'simulations' stands twice"),
    ("attack:ties=none", "ties must be first, random or game, not 'none'"),
    ("sometimes:player=random,other=random", "needs the option 'probability'"),
    ("sometimes:player=random,other=attack,probability=2", "from 0 to 1, not 2.0"),
    ("sometimes:player=(random,other=attack", "the brackets in .* do not match"),
    ("sometimes:player=radom,other=attack,probability=0", "did you mean 'random'"),
    ("every:player=random,other=random,every=0", "every must be at least 1"),
    ("", "no player ''"),
  ],
)
def test_wrong_names_are_explained(spec, message):
  with pytest.raises(ValueError, match=message):
    players.make(jaxgames.make("tictactoe"), spec)


@given(st.text(alphabet="mcts:simulations=,()12 random", max_size=40))
def test_any_text_is_a_player_or_a_value_error(text):
  try:
    player = players.make(jaxgames.make("tictactoe"), text)
  except ValueError:
    return
  assert player.game == jaxgames.make("tictactoe")


def test_lowest_action_is_found_over_all_levels():
  game = jaxgames.make("connect4")
  state = game.from_moves([0, 0, 0, 1])
  cells = game.playable_cells(state)
  assert int(bits.first(players.base.first_of(game, cells))) == 21
  without_first = bits.difference(cells, bits.single(jnp.int32(21), game.num_words))
  assert int(bits.first(players.base.first_of(game, without_first))) == 8
