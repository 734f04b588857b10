"""Sweeps: each run is started, resumed or skipped."""

import contextlib
import json
import os
import signal
import time

import jax
import pytest

from tests.support import runs
from tests.support import toy_learner
from train.run import directory
from train.run import display
from train.run import loop
from train.run import sweep

pytestmark = pytest.mark.usefixtures("toy")


def make_sweep(num_runs: int = 2, **fields) -> list:
  return [
    (f"run_{seed}", toy_learner.make_config(trials=1, seed=seed, **fields))
    for seed in range(num_runs)
  ]


def count_compilations(monkeypatch) -> list:
  """Returns a list that grows by an entry with each program that is compiled."""
  original, calls = jax.stages.Lowered.compile, []

  def compile_and_count(self, *args, **options):
    calls.append(self)
    return original(self, *args, **options)

  monkeypatch.setattr(jax.stages.Lowered, "compile", compile_and_count)
  return calls


def fingerprints(path) -> list:
  files = sorted(path.glob("*/run.json"))
  return [json.loads(file.read_text())["fingerprints"] for file in files]


def stop_after(monkeypatch, num_tests: int) -> None:
  """Sends a signal after some tests, once."""
  original, calls = display.Display.tested, []

  def tested(self, number, score):
    original(self, number, score)
    calls.append(number)
    if len(calls) == num_tests:
      os.kill(os.getpid(), signal.SIGTERM)

  monkeypatch.setattr(display.Display, "tested", tested)


# Four tests a run: in the middle of the second run, and at the end of the first.
@pytest.mark.parametrize("num_tests", [6, 4])
def test_a_stopped_sweep_does_what_is_left(tmp_path, console, monkeypatch, num_tests):
  whole = sweep.run(make_sweep(), tmp_path / "whole", console)
  assert whole == loop.Outcome(tmp_path / "whole", is_finished=True)
  stop_after(monkeypatch, num_tests)
  outcome = sweep.run(make_sweep(), tmp_path / "cut", console)
  assert outcome.exit_code == 143
  last = console.file.getvalue().splitlines()[-1]
  assert "to continue: the same command again" in last
  begun = {path.name for path in (tmp_path / "cut").iterdir()}
  assert begun == ({"run_0", "run_1"} if num_tests == 6 else {"run_0"})
  before = (tmp_path / "cut/run_0/run.json").stat().st_mtime_ns
  assert sweep.run(make_sweep(), tmp_path / "cut", console).is_finished
  assert (tmp_path / "cut/run_0/run.json").stat().st_mtime_ns == before
  assert fingerprints(tmp_path / "cut") == fingerprints(tmp_path / "whole")
  assert len(fingerprints(tmp_path / "cut")) == 2


def test_another_config_is_refused_before_anything_is_trained(tmp_path, console):
  sweep.run(make_sweep()[1:2], tmp_path, console)
  with pytest.raises(
    ValueError, match=r"run_1 was begun with .* games was 100 and is 50"
  ):
    sweep.run(make_sweep(games=50), tmp_path, console)
  assert not (tmp_path / "run_0").exists()


def test_runs_that_differ_in_their_seeds_share_their_programs(
  tmp_path, console, monkeypatch
):
  calls = count_compilations(monkeypatch)
  fields = {"learner": {"kind": "toy", "size": 13}}
  sweep.run(make_sweep(5, **fields), tmp_path, console)
  # The start, training, a test, and the parameters.
  assert len(calls) == 4
  assert len({tuple(prints) for prints in fingerprints(tmp_path)}) == 5
  # With other tests, only these are other programs.
  test = {"every": 50, "games": 8, "against": "random"}
  sweep.run(make_sweep(2, test=test, **fields), tmp_path / "tests", console)
  assert len(calls) == 5


def test_the_next_run_is_compiled_while_one_trains(tmp_path, console, monkeypatch):
  calls, counted = count_compilations(monkeypatch), []

  def tested(self, number, score):
    del self, number, score
    for _ in range(6000):
      if len(calls) == 8:
        break
      time.sleep(0.01)
    counted.append(len(calls))

  monkeypatch.setattr(display.Display, "tested", tested)
  named = [
    (f"run_{size}", toy_learner.make_config(learner={"kind": "toy", "size": size}))
    for size in (14, 15)
  ]
  assert sweep.run(named, tmp_path, console).is_finished
  assert counted == [8] * 8


def test_an_error_in_a_program_is_raised_by_its_own_run(tmp_path, console, monkeypatch):
  original = toy_learner.ToyLearner.is_done

  def is_done(self, state):
    if self.settings.size == 16:
      raise ValueError("this toy cannot be compiled")
    return original(self, state)

  monkeypatch.setattr(toy_learner.ToyLearner, "is_done", is_done)
  broken = toy_learner.make_config(learner={"kind": "toy", "size": 16})
  with pytest.raises(ValueError, match="this toy cannot be compiled"):
    sweep.run([*make_sweep(1), ("broken", broken)], tmp_path, console)
  assert runs.status(tmp_path / "run_0")["is_finished"]
  # It can be continued once it is mended.
  monkeypatch.undo()
  assert loop.resume(tmp_path / "broken", console).is_finished


def test_a_second_sweep_makes_what_the_first_is_not_making(tmp_path, console):
  named = make_sweep(3)
  # As if another process were making the first run.
  with directory.RunDirectory(tmp_path / "run_0").locked():
    outcome = sweep.run(named, tmp_path, console)
  assert outcome == loop.Outcome(tmp_path, is_finished=False)
  assert outcome.exit_code == 0
  last = runs.said(console).splitlines()[-1]
  assert "still trained by other processes: run_0;" in last
  assert not (tmp_path / "run_0" / "config.yaml").exists()
  assert [runs.status(tmp_path / f"run_{n}")["is_finished"] for n in (1, 2)] == [
    True
  ] * 2
  # Once the other is gone its run is free.
  assert sweep.run(named, tmp_path, console).is_finished


def test_a_run_that_another_sweep_leaves_is_made_in_the_end(
  tmp_path, console, monkeypatch
):
  lock = contextlib.ExitStack()
  lock.enter_context(directory.RunDirectory(tmp_path / "run_0").locked())
  original = display.Display.tested

  def tested(self, number, score):
    original(self, number, score)
    lock.close()  # The other process ends.

  monkeypatch.setattr(display.Display, "tested", tested)
  assert sweep.run(make_sweep(2), tmp_path, console).is_finished
  assert len(fingerprints(tmp_path)) == 2


def test_a_run_that_another_sweep_was_quicker_to_begin_is_left_to_it(
  tmp_path, console, monkeypatch
):
  original = loop.start

  def start(config, path, console, **options):
    if path.name == "run_0":
      original(config, path, console)  # The other one, which makes it all.
    return original(config, path, console, **options)

  monkeypatch.setattr(loop, "start", start)
  assert sweep.run(make_sweep(2), tmp_path, console).is_finished
