import dataclasses
import gzip
import io
import json
import re
import xml.etree.ElementTree

import matplotlib.colors
import matplotlib.figure
import matplotlib.text
import numpy as np
import pydantic
import pytest
import rich.console
import yaml

from train.report import document as report
from train.report import papers
from train.report import runs as records
from train.report import section_tables
from train.report.figures import draw as figures

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


def test_compressed_metrics_are_read(tmp_path):
  directory = write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  whole = report.as_json(report.make([directory]))
  metrics = directory / "metrics.jsonl"
  (directory / "metrics.jsonl.gz").write_bytes(gzip.compress(metrics.read_bytes()))
  metrics.unlink()
  assert report.as_json(report.make([directory])) == whole
  (directory / "metrics.jsonl.gz").write_bytes(b"no")
  with pytest.raises(ValueError, match=r"metrics.jsonl.gz cannot be read"):
    report.make([directory])


def test_test_logged_twice_counts_once(tmp_path):
  directory = write_run(tmp_path / "deep", TWO_TRIALS, paper=DEEP)
  whole = report.as_json(report.make([directory]))
  path = directory / "metrics.jsonl"
  path.write_text(path.read_text() + path.read_text())
  assert report.as_json(report.make([directory])) == whole


def test_value_that_is_not_a_number_is_no_point_of_the_curve(tmp_path):
  directory = write_run(tmp_path / "deep", [[0.5, float("nan"), 0.7]])
  [record] = records.read(directory).records
  curve = record.curves("score")[0]
  np.testing.assert_array_equal(curve.tests, [1, 3])
  np.testing.assert_array_equal(curve.games, [100, 300])
  assert record.curves("loss") == {}


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


# By opponent, trial and test: the share of lost games. A list that ends early is of a
# trial that had nothing left to learn, after half of the games to that test.
LOSS_RATIOS = {
  "attack_defense": [[0.6, 0.1, 0.0], [0.5, 0.0]],
  "random": [[0.4, 0.2, 0.1], [0.3, 0.2, 0.2]],
}


def write_hybrid(directory, ratios=LOSS_RATIOS, *, game="tictactoe", num_tests=3):
  """Writes a run with several opponents, tested after 100, 1,000 and 2,000 games."""
  directory.mkdir(parents=True)
  plan = [100, 1000, 2000]
  trials = [of_trial for of_opponent in ratios.values() for of_trial in of_opponent]
  config = {
    "game": game,
    "opponent": {name: name.replace("_", "-") for name in ratios},
    "trials": len(trials) // len(ratios),
    "games": 2000,
    "test": {"every": 1000, "also_at": [100], "games": 10, "against": "random"},
    "paper": {"name": "hybrid", "table": ["1", "2", "3", "4"]},
  }
  (directory / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
  lines, games, finished = [], [], []
  for trial, of_trial in enumerate(trials):
    for test, ratio in enumerate(of_trial[:num_tests], start=1):
      ends = test == len(of_trial) < len(plan)
      done = plan[test - 1] // (2 if ends else 1)
      lost = 0.0 if trial < 2 else 0.01 * trial
      metrics = {"loss_ratio": ratio, "lost_games": ratio * done, "score": 1 - lost}
      metrics |= {"unbeatable": int(not lost)}
      for player in ("random", "expert"):
        shares = {"wins": 0.5, "draws": 0.5 - lost, "losses": lost}
        metrics |= {f"{player}_{name}": share for name, share in shares.items()}
      lines.append({"test": test, "trial": trial, "games": done} | metrics)
    games.append(done)
    finished += [trial] if ends else []
  text = "".join(json.dumps(line) + "\n" for line in lines)
  (directory / "metrics.jsonl").write_text(text)
  status = {
    "name": directory.name,
    "trials": len(trials),
    "games": games,
    "games_wanted": 2000,
    "seconds": 65.0,
    "machine": {"cores": 2},
    "versions": {"jax": "0.8.1"},
    "fingerprints": [f"{trial:064x}" for trial in range(len(trials))],
    "is_finished": num_tests == len(plan),
    "finished": finished,
  }
  (directory / "run.json").write_text(json.dumps(status))
  return directory


def change_file(path, old, new):
  text = path.read_text()
  assert old in text
  path.write_text(text.replace(old, new))


def drawing_of(the_report, number):
  drawings = [d for section in the_report.sections for d in section.drawings]
  [found] = [d for d in drawings if d.name == f"hybrid_figure_{number}"]
  return found


def draw(drawing):
  """Draws without making files."""
  figure = matplotlib.figure.Figure(layout="constrained")
  figures.KINDS[drawing.plot.kind](figure, drawing, drawing.plot)
  return figure


def words_of(figure):
  return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def test_row_that_only_we_have_is_shown_if_it_was_run(tmp_path):
  write_hybrid(tmp_path / "run")
  assert "Self-play (ours)" not in printed(report.make([tmp_path]))
  write_hybrid(tmp_path / "ours", {"self_play": LOSS_RATIOS["random"]})
  assert "Self-play (ours)" in printed(report.make([tmp_path]))


def test_paper_without_numbers_has_no_columns(tmp_path):
  ours = {"name": "hybrid", "table": "2", "row": "self_play"}
  directory = write_hybrid(tmp_path / "ours", {"self_play": LOSS_RATIOS["random"]})
  config = yaml.safe_load((directory / "config.yaml").read_text())
  config |= {"opponent": "self", "trials": 2, "paper": ours}
  (directory / "config.yaml").write_text(yaml.safe_dump(config))
  (section,) = report.make([directory]).sections
  assert section.has_numbers  # Rows of others, which nobody ran.
  alone = dataclasses.replace(section, entries=section.entries[-1:])
  assert section_tables.of_section(alone).columns == ("", "ours", "95 % interval")
  assert section_tables.of_section(section).columns[-1] == "in?"


def test_opponents_are_rows_of_their_own_and_trials_keep_their_numbers(tmp_path):
  run = records.read(write_hybrid(tmp_path / "run"))
  attack_defense, random = run.records
  assert attack_defense.label == "run/attack_defense"
  assert random.paper.row == "random"
  assert (attack_defense.trials, random.trials) == ([0, 1], [2, 3])
  assert (attack_defense.finished, random.finished) == ([1], [])
  assert run.planned == (100, 1000, 2000)


def test_run_with_several_opponents_is_one_run_in_the_json(tmp_path):
  write_hybrid(tmp_path / "run")
  summary = report.as_json(report.make([tmp_path]))
  [run] = summary["runs"]
  assert run["directory"] == "run"
  assert run["opponents"] == ["attack_defense", "random"]
  assert len(set(run["fingerprints"])) == run["trials"] == 4
  assert (run["games"], run["finished"]) == ([2000, 500, 2000, 2000], [1])
  assert {row["run"] for row in summary["rows"]} == {"run/attack_defense", "run/random"}


def test_finished_trial_is_complete_at_its_last_test(tmp_path):
  write_hybrid(tmp_path / "run")
  rows = report.as_json(report.make([tmp_path]))["rows"]
  [row] = [
    row
    for row in rows
    if (row["row"], row["column"]) == ("attack_defense", "tictactoe_games")
  ]
  assert row["ours"] == pytest.approx({"mean": 1250, "sd": np.sqrt(1125000), "n": 2})
  assert row["is_finished"]
  assert row["paper"] == {"mean": 99100, "sd": None}


def test_row_is_incomplete_while_one_of_its_trials_goes_on(tmp_path):
  write_hybrid(tmp_path / "run", num_tests=2)
  the_report = report.make([tmp_path])
  complete = {
    row["row"]: row["is_finished"] for row in report.as_json(the_report)["rows"]
  }
  assert complete == {"attack_defense": False, "random": False}
  text = printed(the_report)
  assert "run has 2 of 3" in text
  assert "Random* " in text
  assert "1 of 4 trials had nothing left to learn and ended early" in text
  assert "Training goes on." in draw(drawing_of(the_report, 8)).get_supxlabel()


def test_seconds_are_shared_by_games(tmp_path):
  run = records.read(write_hybrid(tmp_path / "run"))
  curves = [curve for r in run.records for curve in r.curves("seconds").values()]
  # Of 6,500 games in 65 seconds.
  assert [curve.values[-1] for curve in curves] == pytest.approx([20, 5, 20, 20])


def test_paper_without_spread_is_inside_our_interval_or_not(tmp_path):
  write_hybrid(tmp_path / "run")
  the_report = report.make([tmp_path])
  rows = {
    (row["row"], row["column"]): row for row in report.as_json(the_report)["rows"]
  }
  perfect = rows["attack_defense", "tictactoe_perfect"]
  assert (perfect["interval"], perfect["paper_in_interval"]) == ([100, 100], True)
  lost = rows["random", "tictactoe_random_losses"]
  assert lost["interval"] == [20000, 30000]
  assert (lost["paper_in_interval"], lost["p"]) == (False, None)
  text = printed(the_report)
  assert re.search(r"^Attack-Defense +100 ± 0 +100 to 100 +100  yes$", text, re.M)
  assert re.search(r"^Random .* 20,000.00 to 30,000.00 +14,400.85   no$", text, re.M)


def test_number_of_trials_is_shown_where_it_differs(tmp_path):
  directory = write_hybrid(tmp_path / "run")
  assert "deviation of 2 trials" in printed(report.make([tmp_path]))
  change_file(directory / "run.json", '"finished"', '"diverged": [3], "finished"')
  text = printed(report.make([tmp_path]))
  assert "deviation of n trials" in text
  assert "Random: trial 3 diverged and left out." in text


def test_other_games_columns_and_figures_are_left_out(tmp_path):
  write_hybrid(tmp_path / "run", game="connect4_4x4")
  the_report = report.make([tmp_path])
  text = printed(the_report)
  assert "Connect-4 on 4x4: games lost, of 4" in text
  assert "Tic-tac-toe" not in text
  names = {d.name for section in the_report.sections for d in section.drawings}
  assert names == {f"hybrid_figure_{number}" for number in range(10, 15)}


def test_games_have_lines_of_their_own_and_all_fit_into_80_columns(tmp_path):
  write_hybrid(tmp_path / "one")
  write_hybrid(tmp_path / "two", {"random": [[0.1] * 3] * 2}, game="connect4_4x4")
  for path in tmp_path.glob("*/metrics.jsonl"):
    path.write_text(path.read_text().replace('"games": 2000', '"games": 1999999'))
    path.write_text(path.read_text().replace('"games": 500', '"games": 200000'))
  lines = printed(report.make([tmp_path])).splitlines()
  assert max(map(len, lines)) <= 80
  start = lines.index("Connect-4 on 4x4: training games")
  assert re.fullmatch(r"Attack-Defense( +\W){2} +949,300 +\W", lines[start + 1])
  assert re.match(r"Random +1,999,999 ± 0 ", lines[start + 2])


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
      "not for gomoku, but for tictac",
    ),
    ("config.yaml", "trials: 2", "trials: 3", "trials is 4, but .* 2 opponents with 3"),
  ],
)
def test_opponents_that_fit_no_row_are_refused(tmp_path, file, old, new, message):
  directory = write_hybrid(tmp_path / "run")
  change_file(directory / file, old, new)
  with pytest.raises(ValueError, match=message) as caught:
    report.make([tmp_path])
  assert str(directory) in str(caught.value)


def test_one_opponent_needs_a_row(tmp_path):
  paper = {"name": "ttt3d", "table": "II"}
  write_run(tmp_path / "deep", TWO_TRIALS, paper=paper)
  with pytest.raises(ValueError, match=r"config.yaml: .*paper.row is missing"):
    report.make([tmp_path])


@pytest.mark.parametrize("number", [4, 5, 8])
def test_every_kind_of_figure_is_drawn_to_the_same_bytes(tmp_path, number):
  write_hybrid(tmp_path / "run")
  drawing = drawing_of(report.make([tmp_path]), number)
  files = figures.draw(drawing)
  assert list(files) == ["png", "svg"]
  assert figures.draw(drawing) == files


def test_zero_is_shown_on_a_logarithmic_axis(tmp_path):
  write_hybrid(tmp_path / "run")
  figure = draw(drawing_of(report.make([tmp_path]), 5))
  [axes] = figure.axes
  assert (axes.get_xscale(), axes.get_yscale()) == ("log", "symlog")
  assert axes.get_ylim()[0] < 0
  line = next(x for x in axes.lines if x.get_label() == "Attack-Defense")
  # In percent; the trial that finished stays at zero.
  np.testing.assert_allclose(line.get_xdata(), [100, 1000, 2000])
  np.testing.assert_allclose(line.get_ydata(), [55, 5, 0])
  assert "Grey: linear down to 0." in figure.get_supxlabel()


def test_axis_without_zero_is_purely_logarithmic(tmp_path):
  write_hybrid(tmp_path / "run", {"random": LOSS_RATIOS["random"]})
  [axes] = draw(drawing_of(report.make([tmp_path]), 5)).axes
  assert axes.get_yscale() == "log"


def test_row_whose_trials_all_ended_stays_as_it_is(tmp_path):
  ratios = LOSS_RATIOS | {"attack_defense": [[0.5, 0.25], [0.5, 0.25]]}
  write_hybrid(tmp_path / "run", ratios)
  figure = draw(drawing_of(report.make([tmp_path]), 7))
  [axes] = figure.axes
  [dotted] = [line for line in axes.lines if line.get_linestyle() == ":"]
  np.testing.assert_allclose(dotted.get_xdata(), [500, 2000])
  np.testing.assert_allclose(dotted.get_ydata(), [125, 125])
  assert "Dotted: all trials have ended." in figure.get_supxlabel()


def test_curve_is_cut_at_the_games_that_are_shown(tmp_path):
  write_hybrid(tmp_path / "run")
  drawing = drawing_of(report.make([tmp_path]), 5)
  plot = drawing.plot.model_copy(update={"games": (550, 1500)})
  [axes] = draw(dataclasses.replace(drawing, plot=plot)).axes
  line = next(x for x in axes.lines if x.get_label() == "Random")
  np.testing.assert_allclose(line.get_xdata(), [550, 1000, 1500])
  np.testing.assert_allclose(line.get_ydata(), [27.5, 20, 17.5])


def test_histograms_have_the_last_value_of_finished_trials(tmp_path):
  write_hybrid(tmp_path / "run")
  drawing = drawing_of(report.make([tmp_path]), 4)
  plot = drawing.plot.model_copy(update={"after": (100, 500, 1000, 2000, 5000)})
  figure = draw(dataclasses.replace(drawing, plot=plot))
  words = words_of(figure)
  titles = [axes.get_title(loc="left") for axes in figure.axes]
  assert titles == ["After 100 games", "After 1,000 games", "After 2,000 games"]
  means = [word for word in words if word.startswith("mean ")]
  assert means == [
    "mean 55.0  (50.0 to 60.0)",
    "mean 5.00  (0 to 10.0)",
    "mean 0  (0 to 0)",
  ]
  assert "No test after 500, 5,000 games." in figure.get_supxlabel()


def test_bars_show_shares_of_any_size_beside_the_papers(tmp_path):
  write_hybrid(tmp_path / "run")
  figure = draw(drawing_of(report.make([tmp_path]), 8))
  assert [axes.get_title(loc="left") for axes in figure.axes] == [
    "Won %",
    "Tied %",
    "Lost %",
  ]
  lost = figure.axes[-1]
  assert [text.get_text() for text in lost.texts] == ["0", "2.50"]
  diamonds = [line.get_xdata()[0] for line in lost.lines if line.get_marker() == "D"]
  assert diamonds == pytest.approx([0, 1.440085])


def test_rows_have_the_same_colour_in_all_figures(tmp_path):
  write_hybrid(tmp_path / "run")
  the_report = report.make([tmp_path])
  [curves] = draw(drawing_of(the_report, 5)).axes
  colours = {line.get_label(): line.get_color() for line in curves.lines}
  bars = draw(drawing_of(the_report, 8)).axes[0].patches
  found = [matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in bars]
  assert found == [colours["Attack-Defense"], colours["Random"]]


@pytest.mark.parametrize("number", [4, 5, 8])
def test_figure_before_the_first_test_says_so(tmp_path, number):
  directory = write_hybrid(tmp_path / "run", num_tests=1)
  (directory / "metrics.jsonl").unlink()
  figure = draw(drawing_of(report.make([directory]), number))
  assert "no test yet" in words_of(figure)


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
    (
      {
        "columns": {
          "c": {"title": "C", "statistic": "peak"},
          "d": {"title": "D", "statistic": "peak", "game": "gomoku"},
        }
      },
      "column 'c' has no game",
    ),
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


CURVES = {"y_label": "Score"}
BARS = {"kind": "bars", "parts": [{"title": "Won", "metric": "wins", "reference": "c"}]}
HISTOGRAMS = {"kind": "histograms", "row": "a", "after": [1, 2], "x_label": "Score"}


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"game": None}, "no game None for figure 1: .*tictactoe"),
    ({"game": "gomoku"}, "no game 'gomoku' for figure 1"),
    ({"table": "2"}, "no table '2' for figure 1"),
    ({"plot": CURVES | {"kind": "pie"}}, r"figures.1.plot\n.*'pie'.*'curve', 'bars'"),
    ({"plot": CURVES | {"logy": True}}, r"plot.curve.logy\n"),
    ({"plot": CURVES | {"reference": "d"}}, "no column 'd' for figure 1"),
    ({"plot": CURVES | {"games": [5, 5]}}, r"plot.curve.games\n.*5 follows 5"),
    ({"plot": BARS | {"parts": []}}, r"plot.bars.parts\n"),
    ({"plot": HISTOGRAMS | {"row": "b"}}, "no row 'b' for figure 1"),
    ({"plot": HISTOGRAMS | {"after": [2, 1]}}, r"histograms.after\n.*1 follows 2"),
  ],
)
def test_figure_with_a_slip_is_refused(change, message):
  column = {"title": "C", "statistic": "peak", "game": "tictactoe"}
  table = {"title": "T", "trials": 2, "rows": {"a": "A"}, "columns": {"c": column}}
  figure = {"title": "F", "table": "1", "game": "tictactoe"}
  paper = {"name": "p", "title": "P", "tables": {"1": table | {"values": {}}}}
  for plot in (CURVES, BARS, HISTOGRAMS):
    good = paper | {"figures": {"1": figure | {"plot": plot}}}
    papers.Paper.model_validate(good)
  slip = paper | {"figures": {"1": figure | {"plot": CURVES} | change}}
  with pytest.raises(pydantic.ValidationError, match=message):
    papers.Paper.model_validate(slip)
