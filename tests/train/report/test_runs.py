"""The files of runs, read back."""

import gzip

import numpy as np
import pytest

from tests.support import reports
from train.report import document
from train.report import runs as runs_lib


def test_line_cut_off_by_a_crash_is_ignored(tmp_path):
  directory = reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP
  )
  whole = document.as_json(document.make([directory]))
  with (directory / "metrics.jsonl").open("a") as file:
    file.write('{"test": 6, "trial": 0, "ga')
  assert document.as_json(document.make([directory])) == whole


def test_compressed_metrics_are_read(tmp_path):
  directory = reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP
  )
  whole = document.as_json(document.make([directory]))
  metrics = directory / "metrics.jsonl"
  (directory / "metrics.jsonl.gz").write_bytes(gzip.compress(metrics.read_bytes()))
  metrics.unlink()
  assert document.as_json(document.make([directory])) == whole
  (directory / "metrics.jsonl.gz").write_bytes(b"no")
  with pytest.raises(ValueError, match=r"metrics.jsonl.gz cannot be read"):
    document.make([directory])


def test_test_logged_twice_counts_once(tmp_path):
  directory = reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP
  )
  whole = document.as_json(document.make([directory]))
  path = directory / "metrics.jsonl"
  path.write_text(path.read_text() + path.read_text())
  assert document.as_json(document.make([directory])) == whole


def test_nan_is_not_a_point_of_the_curve(tmp_path):
  directory = reports.write_run(tmp_path / "deep", [[0.5, float("nan"), 0.7]])
  [record] = runs_lib.read(directory).records
  curve = record.curves("score")[0]
  np.testing.assert_array_equal(curve.tests, [1, 3])
  np.testing.assert_array_equal(curve.games, [100, 300])
  assert record.curves("loss") == {}


@pytest.mark.parametrize(
  ("name", "text", "message"),
  [
    ("config.yaml", None, "is missing"),
    ("config.yaml", "game: [", "cannot be parsed"),
    ("config.yaml", "game: ttt3d\n", "games: Field required"),
    ("run.json", None, "is missing"),
    ("run.json", '{"name": ', "cannot be parsed"),
    ("run.json", "[]", "valid dictionary"),
    ("run.json", b"\xff", "cannot be read"),
    ("metrics.jsonl", "nonsense\n{}\n{}\n", "line 1"),
    ("metrics.jsonl", '{"test": 1, "trial": 0, "games": 9}\n', "has no 'score'"),
    (
      "metrics.jsonl",
      '{"test": 1, "trial": 0, "games": 9, "score": "high"}\n',
      "is 'high', not a number",
    ),
  ],
)
def test_file_that_cannot_be_used_is_named(tmp_path, name, text, message):
  directory = reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP
  )
  if text is None:
    (directory / name).unlink()
  else:
    (directory / name).write_bytes(text if isinstance(text, bytes) else text.encode())
  with pytest.raises(ValueError, match=message) as caught:
    document.make([tmp_path])
  assert str(directory / name) in str(caught.value)
  assert "\n" not in str(caught.value)


def test_directory_without_a_run_is_refused(tmp_path):
  with pytest.raises(ValueError, match="there is no run in"):
    document.make([tmp_path])
  with pytest.raises(ValueError, match="is not a directory"):
    document.make([tmp_path / "nowhere"])


def test_each_opponent_is_a_row_and_trials_keep_their_numbers(tmp_path):
  run = runs_lib.read(reports.write_hybrid(tmp_path / "run"))
  attack_defense, random = run.records
  assert attack_defense.label == "run/attack_defense"
  assert random.paper.row == "random"
  assert (attack_defense.trials, random.trials) == ([0, 1], [2, 3])
  assert (attack_defense.finished, random.finished) == ([1], [])
  assert run.planned == (100, 1000, 2000)


def test_seconds_are_shared_by_games(tmp_path):
  run = runs_lib.read(reports.write_hybrid(tmp_path / "run"))
  curves = [curve for r in run.records for curve in r.curves("seconds").values()]
  # Of 6,500 games in 65 seconds.
  assert [curve.values[-1] for curve in curves] == pytest.approx([20, 5, 20, 20])


def test_one_opponent_needs_a_row(tmp_path):
  paper = {"name": "ttt3d", "table": "II"}
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=paper)
  with pytest.raises(ValueError, match=r"config.yaml: .*paper.row is missing"):
    document.make([tmp_path])
