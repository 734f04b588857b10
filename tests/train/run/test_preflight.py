"""Runs that would fail late are refused before the first one trains."""

import pathlib

import pytest

from train import config as config_lib
from train.report import references
from train.run import preflight


def read(*overrides: str) -> config_lib.Unchecked:
  return config_lib.read("qlearn/best", ["test.also_at=[]", *overrides])


def test_the_metrics_of_a_run_are_known_before():
  config = read("test.also_against={strong: attack}", "test.exact=[random]").config
  names = preflight.check(config)
  assert {"score", "strong_wins", "random_losses", "unbeatable"} <= names


def test_columns_that_a_run_cannot_fill_are_refused():
  run = read("paper={name: dqn, table: '5', row: masked_random}")
  references.check(run)
  with pytest.raises(ValueError, match="which these runs do not have") as caught:
    references.check_metrics(run, preflight.check(run.config))
  assert "column 'wins' of table 5 shows 'evaluation_wins'" in str(caught.value)


def test_agents_that_exact_tests_cannot_examine_are_refused():
  run = config_lib.read(
    "quickstart", ["game=tictactoe", "test.against=random", "test.exact=[random]"]
  )
  with pytest.raises(ValueError, match="cannot be tested exactly"):
    preflight.check(run.config)


def test_an_agent_that_is_not_there_is_refused():
  run = read("opponent=self", "test.against=guided:player=nowhere/run")
  with pytest.raises(ValueError, match="no agent 'nowhere/run'"):
    preflight.check(run.config)


def test_an_agent_that_an_earlier_run_makes_is_waited_for():
  config = read("test.against=guided:player=(out/sweep/one@1)").config
  assert preflight.needs_run_of(config, [pathlib.Path("out/sweep/one")])
  assert not preflight.needs_run_of(config, [pathlib.Path("out/sweep/two")])
