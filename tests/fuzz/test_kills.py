"""Runs of all learners, killed again and again at any moment, end with the same bits."""

import json
import pathlib
import random
import signal
import time

import pytest

from tests.contracts import test_learners
from tests.fuzz import budget
from tests.golden import cases
from tests.support import runs
from train import config as config_lib
from train.learners import registry

# For each learner, of 100 in all. The contract of learners kills each once.
NUM_KILLS = 20

pytestmark = pytest.mark.skipif(
  not budget.TOTAL, reason="the contract of learners kills each of them once; make fuzz"
)


@pytest.mark.parametrize("kind", registry.KINDS)
def test_a_run_that_is_killed_many_times_ends_with_the_same_bits(kind, tmp_path):
  of_kind = (case for case in test_learners.CASES.values())
  case = next(case for case in of_kind if case["learner"]["kind"] == kind)
  fields = {**cases.COMMON, **case, "games": 4000}
  fields["test"] = {**fields["test"], "every": 50, "games": 4}
  file = tmp_path / "config.yaml"
  file.write_text(config_lib.dump(config_lib.RunConfig(**fields)))
  train(file, tmp_path / "whole")
  generator = random.Random(kind)
  num_kills = 0
  while num_kills < NUM_KILLS:
    running = start(file, tmp_path / "cut")
    lines = num_lines(tmp_path / "cut") + generator.randrange(4)
    runs.wait_for_lines(tmp_path / "cut" / "metrics.jsonl", lines, running)
    time.sleep(generator.uniform(0, 0.3))
    running.kill()
    running.communicate()
    if running.returncode != -signal.SIGKILL:
      break
    num_kills += 1
  train(file, tmp_path / "cut")
  assert num_kills >= NUM_KILLS // 2
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "whole")


def start(file: pathlib.Path, run: pathlib.Path):
  if (run / "config.yaml").exists():
    return test_learners.jaxgames_process("resume", run)
  return test_learners.jaxgames_process("train", file, "--out", run)


def train(file: pathlib.Path, run: pathlib.Path) -> None:
  running = start(file, run)
  output, _ = running.communicate()
  assert running.returncode == 0, output
  assert json.loads((run / "run.json").read_text())["is_finished"]


def num_lines(run: pathlib.Path) -> int:
  file = run / "metrics.jsonl"
  return file.read_bytes().count(b"\n") if file.exists() else 0
