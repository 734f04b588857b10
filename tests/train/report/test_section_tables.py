"""Tables: what they show, and that they fit."""

import dataclasses
import re

import numpy as np
import pytest
import yaml

from tests.support import reports
from train.report import document
from train.report import papers
from train.report import section_tables


def test_tables_fit_into_80_columns(tmp_path):
  for number, row in enumerate(papers.load("ttt3d").tables["III"].rows):
    scores = (np.asarray(reports.TWO_TRIALS) + number / 40).tolist()
    paper = {"name": "ttt3d", "table": "III", "row": row}
    reports.write_run(tmp_path / f"benchmark_{row}", scores, paper=paper, num_planned=9)
  lines = reports.printed(document.make([tmp_path])).splitlines()
  assert max(map(len, lines)) <= 80
  # None is wrapped: every label is on a line with its numbers.
  assert sum(line.startswith("Small unstructured* ") for line in lines) == 2
  assert any(line.startswith("5 Wide unstructured ") for line in lines)


def test_pairs_of_rows_are_tested(tmp_path):
  reports.write_run(tmp_path / "deep", [[0.8], [0.9], [0.85]], paper=reports.DEEP)
  reports.write_run(tmp_path / "wide", [[0.1], [0.15], [0.2]], paper=reports.WIDE)
  text = reports.printed(document.make([tmp_path]))
  assert "2 Wide unstructured  <0.001" in text
  assert "p is corrected for the number of pairs of rows under each heading" in text


def test_p_of_pairs_are_larger_the_more_pairs_there_are(tmp_path):
  scores = {"deep_structured": [0.5, 0.6, 0.7], "wide_unstructured": [0.1, 0.2, 0.3]}
  for row, values in scores.items():
    paper = reports.DEEP | {"row": row}
    reports.write_run(tmp_path / row, [[value] for value in values], paper=paper)
  (two,) = document.make([tmp_path]).sections
  (_, _, alone), *_ = two.comparisons("end")
  paper = reports.DEEP | {"row": "small_structured"}
  reports.write_run(tmp_path / "small", [[0.5], [0.6], [0.75]], paper=paper)
  (three,) = document.make([tmp_path]).sections
  tests = {
    (three.entries[first].row, three.entries[second].row): test.p
    for first, second, test in three.comparisons("end")
  }
  assert len(tests) == 3
  # It is the lowest of three.
  assert tests["deep_structured", "wide_unstructured"] == pytest.approx(3 * alone.p)


def test_unfinished_run_shows_its_progress(tmp_path):
  reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP, num_planned=20
  )
  the_report = document.make([tmp_path])
  rows = reports.rows_by_column(the_report)
  assert not rows["end"]["is_finished"]
  assert rows["end"]["ours"]["mean"] == pytest.approx(52.5)
  text = reports.printed(the_report, width=120)
  assert "Deep structured*" in text
  assert "deep has 5 of 20" in text
  assert "25 %" in text
  document.write(the_report, tmp_path / "out")


def test_diverged_trials_are_named_and_left_out(tmp_path):
  scores = [*reports.TWO_TRIALS, [0.9]]
  reports.write_run(tmp_path / "deep", scores, paper=reports.DEEP, diverged=[2])
  the_report = document.make([tmp_path])
  row = reports.rows_by_column(the_report)["peak"]
  assert row["ours"]["n"] == 2
  assert row["ours"]["mean"] == pytest.approx(60)
  text = reports.printed(the_report)
  assert "Deep structured: without trial 2, which diverged." in text
  assert "deep: trial 2 diverged and stopped." in text
  assert "500" in text


def test_one_trial_has_no_spread_and_no_test(tmp_path):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS[:1], paper=reports.DEEP)
  the_report = document.make([tmp_path])
  row = reports.rows_by_column(the_report)["end"]
  assert row["ours"] == {"mean": pytest.approx(45), "sd": None, "n": 1}
  assert row["p"] is None
  assert row["interval"] is None
  assert "one trial has no spread" in reports.printed(the_report)
  document.write(the_report, tmp_path / "out")


def test_paper_without_numbers_has_no_columns(tmp_path):
  ours = {"name": "hybrid", "table": "2", "row": "self_play"}
  directory = reports.write_hybrid(
    tmp_path / "ours", {"self_play": reports.LOSS_RATIOS["random"]}
  )
  config = yaml.safe_load((directory / "config.yaml").read_text())
  config |= {"opponent": "self", "trials": 2, "paper": ours}
  (directory / "config.yaml").write_text(yaml.safe_dump(config))
  (section,) = document.make([directory]).sections
  assert section.has_numbers  # In rows that were not run.
  alone = dataclasses.replace(section, entries=section.entries[-1:])
  assert section_tables.of_section(alone).columns == ("", "ours", "95 % interval")
  assert section_tables.of_section(section).columns[-1] == "in?"


def test_paper_without_spread_is_inside_our_interval_or_not(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  the_report = document.make([tmp_path])
  rows = {
    (row["row"], row["column"]): row for row in document.as_json(the_report)["rows"]
  }
  perfect = rows["attack_defense", "tictactoe_perfect"]
  assert (perfect["interval"], perfect["paper_in_interval"]) == ([100, 100], True)
  lost = rows["random", "tictactoe_random_losses"]
  assert lost["interval"] == [20000, 30000]
  assert (lost["paper_in_interval"], lost["p"]) == (False, None)
  text = reports.printed(the_report)
  assert re.search(r"^Attack-Defense +100 ± 0 +100 to 100 +100  yes$", text, re.M)
  assert re.search(r"^Random .* 20,000.00 to 30,000.00 +14,400.85   no$", text, re.M)


def test_number_of_trials_is_shown_if_it_varies(tmp_path):
  directory = reports.write_hybrid(tmp_path / "run")
  assert "deviation of 2 trials" in reports.printed(document.make([tmp_path]))
  reports.change_file(
    directory / "run.json", '"finished"', '"diverged": [3], "finished"'
  )
  text = reports.printed(document.make([tmp_path]))
  assert "deviation of n trials" in text
  assert "Random: without trial 3, which diverged." in text


def test_games_have_separate_rows_that_fit_into_80_columns(tmp_path):
  reports.write_hybrid(tmp_path / "one")
  reports.write_hybrid(
    tmp_path / "two", {"random": [[0.1] * 3] * 2}, game="connect4_4x4"
  )
  for path in tmp_path.glob("*/metrics.jsonl"):
    path.write_text(path.read_text().replace('"games": 2000', '"games": 1999999'))
    path.write_text(path.read_text().replace('"games": 500', '"games": 200000'))
  lines = reports.printed(document.make([tmp_path])).splitlines()
  assert max(map(len, lines)) <= 80
  start = lines.index("Connect-4 on 4x4: training games")
  assert re.fullmatch(r"Attack-Defense( +\W){2} +949,300 +\W", lines[start + 1])
  assert re.match(r"Random +1,999,999 ± 0 ", lines[start + 2])
