"""Memory: what cannot fit is refused before it is taken."""

import jax
import jax.numpy as jnp
import pytest

import jaxgames
from jaxgames import players
from jaxgames import search
from tests.support import quick
from train import config as config_lib
from train.match import device
from train.match import host_player
from train.run import memory
from train.run import preflight

SMALL = ["trials=1", "games=40", "parallel_games=4", "test.every=20", "test.games=4"]

GIGABYTE = 10**9


@pytest.fixture(autouse=True)
def _four_gigabytes(monkeypatch):
  """Lets there be as much on every machine."""
  monkeypatch.setattr(memory, "available", lambda: 4 * GIGABYTE)


@pytest.mark.parametrize(
  ("override", "words"),
  [
    ("parallel_games=1000000000", "1,000,000,000 games at once"),
    ("parallel_games=20000000", "the states of 1 trial,"),
    ("trials=1000000000", "games of a test"),
    ("trials=100000", "the states of 100,000 trials"),
    ("learner.network.hidden=[1000000000]", "the states of"),
    ("learner.network.hidden=[100000,100000]", "the states of"),
    ("learner.network.detectors=1000000000", "the states of"),
    ("test.games=1000000000", "1,000,000,000 games of a test"),
    ("test.against=mcts:simulations=1000000000", "simulations would need less"),
    ("test.against=guided:player=ttt3d,simulations=1000000000", "simulations"),
    (
      "test.against=sometimes:player=(mcts:simulations=1000000000),other=random,"
      "probability=0.5",
      "simulations would need less",
    ),
  ],
)
def test_a_run_that_cannot_fit_is_refused_before_it_is_tried(override, words):
  config = config_lib.load("quickstart", [*SMALL, override])
  with pytest.raises(ValueError, match=r"^this needs at least .* 4.0 GB") as caught:
    preflight.check(config)
  assert words in str(caught.value)


@pytest.mark.parametrize(
  ("name", "override"),
  [
    ("dqn/masked_random", "learner.replay=2000000000"),
    ("gomoku/st", "learner.network.hidden=1000000000"),
    ("qlearn/best", "learner.network.hidden=[1000000000]"),
  ],
)
def test_every_learner_is_measured_by_its_state(name, override):
  config = config_lib.load(name, [override])
  with pytest.raises(ValueError, match="the states of"):
    preflight.check(config)


def test_what_fits_is_not_refused():
  preflight.check(config_lib.load("quickstart"))
  device_match = [players.make(jaxgames.make("ttt3d"), "mcts:simulations=2000")] * 2
  memory.check_match(device_match, device.MOST_AT_ONCE)


def test_a_search_that_cannot_fit_is_refused(console):
  game = jaxgames.make("connect4")
  large = players.make(game, "mcts:simulations=100000000")
  small = players.make(game, "random")
  with pytest.raises(ValueError, match="searches of 8 games at once"):
    device.play(small, large, num_games=8, seed=0, console=console)
  with pytest.raises(ValueError, match="fewer simulations would need less"):
    host_player.CompiledPlayer(large, jax.random.key(0))


def test_a_program_that_cannot_fit_is_refused(monkeypatch):
  compiled = quick.jit(lambda x: jnp.sort(x * x)[:3]).lower(jnp.ones(1000)).compile()
  memory.check_program(compiled)
  monkeypatch.setattr(memory, "available", lambda: 1000)
  with pytest.raises(ValueError, match="for what it computes at once, but there are 1"):
    memory.check_program(compiled)


def test_a_tree_takes_what_its_arrays_take():
  game = jaxgames.make("connect4")
  state = game.init()
  tree = search._plant(game, state, (), 10)
  assert search.tree_bytes(game, 10) == sum(
    leaf.nbytes for leaf in jax.tree.leaves(tree)
  )


def test_the_limits_of_control_groups_count(tmp_path, monkeypatch):
  group = tmp_path / "a" / "b"
  group.mkdir(parents=True)
  (group / "memory.max").write_text("max\n")
  (group / "memory.current").write_text("10\n")
  (group / "memory.stat").write_text("anon 1\ninactive_file 30\n")
  (group.parent / "memory.max").write_text("1000\n")
  (group.parent / "memory.current").write_text("600\n")
  (group.parent / "memory.stat").write_text("anon 1\ninactive_file 100\n")
  assert list(memory._of_cgroup(group, 2)) == []
  assert list(memory._of_cgroup(group.parent, 2)) == [500]
  assert list(memory._of_cgroup(tmp_path / "nowhere", 2)) == []
