"""Whole reports: their JSON, their files, runs without a paper."""

import json
import xml.etree.ElementTree

import numpy as np
import pytest

from tests.support import reports
from train.report import document


def test_rows_are_as_the_contract_says(tmp_path):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  rows = reports.rows_by_column(document.make([tmp_path / "deep"]))
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
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  assert document.as_json(document.make([tmp_path]))["runs"] == [
    {
      "directory": "deep",
      "game": "ttt3d",
      "opponents": [],
      "trials": 2,
      "games": [500, 500],
      "games_wanted": 500,
      "seconds": 75.2,
      "machine": {"cores": 2},
      "versions": {"jax": "0.8.1"},
      "fingerprints": ["ab" * 32] * 2,
      "is_finished": True,
      "diverged": [],
      "finished": [],
    }
  ]


def test_written_files_hold_tables_figures_and_the_same_json(tmp_path):
  reports.write_run(tmp_path / "sweep" / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  reports.write_run(
    tmp_path / "sweep" / "wide", reports.TWO_TRIALS[::-1], paper=reports.WIDE
  )
  the_report = document.make([tmp_path / "sweep"])
  paths = document.write(the_report, tmp_path / "out" / "new")
  names = [path.name for path in paths]
  assert names == [
    "report.md",
    "summary.json",
    "ttt3d_figure_3.png",
    "ttt3d_figure_3.svg",
  ]
  by_name = {path.name: path for path in paths}
  summary = json.loads(by_name["summary.json"].read_text())
  assert summary == document.as_json(the_report)
  page = by_name["report.md"].read_text()
  assert "| Deep structured | 52.5 ± 10.6 | 2 |" in page
  assert "| 52.7 ± 6.8 | -0.2 |" in page
  assert "](ttt3d_figure_3.png)" in page
  assert str(tmp_path) not in page + json.dumps(summary)
  assert by_name["ttt3d_figure_3.png"].read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
  root = xml.etree.ElementTree.parse(by_name["ttt3d_figure_3.svg"]).getroot()
  assert root.tag.endswith("svg")


def test_writing_again_changes_no_byte(tmp_path):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  first, second = (
    document.write(document.make([tmp_path / "deep"]), tmp_path / name) for name in "ab"
  )
  for path, other in zip(first, second, strict=True):
    assert path.read_bytes() == other.read_bytes(), path.name


def test_report_that_cannot_be_written_says_so(tmp_path):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS)
  (tmp_path / "file").write_text("in the way")
  with pytest.raises(ValueError, match="cannot write the report into"):
    document.write(document.make([tmp_path / "deep"]), tmp_path / "file")


def test_run_before_its_first_test_is_reported_and_drawn(tmp_path):
  directory = reports.write_run(
    tmp_path / "deep", [[], []], paper=reports.DEEP, num_planned=4
  )
  (directory / "metrics.jsonl").unlink()
  the_report = document.make([directory])
  assert reports.rows_by_column(the_report)["end"]["ours"] == {
    "mean": None,
    "sd": None,
    "n": 0,
  }
  assert "0 of 4" in reports.printed(the_report)
  document.write(the_report, tmp_path / "out")


def test_run_without_a_paper_has_its_own_section(tmp_path):
  reports.write_run(tmp_path / "my run", reports.TWO_TRIALS, game="gomoku")
  the_report = document.make([tmp_path])
  assert document.as_json(the_report)["rows"] == []
  row = reports.rows_by_column(the_report, "plain_rows")["end"]
  assert (row["row"], row["paper"]) == ("my run", None)
  assert row["ours"]["mean"] == pytest.approx(52.5)
  assert "Runs of gomoku" in reports.printed(the_report)
  page, *others = document.write(the_report, tmp_path / "out")
  assert {"curve_my_run.png", "curve_my_run.svg"} < {path.name for path in others}
  assert "](curve_my_run.png)" in page.read_text()


def test_run_with_several_opponents_is_one_run_in_the_json(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  summary = document.as_json(document.make([tmp_path]))
  [run] = summary["runs"]
  assert run["directory"] == "run"
  assert run["opponents"] == ["attack_defense", "random"]
  assert len(set(run["fingerprints"])) == run["trials"] == 4
  assert (run["games"], run["finished"]) == ([2000, 500, 2000, 2000], [1])
  assert {row["run"] for row in summary["rows"]} == {"run/attack_defense", "run/random"}
