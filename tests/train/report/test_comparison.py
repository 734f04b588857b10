"""Runs compared with the rows of papers' tables."""

import numpy as np
import pytest

from tests.support import reports
from train.report import document


def test_rows_that_were_not_run_show_only_the_papers_numbers(tmp_path):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  the_report = document.make([tmp_path])
  assert "31.2 ± 6.2" in reports.printed(the_report)
  assert {row["row"] for row in document.as_json(the_report)["rows"]} == {
    "deep_structured"
  }


def test_two_runs_of_one_row_have_different_labels(tmp_path):
  reports.write_run(tmp_path / "one" / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  reports.write_run(tmp_path / "two" / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  the_report = document.make([tmp_path / "one", tmp_path / "two", tmp_path])
  runs = [run["directory"] for run in document.as_json(the_report)["runs"]]
  assert runs == ["one/deep", "two/deep"]
  assert "Deep structured (two/deep)" in reports.printed(the_report, width=120)


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"name": "ttt3"}, "no paper 'ttt3': did you mean 'ttt3d'"),
    ({"table": "IV"}, "no table 'IV' in ttt3d: .*II, III"),
    ({"row": "deep"}, "no row 'deep' in table II of ttt3d: .*deep_structured"),
  ],
)
def test_paper_that_does_not_exist_is_refused(tmp_path, change, message):
  reports.write_run(tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP | change)
  with pytest.raises(ValueError, match=message) as caught:
    document.make([tmp_path])
  assert "config.yaml" in str(caught.value)


def test_run_may_fill_rows_of_several_tables(tmp_path):
  reports.write_run(
    tmp_path / "deep", reports.TWO_TRIALS, paper=reports.DEEP | {"table": ["II", "III"]}
  )
  rows = document.as_json(document.make([tmp_path]))["rows"]
  assert [row["table"] for row in rows] == ["II", "II", "III", "III"]


def test_row_that_only_we_have_is_shown_if_it_was_run(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  assert "Self-play (ours)" not in reports.printed(document.make([tmp_path]))
  reports.write_hybrid(tmp_path / "ours", {"self_play": reports.LOSS_RATIOS["random"]})
  assert "Self-play (ours)" in reports.printed(document.make([tmp_path]))


def test_finished_trial_is_complete_at_its_last_test(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  rows = document.as_json(document.make([tmp_path]))["rows"]
  [row] = [
    row
    for row in rows
    if (row["row"], row["column"]) == ("attack_defense", "tictactoe_games")
  ]
  assert row["ours"] == pytest.approx({"mean": 1250, "sd": np.sqrt(1125000), "n": 2})
  assert row["is_finished"]
  assert row["paper"] == {"mean": 99100, "sd": None}


def test_row_is_incomplete_while_one_of_its_trials_is_active(tmp_path):
  reports.write_hybrid(tmp_path / "run", num_tests=2)
  the_report = document.make([tmp_path])
  complete = {
    row["row"]: row["is_finished"] for row in document.as_json(the_report)["rows"]
  }
  assert complete == {"attack_defense": False, "random": False}
  text = reports.printed(the_report)
  assert "run has 2 of 3" in text
  assert "Random* " in text
  assert "1 of 4 trials had nothing left to learn and ended early" in text
  assert (
    "Training is unfinished."
    in reports.draw(reports.drawing_of(the_report, 8)).get_supxlabel()
  )


def test_other_games_columns_and_figures_are_left_out(tmp_path):
  reports.write_hybrid(tmp_path / "run", game="connect4_4x4")
  the_report = document.make([tmp_path])
  text = reports.printed(the_report)
  assert "Connect-4 on 4x4: games lost, of 4" in text
  assert "Tic-tac-toe" not in text
  names = {d.name for section in the_report.sections for d in section.drawings}
  assert names == {f"hybrid_figure_{number}" for number in range(10, 15)}


@pytest.mark.parametrize(
  ("file", "old", "new", "message"),
  [
    (
      "config.yaml",
      "name: hybrid",
      "name: hybrid\n  row: random",
      "paper.row is 'random'",
    ),
    ("config.yaml", "random: random", "rando: random", "no row 'rando'"),
    (
      "config.yaml",
      "game: tictactoe",
      "game: gomoku",
      "is for tictactoe, connect4_4x4, not for gomoku",
    ),
    (
      "config.yaml",
      "trials: 2",
      "trials: 3",
      "trials is 4, but .* 2 opponents with 3 trials",
    ),
  ],
)
def test_opponents_that_fit_no_row_are_refused(tmp_path, file, old, new, message):
  directory = reports.write_hybrid(tmp_path / "run")
  reports.change_file(directory / file, old, new)
  with pytest.raises(ValueError, match=message) as caught:
    document.make([tmp_path])
  assert str(directory) in str(caught.value)
