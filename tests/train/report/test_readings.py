"""Readings of a paper: sweeps over them, and their ranking."""

import json
import math
import re

import pytest
import rich.console
import yaml

from tests.support import reports
from tests.support import toy_learner
from train import config as config_lib
from train.report import document
from train.report import figures
from train.run import sweep

BASE = """
game: tictactoe
learner: {kind: toy, size: 4}
trials: 2
games: 100
parallel_games: 4
test: {every: 50, games: 6, against: random, also_against: {random: random}}
paper: {name: hybrid, table: "3", row: random}
"""

READINGS = """
name: readings
runs: [a.yaml, b.yaml]
overrides: {trials: 3, learner.rate: 0.2, seed: 7}
readings:
  literal:
  fast-1: {learner.rate: 0.9, seed: 8}
"""


@pytest.fixture(autouse=True)
def _toy():
  with toy_learner.registered():
    yield


def write_files(directory, **texts):
  for name, text in {"a": BASE, "b": "extends: a.yaml\ntrials: 9", **texts}.items():
    (directory / f"{name}.yaml").write_text(text)
  return directory


def write_reading(
  directory, reading, *, row="deep_structured", table="II", score, **kw
):
  """Writes a run of two trials; peak and end are both `score` percent on average."""
  paper = {"name": "ttt3d", "table": table, "row": row, "reading": reading}
  scores = [[(score - 1) / 100] * 5, [(score + 1) / 100] * 5]
  return reports.write_run(directory, scores, paper=paper, **kw)


def readings_of(the_report):
  return {
    reading["reading"]: reading for reading in document.as_json(the_report)["readings"]
  }


def draw(the_report):
  [ranking] = the_report.rankings
  return reports.draw(ranking.drawing)


def test_every_run_is_made_in_each_reading(tmp_path):
  path = write_files(tmp_path, s=READINGS) / "s.yaml"
  loaded = config_lib.load_sweep(path)
  names = [name for name, _ in loaded]
  assert names == ["literal/a", "literal/b", "fast-1/a", "fast-1/b"]
  assert [config.paper["reading"] for _, config in loaded] == [
    name.split("/")[0] for name in names
  ]
  assert all(config.paper["row"] == "random" for _, config in loaded)


def test_the_command_line_overrides_readings_which_override_the_sweep(tmp_path):
  path = write_files(tmp_path, s=READINGS) / "s.yaml"
  configs = dict(config_lib.load_sweep(path, ["seed=9"]))
  assert {config.trials for config in configs.values()} == {3}
  assert {config.seed for config in configs.values()} == {9}
  assert configs["literal/b"].learner.settings.rate == 0.2
  assert configs["fast-1/b"].learner.settings.rate == 0.9
  assert dict(config_lib.load_sweep(path))["fast-1/a"].seed == 8


def test_a_reading_is_kept_in_the_config_of_a_run(tmp_path):
  path = write_files(tmp_path, s=READINGS) / "s.yaml"
  for _, config in config_lib.load_sweep(path):
    (tmp_path / "again.yaml").write_text(config_lib.dump(config))
    assert config_lib.load(tmp_path / "again.yaml") == config


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("readings: [x]", r"s.yaml: readings is \['x'\], but must be names with overrides"),
    ("readings: {}", "s.yaml: readings is {}, but must be names"),
    ("readings:", "s.yaml: readings is None, but must be names"),
    ("readings: {a/b: {}}", "s.yaml: the name 'a/b' of a reading must be text of let"),
    ("readings: {no: {}}", "s.yaml: the name False of a reading must be text"),
    ("readings: {x: 3}", "s.yaml: readings x is 3, but must be fields with values"),
    ("reading: {x: {}}", "no field reading in a sweep: did you mean 'readings'"),
    ("readings: {x: {test.every: 0}}", "s.yaml, readings x: test.every is 0"),
    ("readings: {x: {test: {evry: 1}}}", "s.yaml, readings x: there is no field test"),
    ("overrides: {paper: }\nreadings: {x: {}}", "paper is None in .*a.yaml"),
  ],
)
def test_mistakes_in_readings_are_explained(tmp_path, text, message):
  path = write_files(tmp_path, s=f"runs: [a.yaml]\n{text}") / "s.yaml"
  with pytest.raises(ValueError, match=message) as caught:
    config_lib.load_sweep(path)
  assert "\n" not in str(caught.value)


def test_a_field_missing_in_the_run_is_an_error_of_the_run(tmp_path):
  bad = BASE.replace("every: 50, ", "")
  text = "runs: [c.yaml]\nreadings: {x: {test.games: 8}}"
  path = write_files(tmp_path, c=bad, s=text) / "s.yaml"
  with pytest.raises(ValueError, match=r"/c.yaml: the field test.every is missing"):
    config_lib.load_sweep(path)


def test_distance_is_the_root_of_the_mean_squared_difference(tmp_path):
  # The paper has 65.9 and 52.7, and 98.7 and 97.3.
  write_reading(tmp_path / "x/self", "x", score=60)
  write_reading(tmp_path / "x/bench", "x", table="III", score=97)
  [found] = document.as_json(document.make([tmp_path]))["readings"]
  # 5.9 and 7.3 squared are 34.81 and 53.29; 1.7 and 0.3 squared 2.89 and 0.09.
  assert found["distance"] == pytest.approx(math.sqrt(91.08 / 4))
  assert found["by_table"] == pytest.approx(
    {"II": math.sqrt(88.1 / 2), "III": math.sqrt(2.98 / 2)}
  )
  assert (found["paper_name"], found["numbers"]) == ("ttt3d", 4)
  assert found["is_finished"]


def test_numbers_agree_where_the_difference_is_not_significant(tmp_path):
  # 98.7 ± 0.3 and 97.3 ± 0.8 of ten trials, compared with 97.3 ± 1.4 of two, then 80 ± 1.4.
  write_reading(tmp_path / "near", "near", table="III", score=97.3)
  write_reading(tmp_path / "far", "far", table="III", score=80)
  found = readings_of(document.make([tmp_path]))
  assert (found["near"]["agreeing"], found["near"]["tested"]) == (2, 2)
  assert (found["far"]["agreeing"], found["far"]["tested"]) == (0, 2)


def test_one_trial_has_a_distance_but_no_test(tmp_path):
  paper = reports.DEEP | {"reading": "x"}
  reports.write_run(tmp_path / "x", [[0.6] * 5], paper=paper)
  the_report = document.make([tmp_path])
  found = readings_of(the_report)["x"]
  assert (found["numbers"], found["tested"], found["agreeing"]) == (2, 0, 0)
  assert found["distance"] == pytest.approx(math.sqrt((5.9**2 + 7.3**2) / 2))


def test_the_nearest_reading_is_first_and_one_without_numbers_last(tmp_path):
  write_reading(tmp_path / "a/run", "far", score=10)
  empty = write_reading(tmp_path / "b/run", "empty", score=50, num_planned=9)
  (empty / "metrics.jsonl").unlink()
  write_reading(tmp_path / "c/run", "near", score=59)
  the_report = document.make([tmp_path])
  assert list(readings_of(the_report)) == ["near", "far", "empty"]
  found = readings_of(the_report)["empty"]
  assert (found["distance"], found["by_table"]) == (None, {"II": None})
  assert not found["is_finished"]
  json.dumps(document.as_json(the_report), allow_nan=False)
  labels = [label.get_text() for label in draw(the_report).axes[0].get_yticklabels()]
  assert labels == ["near (6.61)", "far (49.7)", "empty (no test yet)"]


def test_runs_in_readings_are_in_no_table_of_the_paper(tmp_path):
  write_reading(tmp_path / "x/deep", "x", score=60)
  assert document.make([tmp_path]).sections == ()
  reports.write_run(tmp_path / "plain", reports.TWO_TRIALS, paper=reports.DEEP)
  the_report = document.make([tmp_path])
  [section] = the_report.sections
  assert [e.record.label for e in section.entries if e.record] == ["plain"]
  rows = document.as_json(the_report)["rows"]
  assert [(row["run"], row["reading"]) for row in rows] == [
    ("plain", None),
    ("plain", None),
    ("deep", "x"),
    ("deep", "x"),
  ]
  assert {frozenset(row) for row in rows} == {frozenset(rows[0])}


def test_a_note_warns_if_readings_have_different_numbers(tmp_path):
  for reading in "xy":
    write_reading(tmp_path / reading / "deep", reading, score=60)
  said = "distances are comparable only between those that do"
  assert said not in " ".join(reports.printed(document.make([tmp_path])).split())
  write_reading(tmp_path / "y/bench", "y", table="III", score=97)
  the_report = document.make([tmp_path])
  text = " ".join(reports.printed(the_report, width=100).split())
  assert said in text
  assert "table II table III numbers" in text
  assert "x 6.64 6.64 – 2 " in text  # noqa: RUF001
  assert "Not all have the same numbers." in draw(the_report).get_supxlabel()


def test_unfinished_readings_are_marked(tmp_path):
  write_reading(tmp_path / "x/deep", "x", score=60, num_planned=20)
  write_reading(tmp_path / "y/deep", "y", score=59)
  the_report = document.make([tmp_path])
  found = readings_of(the_report)
  assert (found["x"]["is_finished"], found["y"]["is_finished"]) == (False, True)
  lines = reports.printed(the_report, width=100).splitlines()
  assert sum(line.startswith("x* ") for line in lines) == 2
  assert sum(line.startswith("y ") for line in lines) == 2
  assert any("numbers will change: x/deep has 5 of 20" in line for line in lines)
  assert "* Training is unfinished." in draw(the_report).get_supxlabel()


def test_diverged_trials_are_named_and_left_out(tmp_path):
  paper = reports.DEEP | {"reading": "x"}
  scores = [*reports.TWO_TRIALS, [0.9]]
  reports.write_run(tmp_path / "x", scores, paper=paper, diverged=[2])
  text = reports.printed(document.make([tmp_path]), width=100)
  assert "x, Table II, Deep structured: without trial 2, which diverged." in text


def test_the_paper_is_the_first_line_of_each_group(tmp_path):
  write_reading(tmp_path / "x/deep", "x", score=60)
  write_reading(tmp_path / "y/deep", "y", score=40)
  lines = reports.printed(document.make([tmp_path])).splitlines()
  start = lines.index("Table II, Deep structured")
  names = [re.split("  +", line)[0] for line in lines[start + 1 : start + 4]]
  assert names == ["the paper", "x", "y"]
  assert "65.9 ± 5.0  52.7 ± 6.8" in lines[start + 1]
  assert "60.0 ± 1.4  60.0 ± 1.4" in lines[start + 2]


def test_runs_of_a_reading_may_be_in_several_sweeps(tmp_path):
  write_reading(tmp_path / "one/x/deep", "x", score=60)
  write_reading(tmp_path / "two/x/bench", "x", table="III", score=97)
  assert readings_of(document.make([tmp_path]))["x"]["numbers"] == 4


def test_the_same_reading_in_two_sweeps_has_two_names(tmp_path):
  write_reading(tmp_path / "one/x/deep", "x", score=40)
  write_reading(tmp_path / "two/x/deep", "x", score=60)
  summary = document.as_json(document.make([tmp_path]))
  names = [reading["reading"] for reading in summary["readings"]]
  assert names == ["x (two/x)", "x (one/x)"]
  assert {row["reading"] for row in summary["rows"]} == set(names)
  write_reading(tmp_path / "two/x/again", "x", score=60)
  with pytest.raises(
    ValueError, match=r"'x' has more than one run .*: again, two/x/deep"
  ):
    document.make([tmp_path])


def test_readings_of_several_games_are_kept_apart(tmp_path):
  for game in ("tictactoe", "connect4_4x4"):
    directory = reports.write_hybrid(tmp_path / game, game=game)
    config = yaml.safe_load((directory / "config.yaml").read_text())
    config["paper"]["reading"] = "x"
    (directory / "config.yaml").write_text(yaml.safe_dump(config))
  the_report = document.make([tmp_path])
  text = reports.printed(the_report, width=100)
  assert "Table 1, Random, connect4_4x4" in text
  assert "in the tables' units." in " ".join(text.split())
  assert figures.draw(the_report.rankings[0].drawing).keys() == {"png", "svg"}


def test_a_reading_of_an_unknown_row_is_refused(tmp_path):
  write_reading(tmp_path / "x", "x", row="deep", score=60)
  with pytest.raises(ValueError, match=r"x/config.yaml: paper: no row 'deep'"):
    document.make([tmp_path])


def test_written_files_have_the_ranking_and_its_figure(tmp_path):
  for reading, score in (("x", 40), ("y", 60)):
    write_reading(tmp_path / "in" / reading / "deep", reading, score=score)
  the_report = document.make([tmp_path / "in"])
  paths = {path.name: path for path in document.write(the_report, tmp_path / "out")}
  assert set(paths) == {
    "report.md",
    "summary.json",
    "ttt3d_readings.png",
    "ttt3d_readings.svg",
  }
  page = paths["report.md"].read_text()
  assert "### Readings, nearest first\n" in page
  assert "| y | 6.64 | 6.64 | 2 |" in page
  assert "](ttt3d_readings.png)](ttt3d_readings.svg)" in page
  assert json.loads(paths["summary.json"].read_text()) == document.as_json(the_report)
  assert figures.draw(the_report.rankings[0].drawing) == {
    "png": paths["ttt3d_readings.png"].read_bytes(),
    "svg": paths["ttt3d_readings.svg"].read_bytes(),
  }


def test_dots_are_where_the_differences_are(tmp_path):
  write_reading(tmp_path / "x/deep", "x", score=40)
  write_reading(tmp_path / "y/deep", "y", score=60)
  [axes] = draw(document.make([tmp_path])).axes
  dots = [line for line in axes.lines if line.get_marker() == "o"]
  places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in dots]
  assert places == [
    pytest.approx(place) for place in [(-5.9, 0), (7.3, 0), (-25.9, 1), (-12.7, 1)]
  ]
  assert [line.get_markerfacecolor() == "white" for line in dots] == [True, False] * 2
  assert axes.get_ylim() == (1.5, -0.5)


def test_figure_before_the_first_test_says_so(tmp_path):
  directory = write_reading(tmp_path / "x", "x", score=60, num_planned=9)
  (directory / "metrics.jsonl").unlink()
  figure = draw(document.make([tmp_path]))
  assert "no test yet" in reports.words_of(figure)


def test_fourteen_readings_with_long_names_fit_into_100_columns(tmp_path):
  for number in range(14):
    name = f"a_reading_of_some_length_{number}"
    for table in ("II", "III"):
      write_reading(tmp_path / name / table, name, table=table, score=50 + number)
  lines = reports.printed(document.make([tmp_path]), width=100).splitlines()
  assert max(map(len, lines)) <= 100
  # None is wrapped: every name is on a line with its numbers.
  assert sum(line.startswith("a_reading_of_some_length_13 ") for line in lines) == 3


def test_a_sweep_over_readings_is_run_resumed_and_ranked(tmp_path, console):
  text = "runs: [a.yaml]\nreadings: {one: , two: {seed: 1}}"
  path = write_files(tmp_path, s=text) / "s.yaml"
  runs = config_lib.load_sweep(path)
  assert sweep.run(runs, tmp_path / "out", console).is_finished
  files = sorted((tmp_path / "out").glob("*/a/run.json"))
  assert [file.parent.parent.name for file in files] == ["one", "two"]
  before = [file.stat().st_mtime_ns for file in files]
  assert sweep.run(runs, tmp_path / "out", rich.console.Console(quiet=True)).is_finished
  assert [file.stat().st_mtime_ns for file in files] == before
  the_report = document.make([tmp_path / "out"])
  assert sorted(run.label for run in the_report.runs) == ["one/a", "two/a"]
  found = readings_of(the_report)
  assert set(found) == {"one", "two"}
  assert all(of["numbers"] == 1 and of["is_finished"] for of in found.values())
