"""Checkpoints: what goes in comes out, and damage is noticed."""

import io
import pathlib
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rich.console

import jaxgames
from tests.support import toy_learner
from train.config import agent_names
from train.run import agents
from train.run import checkpoint
from train.run import leaves
from train.run import loop


class State(NamedTuple):
  parameters: dict[str, chex.Array]
  key: chex.PRNGKey
  other_key: chex.PRNGKey
  empty: chex.Array
  nothing: tuple[()]
  counts: tuple[chex.Array, chex.Array]


def make_state(number: int = 0) -> State:
  return State(
    parameters={"a.b/c": jnp.full((2, 3), number, jnp.bfloat16), "d": jnp.zeros(2)},
    key=jax.random.split(jax.random.key(number), 2),
    other_key=jax.random.split(jax.random.key(number, impl="rbg"), 2),
    empty=jnp.zeros((2, 0), jnp.int8),
    nothing=(),
    counts=(jnp.ones(2, bool), jnp.full(2, 7, jnp.uint32)),
  )


def plain(state: State) -> State:
  """Returns a state whose keys are numbers, so that it can be compared."""
  return jax.tree.map(lambda x: np.asarray(leaves.key_data(x)), state)


def save(directory: pathlib.Path, scores: list[float | None], keep: int = 2) -> None:
  checkpoints = checkpoint.Checkpoints(directory, keep=keep)
  for number, score in enumerate(scores, start=1):
    checkpoints.save(make_state(number), {"number": number}, score=score)
  checkpoints.close()


def restore(directory: pathlib.Path, **options) -> checkpoint.Restored | None:
  return checkpoint.restore(directory, jax.eval_shape(make_state), **options)


def restore_best(directory: pathlib.Path) -> checkpoint.Restored | None:
  return checkpoint.restore_part(directory, "parameters", is_best=True)


def kept(directory: pathlib.Path) -> list[int]:
  return sorted(int(path.name) for path in directory.iterdir() if path.name.isdigit())


def test_what_goes_in_comes_out(tmp_path):
  save(tmp_path, [0.5])
  restored = restore(tmp_path)
  assert restored is not None
  assert restored.progress == {"number": 1}
  chex.assert_trees_all_equal_shapes_and_dtypes(restored.state, make_state(1))
  chex.assert_trees_all_equal(plain(restored.state), plain(make_state(1)))


def test_the_newest_and_the_best_are_kept(tmp_path):
  save(tmp_path, [0.1, 0.9, 0.2, None, 0.3, None])
  assert kept(tmp_path) == [2, 5, 6]
  newest, best = restore(tmp_path), restore_best(tmp_path)
  assert newest is not None
  assert best is not None
  assert (newest.number, best.number) == (6, 2)


def test_a_part_is_read_without_knowing_its_shapes(tmp_path):
  save(tmp_path, [0.5])
  part = checkpoint.restore_part(tmp_path, "parameters")
  assert part is not None
  chex.assert_trees_all_equal(part.state["d"], np.zeros(2, np.float32))
  counts = checkpoint.restore_part(tmp_path, "counts/1")
  assert counts is not None
  chex.assert_trees_all_equal(counts.state, np.full(2, 7, np.uint32))
  with pytest.raises(ValueError, match="it has no weights"):
    checkpoint.restore_part(tmp_path, "weights")


def test_leaves_are_found_under_the_names_they_had(tmp_path):
  save(tmp_path, [0.5])

  class Now(NamedTuple):
    learned: dict[str, chex.Array]
    other_key: chex.PRNGKey

  now = jax.eval_shape(
    lambda: Now(make_state().parameters, make_state().other_key),
  )
  with pytest.raises(ValueError, match="learned"):
    checkpoint.restore(tmp_path, now)
  found = checkpoint.restore(tmp_path, now, renamed={"learned/": "parameters/"})
  assert found is not None
  before = plain(make_state(1))
  chex.assert_trees_all_equal(found.state.learned, before.parameters)
  chex.assert_trees_all_equal(plain(found.state).other_key, before.other_key)


def test_numbers_go_on(tmp_path):
  save(tmp_path, [0.1, 0.2])
  save(tmp_path, [0.3])
  assert kept(tmp_path) == [2, 3]


def test_nothing_saved_is_nothing_restored(tmp_path):
  assert restore(tmp_path / "missing") is None
  assert restore(tmp_path) is None
  save(tmp_path, [None])
  assert restore_best(tmp_path) is None


def biggest_file(directory: pathlib.Path) -> pathlib.Path:
  files = [path for path in (directory / "state").rglob("*") if path.is_file()]
  return max(files, key=lambda path: path.stat().st_size)


def truncate(directory: pathlib.Path) -> None:
  file = biggest_file(directory)
  file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(directory: pathlib.Path) -> None:
  for file in (directory / "state").rglob("*"):
    if file.is_file() and file.parent.name == "d":
      data = bytearray(file.read_bytes())
      data[len(data) // 2] ^= 1
      file.write_bytes(bytes(data))


def empty(directory: pathlib.Path) -> None:
  for file in directory.rglob("*"):
    if file.is_file():
      file.write_bytes(b"")


def remove_arrays(directory: pathlib.Path) -> None:
  for file in (directory / "state").rglob("*"):
    if file.is_file() and file.parent.name == "d":
      file.unlink()


def remove_progress(directory: pathlib.Path) -> None:
  (directory / "progress" / "metadata").unlink()


DAMAGES = [truncate, flip, empty, remove_arrays, remove_progress]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_reported_and_the_one_before_used(tmp_path, damage):
  tmp_path = tmp_path / "a place"
  save(tmp_path, [0.1, 0.2])
  damage(tmp_path / "2")
  said: list[str] = []
  restored = restore(tmp_path, warn_fn=said.append)
  assert restored is not None
  assert (restored.number, restored.skipped) == (1, (2,))
  chex.assert_trees_all_equal(plain(restored.state), plain(make_state(1)))
  (line,) = said
  assert line.startswith("skipping checkpoint 2, which is damaged")
  assert "\n" not in line


@pytest.mark.parametrize("damage", DAMAGES)
def test_saving_goes_on_beside_a_damaged_checkpoint(tmp_path, damage):
  save(tmp_path, [0.1, 0.2], keep=3)
  damage(tmp_path / "1")
  save(tmp_path, [0.3], keep=3)
  best = restore_best(tmp_path)
  assert best is not None
  assert best.number == 3


def test_no_good_checkpoint_is_an_error(tmp_path):
  save(tmp_path, [0.1, 0.2])
  truncate(tmp_path / "1")
  remove_arrays(tmp_path / "2")
  with pytest.raises(ValueError, match=r"no checkpoint in .* can be used"):
    restore(tmp_path)
  assert kept(tmp_path) == [1, 2]


def test_a_state_of_another_shape_is_refused(tmp_path):
  save(tmp_path, [0.1])
  other = make_state()._replace(parameters={"a.b/c": jnp.zeros((2, 4), jnp.bfloat16)})
  with pytest.raises(ValueError, match=r"no checkpoint in .* can be used"):
    checkpoint.restore(tmp_path, jax.eval_shape(lambda: other))


# Runs that are resumed, and agents.


@pytest.fixture
def run(tmp_path):
  console = rich.console.Console(file=io.StringIO(), width=200)
  with toy_learner.registered():
    loop.start(toy_learner.make_config(trials=3), tmp_path / "run", console)
    yield tmp_path / "run"


def test_a_run_goes_on_from_the_checkpoint_before_a_damaged_one(run):
  metrics = (run / "metrics.jsonl").read_bytes()
  status = (run / "run.json").read_text()
  truncate(run / "state/4")
  console = rich.console.Console(file=io.StringIO(), width=200)
  assert loop.resume(run, console).is_finished
  assert console.file.getvalue().startswith("skipping checkpoint 4, which is damaged")
  assert (run / "metrics.jsonl").read_bytes() == metrics
  fingerprints = status[status.index("fingerprints") :]
  assert fingerprints in (run / "run.json").read_text()
  assert (run / "state/damaged_4").exists()


def test_an_agent_is_named_by_its_directory(run):
  game = jaxgames.make("tictactoe")
  for spec in (f"{run}", f"{run}@2", f"{run}@1:best"):
    assert agent_names.is_agent(spec)
    assert agents.make(game, spec).game == game
  assert not agent_names.is_agent("benchmark")


@pytest.mark.parametrize(
  ("suffix", "game", "message"),
  [
    ("@3", "tictactoe", "trials are numbered from 0 to 2"),
    ("", "connect4", "plays tictactoe, not this game"),
    ("/state", "tictactoe", "has no config.yaml"),
    ("x", "tictactoe", "there is no directory"),
  ],
)
def test_an_agent_that_is_not_there_is_explained(run, suffix, game, message):
  with pytest.raises(ValueError, match=message):
    agents.load(f"{run}{suffix}") if game == "tictactoe" else agents.make(
      jaxgames.make(game), f"{run}{suffix}"
    )
