"""What each player promises; tests/contracts has what all of them do."""

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
from jaxgames import networks
from jaxgames import players
from jaxgames.exact import evaluation
from jaxgames.exact import graph
from jaxgames.exact import numbering
from jaxgames.players import base
from jaxgames.players import registry
from tests.support import moves
from tests.support import positions
from tests.support import quick

SMALL = ("tictactoe", "connect4_4x4")


def test_random_plays_every_move_equally_often():
  game = jaxgames.make("connect4")
  state = game.from_moves([3] * 6)
  states = positions.repeat(state, 12_000)
  counts = np.bincount(moves.quick_act(players.Random(game), states), minlength=7)
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
  actions = np.asarray(moves.quick_act(players.make(game, spec), many))
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
  assert int(bits.first(base.first_of(game, cells))) == 21
  without_first = bits.difference(cells, bits.single(jnp.int32(21), game.num_words))
  assert int(bits.first(base.first_of(game, without_first))) == 8


@given(st.text(alphabet="mcts:simulations=,()12 random", max_size=40))
def test_what_can_be_made_passes_the_check(text):
  try:
    players.make(jaxgames.make("tictactoe"), text)
  except ValueError:
    return
  registry.check(text)


@pytest.mark.parametrize(
  ("spec", "message"),
  [
    ("bencmark", "no player 'bencmark': did you mean 'benchmark'"),
    ("mcts:sims=3", "player 'mcts' has no option 'sims': .*simulations"),
    ("mcts:simulations=many", "simulations must be a whole number, not 'many'"),
    ("mcts:exploration=much", "exploration must be a number, not 'much'"),
    ("lookahead:width=3", "player 'lookahead' needs the option 'player'"),
    ("lookahead:player=(guided:player=(ladr))", "no player 'ladr'"),
    ("lookahead:player=(mcts:simulations)", "is not of the form option=value"),
  ],
)
def test_wrong_names_are_found_by_the_check(spec, message):
  with pytest.raises(ValueError, match=message):
    registry.check(spec)


def test_a_check_leaves_out_what_others_know():
  spec = "lookahead:player=(guided:player=runs/best@3),width=2"
  with pytest.raises(ValueError, match="no player 'runs/best@3'"):
    registry.check(spec)
  registry.check(spec, lambda text: text.startswith("runs/"))
  registry.check("runs/best", lambda text: text.startswith("runs/"))


def test_options_may_be_players_that_others_make():
  game = jaxgames.make("tictactoe")
  spec = "every:player=(a run),other=random,every=2"
  found = players.make(game, spec, lambda game, text: players.make(game, "expert"))
  assert isinstance(found.player, players.Expert)
  assert isinstance(found.other, players.Expert)


def test_a_mixture_by_game_has_parts_and_others_are_their_own():
  game = jaxgames.make("tictactoe")
  assert len(players.make(game, "combined").parts) == 4
  for spec in ("random", "every:player=attack,other=random,every=2"):
    player = players.make(game, spec)
    assert player.parts == (player,)


@pytest.mark.parametrize(
  ("spec", "expected"),
  [
    ("combined", "OnePerGame"),
    ("every:player=attack,other=defense,every=3", "EveryNthGame"),
    ("sometimes:player=attack,other=defense,probability=0.5", "SomeMoves"),
  ],
)
def test_mixtures_map_their_players(spec, expected):
  game = jaxgames.make("tictactoe")
  random = players.Random(game)
  player = players.make(game, spec)
  mapped = player.map_players(lambda part: random)
  assert type(mapped).__name__ == expected
  inner = mapped.players if expected == "OnePerGame" else (mapped.player, mapped.other)
  assert set(inner) == {random}
  assert random.map_players(lambda part: player) == random


def test_searches_have_shorter_ones_and_look_ahead_its_own_player():
  game = jaxgames.make("tictactoe")
  search = players.make(game, "mcts:simulations=200,exploration=1")
  assert search.is_search
  assert [other.simulations for other in search.faster()] == [25, 3]
  assert {other.exploration for other in search.faster()} == {1.0}
  ahead = players.make(game, "lookahead:player=(ladder:level=2)")
  assert ahead.faster() == (players.Dilettante(game),)
  assert not ahead.is_search
  assert players.make(game, "random").faster() == ()


def test_players_without_values_say_so():
  game = jaxgames.make("tictactoe")
  with pytest.raises(ValueError, match="of kind Random has no values"):
    players.Random(game).values(game.init())


@pytest.mark.parametrize("name", SMALL)
def test_values_of_a_table_are_those_of_the_positions_moved_to(name):
  game = jaxgames.make(name)
  index = graph.of(game)
  table = np.random.default_rng(0).random(index.num_states, np.float32)
  for side in (1, -1):
    player = players.TableGreedy(game, table, side)
    for moves_made in ([], [0], [0, 1, 0] if game.gravity else [0, 1, 2]):
      state = game.from_moves(moves_made)
      values = np.asarray(player.values(state))
      sign = 1 if (len(moves_made) % 2 == 0) == (side == 1) else -1
      for action in range(game.num_actions):
        if not game.legal_actions(state)[action]:
          assert values[action] == -np.inf
          continue
        number = numbering.number(game, game.step(state, action))
        assert values[action] == sign * table[index.indices[number]]
      chosen = base.fold(game, player.choices(state))
      assert bool(bits.unpack(chosen, game.num_actions)[values.argmax()])


def test_values_of_a_q_network_are_its_outputs():
  game = jaxgames.make("connect4_4x4")
  network = networks.QNetwork(game, (8,))
  boards, legal = np.zeros((1, 16), np.int8), np.ones((1, 4), bool)
  params = network.init(jax.random.key(0), boards, legal)
  player = players.QGreedy(network, params)
  state = game.from_moves([2, 2, 2, 2])
  values = np.asarray(player.values(state))
  assert values[2] == -np.inf
  assert np.isfinite(np.delete(values, 2)).all()
  cells = bits.unpack(player.choices(state), game.num_cells)
  assert values.argmax() == game.action_of(jnp.argmax(cells))
