"""The contract of every player that has a name."""

import chex
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.players import registry
from tests.support import moves
from tests.support import positions
from tests.support import value_networks

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
  "lookahead:player=(ladder:level=2),width=3,depth=2": ("tictactoe",),
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


@every_player
def test_plays_legal_moves_and_the_same_for_the_same_key(spec, name):
  game = jaxgames.make(name)
  player = players.make(game, spec)
  states = positions.random_positions(game, 64)
  actions = moves.quick_act(player, states)
  chex.assert_type(actions, jnp.int32)
  legal = positions.see(game, states).legal
  assert legal[np.arange(64), actions].all()
  np.testing.assert_array_equal(actions, moves.quick_act(player, states))


@every_player
def test_is_a_pytree_and_lowers_for_accelerators(spec, name):
  game = jaxgames.make(name)
  player = players.make(game, spec)
  leaves, structure = jax.tree.flatten(player)
  assert jax.tree.unflatten(structure, leaves).game == game
  same = players.make(game, spec)
  assert jax.tree.structure(same) == structure, "an equal player would compile again"
  states = positions.random_positions(game, 64)
  export = jax.export.export(jax.jit(moves.act_once), platforms=["cuda", "tpu"])
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
    moves.quick_act(player, states)


@every_player
def test_can_be_asked_what_every_player_can(spec, name):
  game = jaxgames.make(name)
  player = players.make(game, spec)
  assert all(part.game == game for part in player.parts)
  assert all(other.game == game for other in player.faster())
  same = player.map_players(lambda part: part)
  assert jax.tree.structure(same) == jax.tree.structure(player)
  assert player.on(game).game == game
  with pytest.raises(ValueError, match="this player plays"):
    player.on(jaxgames.LineGame(shape=(3, 4), length=3))


@pytest.mark.parametrize(
  ("spec", "name"), [*CASES, ("trained", "ttt3d"), ("trained", "tictactoe")]
)
def test_a_player_that_says_it_is_deterministic_uses_no_chance(spec, name):
  game = jaxgames.make(name)
  is_trained = spec == "trained"
  player = value_networks.player(game) if is_trained else players.make(game, spec)
  assert player.is_deterministic == (spec in ("trained", "expert:ties=first"))
  if player.is_deterministic:
    states = positions.random_positions(game, 64)
    # The numbers of the games are others, too, in another order of the positions.
    turned = jax.tree.map(lambda leaf: leaf[::-1], states)
    actions = moves.quick_act(player, states)
    others = moves.quick_act(player, turned, 1)[::-1]
    np.testing.assert_array_equal(actions, others)


@pytest.mark.parametrize("spec", PLAYERS)
def test_names_and_options_are_checked_before_anything_is_made(spec):
  registry.check(spec)
  with pytest.raises(ValueError, match="has no option"):
    registry.check(f"{spec}{',' if ':' in spec else ':'}no_such=1")
