"""A process that dies between any two file operations loses nothing that was saved."""

import json
import subprocess
import sys

import pytest

from tests.fuzz import budget
from tests.support import paths

# Every n-th operation is tried; in the long version each of them.
STEP = 1 if budget.TOTAL else 30


@pytest.mark.parametrize(("scenario", "least"), [("train", 100), ("report", 4)])
def test_a_crash_or_power_loss_at_any_file_operation_changes_no_bit(
  tmp_path, scenario, least
):
  step = STEP if scenario == "train" else min(STEP, 3)
  command = [sys.executable, "-m", "tests.support.crashes", scenario, tmp_path, step]
  done = subprocess.run(
    [str(part) for part in command],
    cwd=paths.ROOT,
    capture_output=True,
    text=True,
    check=True,
  )
  found = json.loads(done.stdout.splitlines()[-1])
  assert found["tried"][-1] >= least - step
  assert not found["broken"], done.stderr
