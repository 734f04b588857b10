"""What is computed stays what it was when the record was made.

Bits depend on jax and on the processor it compiles for. Where both are those of the
record, everything must be equal. With another processor (tried with instructions of
SSE 4.2 only) the first games are the same but for ties, and errors nearly so. With
another jax there is nothing to compare: `python -m tests.golden.recording` makes the
record anew.
"""

import json

import pytest

from tests.golden import cases
from tests.golden import recording

RECORD = json.loads(recording.FILE.read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(
  RECORD["environment"]["jax"] != recording.environment()["jax"],
  reason=f"the record is of jax {RECORD['environment']['jax']}",
)

is_same_processor = RECORD["environment"] == recording.environment()


@pytest.mark.parametrize("name", cases.RUNS)
def test_runs_are_as_recorded(name):
  expected, found = RECORD["runs"][name], recording.record_run(name)
  if is_same_processor:
    assert found == expected
    return
  first, then = (json.loads(run["metrics"][0]) for run in (found, expected))
  assert first.keys() == then.keys()
  # Where values are equal, as all are at first in tables, rounding decides on moves.
  assert abs(first["games"] - then["games"]) < cases.RUNS[name].get("parallel_games", 1)
  for metric in ("td_error", "q_error"):
    if metric in then:
      assert first[metric] == pytest.approx(then[metric], rel=0.1)


@pytest.mark.parametrize("name", cases.MATCHES)
def test_bundled_agents_play_as_recorded(name):
  expected, found = RECORD["matches"][name], recording.record_match(name)
  if is_same_processor:
    assert found == expected
    return
  num_games = cases.MATCHES[name][3]
  assert abs(found["wins"] - expected["wins"]) <= max(2, num_games // 5)


@pytest.mark.parametrize("name", cases.REPORTS)
def test_reports_on_committed_runs_are_as_recorded(name):
  assert recording.record_report(name) == RECORD["reports"][name]
