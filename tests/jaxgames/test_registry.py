"""Games by name, and names that are known without jax."""

import subprocess
import sys

import pytest

import jaxgames
from jaxgames import networks
from jaxgames import players
from jaxgames import registry


@pytest.mark.parametrize("name", registry.BOARDS)
def test_every_name_is_a_game(name):
  board, game = registry.parse(name), jaxgames.make(name)
  assert game == jaxgames.GAMES[name]
  expected = (board.shape, board.length, board.gravity)
  assert (game.shape, game.length, game.gravity) == expected


@pytest.mark.parametrize("size", [5, 19, 32])
def test_some_boards_may_have_another_size(size):
  game = jaxgames.make(f"gomoku:size={size}")
  assert game == jaxgames.LineGame(shape=(size, size), length=5)


@pytest.mark.parametrize(
  ("name", "message"),
  [
    ("conect4", "no game 'conect4': did you mean 'connect4'"),
    ("conect4:size=5", "no game 'conect4': did you mean 'connect4'"),
    ("", "no game ''"),
    ("ttt3d:size=5", "game 'ttt3d' has no option 'size=5': it has none"),
    ("gomoku:side=5", "has no option 'side=5': write gomoku:size=19"),
    ("gomoku:", "has no option '': write gomoku:size=19"),
    ("gomoku:size=4", "Gomoku is played on boards of 5 to 32, not 4"),
    ("gomoku:size=33", "Gomoku is played on boards of 5 to 32, not 33"),
  ],
)
def test_wrong_names_are_explained(name, message):
  with pytest.raises(ValueError, match=message):
    jaxgames.make(name)


@pytest.mark.parametrize(
  "program",
  [
    "import jaxgames.registry; jaxgames.registry.parse('gomoku:size=19')",
    "import jaxgames.options, jaxgames.suggestions",
    "import jaxgames.players, jaxgames.networks; dir(jaxgames), dir(jaxgames.players)",
    "from jaxgames.players import registry; registry.check('mcts:simulations=5')",
    "from jaxgames import players; players.check('lookahead:player=(ladder:level=2)')",
  ],
)
def test_names_are_known_without_jax(program):
  program += "; import sys; assert not {'jax', 'flax', 'numpy'} & set(sys.modules)"
  subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("package", [jaxgames, players, networks])
def test_public_names_are_there_and_others_are_not(package):
  for name in package.__all__:
    assert getattr(package, name) is not None
    assert name in dir(package)
  with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
    _ = package.no_such
