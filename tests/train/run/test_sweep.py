"""Sweeps: each run is started, resumed or skipped."""

import json
import os
import signal

import pytest

from tests.support import toy_learner
from train.run import display
from train.run import loop
from train.run import sweep

pytestmark = pytest.mark.usefixtures("toy")


def make_sweep(**fields) -> list:
  return [
    (f"run_{seed}", toy_learner.make_config(trials=1, seed=seed, **fields))
    for seed in range(2)
  ]


def fingerprints(directory) -> list:
  files = sorted(directory.glob("*/run.json"))
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
