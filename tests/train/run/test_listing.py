"""The list of runs, of whole and damaged directories."""

import datetime
import gzip
import json

import pytest

from train.run import listing

CONFIG = """
game: ttt3d
learner: {kind: td}
games: 200
trials: 2
test: {every: 100, games: 10, against: random}
"""


def write_run(directory, *, scores=((0.5, 0.7), (0.6, 0.8)), **status):
  """Writes a run whose trials have a score for each test."""
  directory.mkdir(parents=True)
  (directory / "config.yaml").write_text(CONFIG)
  lines = [
    {"test": test, "trial": trial, "games": 100 * test, "score": score}
    for test, of_test in enumerate(zip(*scores, strict=True), start=1)
    for trial, score in enumerate(of_test)
  ]
  text = "".join(json.dumps(line) + "\n" for line in lines)
  (directory / "metrics.jsonl").write_text(text)
  whole = {"games": [200, 201], "is_finished": True, "diverged": [], "finished": []}
  (directory / "run.json").write_text(json.dumps(whole | status))
  return directory


def only(directory):
  (row,) = listing.list_runs(directory)
  return row


def test_a_finished_run_has_all_its_numbers(tmp_path):
  run = write_run(tmp_path / "sweep" / "one")
  row = only(tmp_path)
  assert row.score == pytest.approx(0.75)
  assert row.num_bytes == sum(file.stat().st_size for file in run.iterdir())
  age = datetime.datetime.now(datetime.UTC) - row.written
  assert age < datetime.timedelta(minutes=5)
  expected = {
    "name": "sweep/one",
    "state": "finished",
    "game": "ttt3d",
    "learner": "td",
    "trials": 2,
    "games": 200,
    "games_wanted": 200,
    "tests": 2,
    "tests_wanted": 2,
    "problem": None,
  }
  assert expected.items() <= row.as_json().items()
  assert json.loads(json.dumps(row.as_json())) == row.as_json()


def test_a_run_may_be_asked_for_itself(tmp_path):
  assert only(write_run(tmp_path / "one")).name == "one"


def test_runs_stand_by_name(tmp_path):
  for name in ("b", "a/z", "c"):
    write_run(tmp_path / name)
  assert [row.name for row in listing.list_runs(tmp_path)] == ["a/z", "b", "c"]


def test_states_are_told_apart(tmp_path):
  write_run(tmp_path / "a", is_finished=False, games=[100, 120])
  write_run(tmp_path / "b", diverged=[0, 1])
  write_run(tmp_path / "c", diverged=[1], games=[200, 7])
  write_run(tmp_path / "d", finished=[0, 1], games=[50, 70])
  rows = listing.list_runs(tmp_path)
  assert [row.state for row in rows] == [
    "unfinished", "diverged", "finished", "finished",
  ]  # fmt: skip
  assert [row.games for row in rows] == [100, 201, 200, 70]


def test_a_run_that_has_just_begun_has_no_score(tmp_path):
  run = write_run(tmp_path / "one")
  (run / "metrics.jsonl").unlink()
  (run / "run.json").unlink()
  row = only(tmp_path)
  assert (row.state, row.games, row.tests, row.score) == ("unfinished", 0, 0, None)


def test_several_opponents_have_as_many_trials_each(tmp_path):
  run = write_run(tmp_path / "one")
  with (run / "config.yaml").open("a") as file:
    file.write("opponent: {a: random, b: self, c: attack}\n")
  assert only(tmp_path).trials == 6


def test_compressed_metrics_and_a_cut_off_line_are_read(tmp_path):
  metrics = write_run(tmp_path / "one") / "metrics.jsonl"
  with metrics.open("a") as file:
    file.write('{"test": 3, "tri')
  assert only(tmp_path).score == pytest.approx(0.75)
  metrics.with_name("metrics.jsonl.gz").write_bytes(gzip.compress(metrics.read_bytes()))
  metrics.unlink()
  assert only(tmp_path).score == pytest.approx(0.75)


@pytest.mark.parametrize(
  ("file", "contents", "words"),
  [
    ("config.yaml", None, "it has no config.yaml"),
    ("config.yaml", b"{", "config.yaml cannot be read"),
    ("config.yaml", b"\xff\xfe\xfa", "config.yaml cannot be read"),
    ("config.yaml", b"- 1\n", "config.yaml holds no fields"),
    ("config.yaml", b"name: my other program\n", "test"),
    ("config.yaml", b"{game: 1, games: many, test: {every: x}}", "many"),
    ("config.yaml", b"{game: 1, games: 9, test: {every: 3}, learner: td}", ""),
    ("config.yaml", b"{game: 1, games: 9, test: {every: 0}, learner: td}", ""),
    ("run.json", b"{", "run.json cannot be read"),
    ("run.json", b"[]", "run.json holds no fields"),
    ("run.json", b'{"games": 3}', ""),
    ("metrics.jsonl", b"nonsense\n", "no test"),
    ("metrics.jsonl", b'{"trial": 0, "test": 1}\n', "score"),
  ],
)
def test_damage_is_said_in_its_row(tmp_path, file, contents, words):
  run = write_run(tmp_path / "a")
  write_run(tmp_path / "b")
  (run / file).unlink()
  if contents is not None:
    (run / file).write_bytes(contents)
  damaged, whole = listing.list_runs(tmp_path)
  assert damaged.state == "damaged"
  assert damaged.problem
  assert words in damaged.problem
  assert "\n" not in damaged.problem
  assert whole.state == "finished"


def test_a_missing_directory_is_one_sentence(tmp_path):
  with pytest.raises(ValueError, match="there is no directory"):
    listing.list_runs(tmp_path / "nowhere")
  assert listing.list_runs(tmp_path) == []
