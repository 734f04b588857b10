"""Configs that older versions saved are read under the present names of settings."""

import pathlib

import pytest
import yaml

from tests.support import paths
from train import config as config_lib
from train.config import migrations
from train.learners import registry

SAVED = sorted((paths.ROOT / "results").rglob("config.yaml"))


def test_every_config_in_results_loads():
  assert len(SAVED) > 50
  kinds = {config_lib.load_saved(file).learner.kind for file in SAVED}
  assert kinds == {"td", "tabular", "qlearning", "dqn", "adp"}


def test_renamed_settings_and_values_keep_their_meaning():
  learner = {
    "kind": "td",
    "network": {"straight": True, "sharing": "none", "crossings": 0},
    "exploration_teaches": "nothing",
    "teaches_terminal": False,
  }
  assert migrations.migrate({"game": "ttt3d", "learner": learner}) == {
    "game": "ttt3d",
    "learner": {
      "kind": "td",
      "network": {"linear_output_gradient": True},
      "exploration_target": "none",
      "updates_terminal": False,
    },
  }


def test_renamed_players_are_found_wherever_they_are_named():
  values = {
    "opponent": {"a": "ahead:player=random", "b": "random"},
    "test": {"against": "sometimes:player=(ahead:width=2),other=random"},
    "paper": {"row": "ahead:"},
  }
  assert migrations.migrate(values) == {
    "opponent": {"a": "lookahead:player=random", "b": "random"},
    "test": {"against": "sometimes:player=(lookahead:width=2),other=random"},
    "paper": {"row": "ahead:"},
  }


def test_a_removed_setting_that_had_an_effect_is_refused(tmp_path):
  saved = yaml.safe_load(SAVED[-1].read_text())
  assert saved["learner"]["kind"] == "td"
  saved["learner"]["network"]["crossings"] = 8
  file = tmp_path / "config.yaml"
  file.write_text(yaml.safe_dump(saved))
  with pytest.raises(ValueError, match=r"no field learner\.network\.crossings"):
    config_lib.load_saved(file)


@pytest.mark.parametrize(
  ("kind", "old", "new"),
  [
    (kind, old, new)
    for kind, names in migrations.RENAMED.items()
    for old, new in names.items()
  ],
)
def test_a_person_who_writes_an_old_name_is_shown_the_new_one(kind, old, new, tmp_path):
  file: pathlib.Path = tmp_path / "config.yaml"
  test = {"every": 10, "games": 10, "against": "random"}
  values = {"game": "tictactoe", "learner": {"kind": kind}, "games": 10, "test": test}
  file.write_text(yaml.safe_dump(values))
  with pytest.raises(ValueError, match=rf"{old}: it is now called learner\.{new}$"):
    config_lib.load(file, [f"learner.{old}=1"])


def test_every_present_name_exists():
  for kind, names in migrations.RENAMED.items():
    for new in names.values():
      model = registry.KINDS[kind].settings
      *outer, last = new.split(".")
      for part in outer:
        model = model.model_fields[part].annotation
      assert last in model.model_fields
