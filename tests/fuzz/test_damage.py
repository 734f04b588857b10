"""Whatever happens to the files of a run, no wrong number comes out of them."""

from collections.abc import Callable
import io
import pathlib
import shutil
import tempfile
from typing import Any

import chex
import hypothesis
from hypothesis import strategies as st
import jax
import numpy as np
import pytest
import rich.console

from tests.fuzz import budget
from tests.support import damage
from tests.support import runs
from tests.support import toy_learner
from train.run import agent_file
from train.run import checkpoint
from train.run import loop

NUM_CHECKPOINTS = 3

# Files of a run that say nothing that its results depend on.
UNCHECKED = {".lock"}


def make_state(number: int) -> dict[str, np.ndarray]:
  generator = np.random.default_rng(number)
  return {
    "weights": generator.normal(size=(2, 1000)).astype(np.float32),
    "counts": generator.integers(0, 9, size=(2, 3), dtype=np.int32),
    "zeros": np.zeros((2, 100), np.float32),
  }


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory) -> pathlib.Path:
  directory = tmp_path_factory.mktemp("checkpoints")
  saving = checkpoint.Checkpoints(directory, keep=NUM_CHECKPOINTS)
  for number in range(1, NUM_CHECKPOINTS + 1):
    saving.save(make_state(number), {"number": number}, score=number / 10)
  saving.close()
  return directory


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory) -> pathlib.Path:
  directory = tmp_path_factory.mktemp("runs") / "run"
  console = rich.console.Console(file=io.StringIO())
  with toy_learner.registered():
    loop.start(toy_learner.make_config(trials=2), directory, console)
  return directory


def attempt(call_fn: Callable[[], Any]) -> tuple[Any, str]:
  """Returns what a call returns, and the line with which it refuses."""
  try:
    return call_fn(), ""
  except ValueError as error:
    refusal = str(error)
  assert refusal
  assert "\n" not in refusal
  return None, refusal


def contents(directory: pathlib.Path) -> dict[pathlib.Path, bytes]:
  found = damage.files(directory)
  return {
    path: (directory / path).read_bytes()
    for path in found
    if path.name not in UNCHECKED
  }


@budget.inputs(quick=40, share=0.02)
@hypothesis.given(st.lists(damage.damages(), min_size=1, max_size=3))
def test_a_damaged_checkpoint_never_gives_a_wrong_state(checkpoints, done):
  with tempfile.TemporaryDirectory() as place:
    copy = pathlib.Path(place) / "state"
    shutil.copytree(checkpoints, copy)
    before = contents(copy)
    hypothesis.note([damage.apply(copy, one) for one in done])
    after = contents(copy)
    unharmed = [
      number
      for number in range(1, NUM_CHECKPOINTS + 1)
      if all(
        after.get(path) == before[path]
        for path in before
        if path.parts[0] == str(number)
      )
    ]
    abstract = jax.eval_shape(lambda: make_state(1))
    restored, refusal = attempt(lambda: checkpoint.restore(copy, abstract))
    if refusal:
      assert not unharmed, refusal
      return
    assert restored.number >= max(unharmed, default=1)
    assert restored.progress == {"number": restored.number}
    chex.assert_trees_all_equal(restored.state, make_state(restored.number))


@pytest.mark.usefixtures("toy")
@budget.inputs(quick=40, share=0.02)
@hypothesis.given(st.lists(damage.damages(), min_size=1, max_size=2))
def test_a_damaged_run_ends_as_it_did_or_is_refused(finished_run, done):
  with tempfile.TemporaryDirectory() as place:
    copy = pathlib.Path(place) / "run"
    shutil.copytree(finished_run, copy)
    hypothesis.note([damage.apply(copy, one) for one in done])
    before = contents(copy)
    console = rich.console.Console(file=io.StringIO(), width=200)
    outcome, refusal = attempt(lambda: loop.resume(copy, console))
    if refusal:
      assert contents(copy) == before, refusal
      return
    assert outcome.is_finished
    assert runs.results(copy) == runs.results(finished_run)


@budget.inputs(quick=100, share=0.1)
@hypothesis.given(st.lists(damage.damages(), min_size=1, max_size=3))
def test_a_damaged_agent_file_is_refused(done):
  parameters = {"weights": make_state(1)["weights"], "bias": np.float32(0.5)}
  with tempfile.TemporaryDirectory() as place:
    directory = pathlib.Path(place)
    file = directory / "agent.safetensors"
    agent_file.write(file, parameters, {"game": "ttt3d"}, {"games": 7})
    whole = file.read_bytes()
    for one in done:
      if file.exists():
        damage.apply(directory, one)
    read, refusal = attempt(lambda: agent_file.read(file))
    if refusal:
      assert not file.exists() or file.read_bytes() != whole
      return
    chex.assert_trees_all_equal(read.parameters, parameters)
    assert (read.config, read.provenance) == ({"game": "ttt3d"}, {"games": 7})
