import io
import json
import xml.etree.ElementTree

import numpy as np
import pydantic
import pytest
import rich.console
import yaml

from train import papers
from train import records
from train import report

DEEP = {"name": "ttt3d", "table": "II", "row": "deep_structured"}
WIDE = DEEP | {"row": "wide_unstructured"}


def write_run(
  directory, scores, *, paper=None, num_planned=None, diverged=(), game="ttt3d"
):
  """Writes a run of `scores[trial][test]`, tested every 100 games."""
  num_tests = max(map(len, scores), default=0)
  num_planned = num_tests if num_planned is None else num_planned
  directory.mkdir(parents=True)
  config = {
    "game": game,
    "learner": {"kind": "fake", "network": "small"},
    "games": 100 * num_planned,
    "test": {"every": 100, "games": 10, "against": "random"},
    "paper": paper,
  }
  (directory / "config.yaml").write_text(yaml.safe_dump(config))
  with (directory / "metrics.jsonl").open("w") as file:
    for test in range(1, num_tests + 1):
      for trial, of_trial in enumerate(scores):
        if test <= len(of_trial):
          games = 100 * test + trial
          line = {"test": test, "trial": trial, "games": games, "loss": float("nan")}
          file.write(json.dumps(line | {"score": of_trial[test - 1]}) + "\n")
  status = {
    "name": directory.name,
    "trials": len(scores),
    "games": [100 * len(of_trial) for of_trial in scores],
    "games_wanted": 100 * num_planned,
    "seconds": 75.2,
    "machine": {"cores": 2},
    "versions": {"jax": "0.8.1"},
    "fingerprints": ["ab" * 32] * len(scores),
    "is_finished": num_tests == num_planned,
    "diverged": list(diverged),
  }
  (directory / "run.json").write_text(json.dumps(status))
  return directory


def printed(the_report, width=80):
  console = rich.console.Console(file=io.StringIO(), width=width)
  report.print_to(console, the_report)
  return console.file.getvalue()


def rows_by_column(the_report, key="rows"):
  return {row["column"]: row for row in report.as_json(the_report)[key]}


# Five tests each: the peaks are 50 and 70, the ends (the last two) 45 and 60.
TWO_TRIALS = [[0.1, 0.2, 0.3, 0.5, 0.4], [0.1, 0.7, 0.4, 0.6, 0.6]]


def test_rows_are_as_the_contract_says(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  rows = rows_by_column(report.make([tmp_path / "deep"]))
  assert list(rows) == ["peak", "end"]
  expected = {
    "peak": ((60, np.sqrt(200)), {"mean": 65.9, "sd": 5.0}),
    "end": ((52.5, np.sqrt(112.5)), {"mean": 52.7, "sd": 6.8}),
  }
  for column, ((mean, sd), paper) in expected.items():
    row = rows[column]
    assert (row["table"], row["row"]) == ("II", "deep_structured")
    assert row["ours"] == pytest.approx({"mean": mean, "sd": sd, "n": 2})
    assert row["paper"] == paper
    assert row["difference"] == pytest.approx(mean - paper["mean"])
    assert 0 < row["p"] < 1
    assert row["is_finished"]


def test_runs_are_as_the_contract_says(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  assert report.as_json(report.make([tmp_path]))["runs"] == [
    {
      "directory": "deep",
      "game": "ttt3d",
      "trials": 2,
      "games": [500, 500],
      "games_wanted": 500,
      "seconds": 75.2,
      "machine": {"cores": 2},
      "versions": {"jax": "0.8.1"},
      "fingerprints": ["ab" * 32] * 2,
      "is_finished": True,
      "diverged": [],
    }
  ]


def test_written_files_hold_tables_figures_and_the_same_json(tmp_path):
  write_run(tmp_path / "sweep" / "deep", TWO_TRIALS, paper=DEEP)
  write_run(tmp_path / "sweep" / "wide", TWO_TRIALS[::-1], paper=WIDE)
  the_report = report.make([tmp_path / "sweep"])
  paths = report.write(the_report, tmp_path / "out" / "new")
  names = [path.name for path in paths]
  assert names == [
    "report.md",
    "summary.json",
    "ttt3d_figure_3.png",
    "ttt3d_figure_3.svg",
  ]
  by_name = {path.name: path for path in paths}
  summary = json.loads(by_name["summary.json"].read_text())
  assert summary == report.as_json(the_report)
  page = by_name["report.md"].read_text()
  assert "| Deep structured | 52.5 ± 10.6 | 2 |" in page
  assert "| 52.7 ± 6.8 | -0.2 |" in page
  assert "](ttt3d_figure_3.png)" in page
  assert str(tmp_path) not in page + json.dumps(summary)
  assert by_name["ttt3d_figure_3.png"].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
  root = xml.etree.ElementTree.parse(by_name["ttt3d_figure_3.svg"]).getroot()
  assert root.tag.endswith("svg")


def test_writing_again_changes_no_byte(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  first, second = (
    report.write(report.make([tmp_path / "deep"]), tmp_path / name) for name in "ab"
  )
  for path, other in zip(first, second, strict=True):
    assert path.read_bytes() == other.read_bytes(), path.name


def test_report_that_cannot_be_written_says_so(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS)
  (tmp_path / "file").write_text("in the way")
  with pytest.raises(ValueError, match="cannot write the report into"):
    report.write(report.make([tmp_path / "deep"]), tmp_path / "file")


def test_tables_fit_into_80_columns(tmp_path):
  for number, row in enumerate(papers.load("ttt3d").tables["III"].rows):
    scores = (np.asarray(TWO_TRIALS) + number / 40).tolist()
    paper = {"name": "ttt3d", "table": "III", "row": row}
    write_run(tmp_path / f"benchmark_{row}", scores, paper=paper, num_planned=9)
  lines = printed(report.make([tmp_path])).splitlines()
  assert max(map(len, lines)) <= 80
  # None is wrapped: every label is on a line with its numbers.
  assert sum(line.startswith("Small unstructured* ") for line in lines) == 2
  assert any(line.startswith("5 Wide unstructured ") for line in lines)


def test_pairs_of_rows_are_tested(tmp_path):
  write_run(tmp_path / "deep", [[0.8], [0.9], [0.85]], paper=DEEP)
  write_run(tmp_path / "wide", [[0.1], [0.15], [0.2]], paper=WIDE)
  text = printed(report.make([tmp_path]))
  assert "2 Wide unstructured  <0.001" in text


def test_rows_that_nobody_ran_show_the_papers_numbers_only(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  the_report = report.make([tmp_path])
  assert "31.2 ± 6.2" in printed(the_report)
  assert {row["row"] for row in report.as_json(the_report)["rows"]} == {
    "deep_structured"
  }


def test_two_runs_of_one_row_are_told_apart(tmp_path):
  write_run(tmp_path / "one" / "deep", TWO_TRIALS, paper=DEEP)
  write_run(tmp_path / "two" / "deep", TWO_TRIALS, paper=DEEP)
  the_report = report.make([tmp_path / "one", tmp_path / "two", tmp_path])
  runs = [run["directory"] for run in report.as_json(the_report)["runs"]]
  assert runs == ["one/deep", "two/deep"]
  assert "Deep structured (two/deep)" in printed(the_report, width=120)


def test_unfinished_run_says_how_far_it_is(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP, num_planned=20)
  the_report = report.make([tmp_path])
  rows = rows_by_column(the_report)
  assert not rows["end"]["is_finished"]
  assert rows["end"]["ours"]["mean"] == pytest.approx(52.5)
  text = printed(the_report, width=120)
  assert "Deep structured*" in text
  assert "deep has 5 of 20" in text
  assert "25 %" in text
  report.write(the_report, tmp_path / "out")


def test_run_before_its_first_test_is_reported_and_drawn(tmp_path):
  directory = write_run(tmp_path / "deep", [[], []], paper=DEEP, num_planned=4)
  (directory / "metrics.jsonl").unlink()
  the_report = report.make([directory])
  assert rows_by_column(the_report)["end"]["ours"] == {"mean": None, "sd": None, "n": 0}
  assert "0 of 4" in printed(the_report)
  report.write(the_report, tmp_path / "out")


def test_diverged_trials_are_named_and_left_out(tmp_path):
  scores = [*TWO_TRIALS, [0.9]]
  write_run(tmp_path / "deep", scores, paper=DEEP, diverged=[2])
  the_report = report.make([tmp_path])
  row = rows_by_column(the_report)["peak"]
  assert row["ours"]["n"] == 2
  assert row["ours"]["mean"] == pytest.approx(60)
  text = printed(the_report)
  assert "Deep structured: trial 2 diverged and left out." in text
  assert "deep: trial 2 diverged and stopped." in text
  assert "500" in text


def test_one_trial_has_no_spread_and_no_test(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS[:1], paper=DEEP)
  the_report = report.make([tmp_path])
  row = rows_by_column(the_report)["end"]
  assert row["ours"] == {"mean": pytest.approx(45), "sd": None, "n": 1}
  assert row["p"] is None
  assert row["interval"] is None
  assert "one trial has no spread" in printed(the_report)
  report.write(the_report, tmp_path / "out")


def test_run_without_a_paper_has_a_section_of_its_own(tmp_path):
  write_run(tmp_path / "my run", TWO_TRIALS, game="gomoku")
  the_report = report.make([tmp_path])
  assert report.as_json(the_report)["rows"] == []
  row = rows_by_column(the_report, "plain_rows")["end"]
  assert (row["row"], row["paper"]) == ("my run", None)
  assert row["ours"]["mean"] == pytest.approx(52.5)
  assert "Runs of gomoku" in printed(the_report)
  page, *others = report.write(the_report, tmp_path / "out")
  assert {"curve_my_run.png", "curve_my_run.svg"} < {path.name for path in others}
  assert "](curve_my_run.png)" in page.read_text()


def test_line_cut_off_by_a_crash_is_ignored(tmp_path):
  directory = write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  whole = report.as_json(report.make([directory]))
  with (directory / "metrics.jsonl").open("a") as file:
    file.write('{"test": 6, "trial": 0, "ga')
  assert report.as_json(report.make([directory])) == whole


def test_test_logged_twice_counts_once(tmp_path):
  directory = write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  whole = report.as_json(report.make([directory]))
  path = directory / "metrics.jsonl"
  path.write_text(path.read_text() + path.read_text())
  assert report.as_json(report.make([directory])) == whole


def test_value_that_is_not_a_number_is_no_point_of_the_curve(tmp_path):
  directory = write_run(tmp_path / "deep", [[0.5, float("nan"), 0.7]])
  curve = records.read(directory).curves("score")[0]
  np.testing.assert_array_equal(curve.tests, [1, 3])
  np.testing.assert_array_equal(curve.games, [100, 300])
  assert records.read(directory).curves("loss") == {}


@pytest.mark.parametrize(
  ("name", "text", "message"),
  [
    ("config.yaml", None, "is missing"),
    ("config.yaml", "game: [", "cannot be understood"),
    ("config.yaml", "game: ttt3d\n", "games: Field required"),
    ("run.json", None, "is missing"),
    ("run.json", '{"name": ', "cannot be understood"),
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
  directory = write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  if text is None:
    (directory / name).unlink()
  else:
    (directory / name).write_bytes(text if isinstance(text, bytes) else text.encode())
  with pytest.raises(ValueError, match=message) as caught:
    report.make([tmp_path])
  assert str(directory / name) in str(caught.value)
  assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"name": "ttt3"}, "no paper 'ttt3': did you mean 'ttt3d'"),
    ({"table": "IV"}, "no table 'IV' in ttt3d: .*II, III"),
    ({"row": "deep"}, "no row 'deep' in table II of ttt3d: .*deep_structured"),
  ],
)
def test_paper_that_does_not_exist_is_refused(tmp_path, change, message):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP | change)
  with pytest.raises(ValueError, match=message) as caught:
    report.make([tmp_path])
  assert "config.yaml" in str(caught.value)


def test_directory_without_a_run_is_refused(tmp_path):
  with pytest.raises(ValueError, match="has no run in it"):
    report.make([tmp_path])
  with pytest.raises(ValueError, match="is not a directory"):
    report.make([tmp_path / "nowhere"])


def test_run_may_fill_rows_of_several_tables(tmp_path):
  write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP | {"table": ["II", "III"]})
  rows = report.as_json(report.make([tmp_path]))["rows"]
  assert [row["table"] for row in rows] == ["II", "II", "III", "III"]


@pytest.mark.parametrize("name", papers.names())
def test_paper_is_complete(name):
  paper = papers.load(name)
  assert paper.name == name
  for table in paper.tables.values():
    assert set(table.values) == set(table.rows)


def test_paper_may_have_numbers_without_spread_and_columns_for_one_game():
  column = {"title": "Games", "statistic": "final", "metric": "games", "digits": 0}
  table = papers.Table.model_validate(
    {
      "title": "Training",
      "trials": 100,
      "rows": {"random": "Random"},
      "columns": {"games": column | {"game": "tictactoe"}},
      "values": {"random": {"games": 2_000_000}},
    }
  )
  assert table.value("random", "games") == papers.Value(mean=2e6, sd=None)
  assert table.value("random", "losses") is None


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"values": {"b": {"c": 1}}}, "no row 'b'"),
    ({"values": {"a": {"d": 1}}}, "no column 'd'"),
    ({"values": {"a": {"c": [1, 2, 3]}}}, "a value is"),
    ({"columns": {"c": {"title": "C", "statistic": "peek"}}}, "no statistic 'peek'"),
    ({"caption": "T"}, "Extra inputs"),
  ],
)
def test_paper_with_a_slip_is_refused(change, message):
  good = {
    "title": "T",
    "trials": 2,
    "rows": {"a": "A"},
    "columns": {"c": {"title": "C", "statistic": "peak"}},
    "values": {"a": {"c": 1}},
  }
  papers.Table.model_validate(good)
  with pytest.raises(pydantic.ValidationError, match=message):
    papers.Table.model_validate(good | change)
