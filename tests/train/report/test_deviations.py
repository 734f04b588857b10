"""Rows that were made otherwise than the paper's are marked, and not tested against it."""

import pydantic
import pytest
import yaml

from tests.support import reports
from train import config as config_lib
from train.report import document
from train.report import papers
from train.report import runs as runs_lib


def write(directory, config, num_trials, *, num_planned=None):
  """Writes a run of a config, as if all of its games were played."""
  scores = [[0.1 + 0.01 * trial] for trial in range(num_trials)]
  run = reports.write_run(
    directory, scores, paper=config["paper"], num_planned=num_planned
  )
  (run / "config.yaml").write_text(yaml.safe_dump(config))
  status = f'"games_wanted": {100 * (num_planned or 1)}'
  games = config["games"]
  reports.change_file(run / "run.json", status, f'"games_wanted": {games}')
  return run


def paper_config(*overrides):
  found = config_lib.read("ttt3d/selfplay_deep_structured", overrides)
  return config_lib.to_mapping(found.config)


def row_of(report):
  rows = [row for row in document.as_json(report)["rows"] if row["column"] == "end"]
  return rows[0]


def test_a_row_made_as_the_papers_is_tested_against_it(tmp_path):
  write(tmp_path / "run", paper_config(), 10)
  report = document.make([tmp_path])
  row = row_of(report)
  assert row["deviations"] == []
  assert row["p"] is not None
  assert "†" not in reports.printed(report)


@pytest.mark.parametrize(
  ("override", "deviation"),
  [
    ("games=40000", "games is 40,000, not at least 1,000,000"),
    ("parallel_games=1024", "parallel_games is 1,024, not at most 16"),
    ("learner.epsilon=0.2", "learner.epsilon is 0.2, not 0.1"),
    ("learner.network.hidden=[8]", "learner.network.hidden is [8], not [32]"),
    ("learner.optimizer=adam", "learner.optimizer is adam, not sgd"),
    ("opponent=benchmark", "opponent is benchmark, not self"),
    ("test.against=random", "test.against is random, not benchmark or"),
  ],
)
def test_another_setting_is_marked_everywhere_and_has_no_p(
  tmp_path, override, deviation
):
  write(tmp_path / "run", paper_config(override), 10)
  report = document.make([tmp_path])
  row = row_of(report)
  [found] = row["deviations"]
  assert found.startswith(deviation)
  assert row["p"] is None
  assert row["difference"] is not None
  assert row["paper"]["mean"] == 52.7
  path = document.write(report, tmp_path / "out")[0]
  for text in (reports.printed(report, width=300), path.read_text()):
    assert "Deep structured†" in text
    assert "† Not made as the paper's row, so not tested against it." in text
    assert deviation in text.replace("\\", "")


def test_fewer_trials_are_marked_and_more_are_not(tmp_path):
  for number in (4, 12):
    write(tmp_path / str(number) / "run", paper_config(f"trials={number}"), number)
  few, many = (row_of(document.make([tmp_path / str(n)])) for n in (4, 12))
  assert (few["deviations"], few["p"]) == (["4 of 10 trials"], None)
  assert many["deviations"] == []
  assert many["p"] is not None


def test_an_unfinished_run_has_the_games_that_it_has(tmp_path):
  write(tmp_path / "run", paper_config(), 10, num_planned=100)
  row = row_of(document.make([tmp_path]))
  assert row["deviations"] == ["games is 100, not at least 1,000,000"]
  assert row["p"] is None


def test_a_reading_that_deviates_is_ranked_but_not_tested(tmp_path):
  config = paper_config("trials=2")
  config["paper"]["reading"] = "short"
  write(tmp_path / "run", config, 2)
  report = document.make([tmp_path])
  [reading] = document.as_json(report)["readings"]
  assert reading["tested"] == 0
  assert reading["distance"] > 0
  text = reports.printed(report, width=200)
  assert "short†" in text
  assert "All rows: 2 of 10 trials" in text or "short: 2 of 10 trials" in text


@pytest.mark.parametrize(
  ("paper", "name"),
  [
    ("ttt3d", "ttt3d/table2"),
    ("ttt3d", "ttt3d/table3"),
    ("hybrid", "hybrid/all"),
    ("dqn", "dqn/all"),
    ("qlearn", "qlearn/sweep"),
  ],
)
def test_the_configs_of_a_paper_are_made_as_its_rows(paper, name):
  runs = config_lib.read_sweep(name, [])
  assert runs
  for run_name, unchecked in runs:
    values = config_lib.to_mapping(unchecked.config)
    for reference in runs_lib.read_references(values):
      assert reference.name == paper
      for number in reference.tables:
        table = papers.load(paper).tables[number]
        if not table.values.get(reference.row):
          continue
        for setting, wanted in table.made_with(reference.row).items():
          value = values
          for part in setting.split("."):
            value = value[part]
          if setting == "opponent" and isinstance(value, dict):
            value = value[reference.row]
          assert wanted.allows(value), (run_name, setting, value)


@pytest.mark.parametrize("name", papers.names())
def test_a_paper_says_what_rows_with_numbers_were_made_with(name):
  for table in papers.load(name).tables.values():
    for row, values in table.values.items():
      if values:
        assert {"games", "learner.kind"} <= set(table.made_with(row))


def test_settings_of_a_paper_are_values_or_bounds():
  assert papers.Setting.model_validate(0.1).allows(0.1)
  assert not papers.Setting.model_validate({"at_least": 5}).allows(None)
  between = papers.Setting.model_validate({"at_least": 5, "at_most": 7000})
  assert [between.allows(n) for n in (4, 5, 7000, 7001)] == [False, True, True, False]
  assert between.as_text() == "at least 5 and at most 7,000"
  with pytest.raises(pydantic.ValidationError, match="Extra inputs"):
    papers.Setting.model_validate({"atleast": 5})
