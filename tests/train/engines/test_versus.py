"""Matches on the command line, with our engine and others."""

import json
import os
import shlex
import sys

import pytest
import typer.testing

from train import cli


def engine(*arguments):
  return "engine:" + shlex.join([sys.executable, "-m", "train", "brain", *arguments])


def match(*arguments):
  result = typer.testing.CliRunner().invoke(cli.app, ["match", *arguments])
  assert result.exit_code == 0, result.output
  return result


def test_our_engine_plays_in_a_match():
  arguments = ("gomoku", engine("attack-defense"), "random", "--games", "2")
  result = json.loads(match(*arguments, "--json").stdout)
  assert result["forfeits"] == []
  assert result["wins"] + result["draws"] + result["losses"] == 2
  assert result["wins"] == 2


def test_our_engine_plays_itself_and_the_games_are_recorded(tmp_path):
  record = tmp_path / "games.txt"
  both = engine("attack"), engine("defense", "--seed", "5")
  arguments = ("gomoku:size=7", *both, "--games", "2", "--record", str(record))
  shown = match(*arguments).stdout
  assert "moving second" in shown
  assert "forfeits" not in shown
  for line in record.read_text().splitlines():
    moves = line.split(": ")[2].split()
    assert len(moves) == len(set(moves)) >= 9


def test_forfeits_are_in_the_table_and_in_the_json():
  silent = "engine:" + shlex.join(
    [sys.executable, "-S", "-c", "print(input() and 'OK', flush=True); input()"]
  )
  arguments = ("gomoku:size=5", "random", silent, "--games", "1", "--turn-seconds", "5")
  shown = match(*arguments).stdout
  assert "game 0: B forfeits: it exited with code 0" in shown
  result = json.loads(match(*arguments, "--json").stdout)
  assert result["wins"] == 1
  assert result["forfeits"] == [
    {"game": 0, "player": "B", "reason": "it exited with code 0"}
  ]


@pytest.mark.parametrize(
  ("arguments", "words"),
  [
    (("tictactoe", "random", "engine:x"), "Gomoku only"),
    (("gomoku", "engine:no-such-engine", "random"), "no-such-engine"),
    (("gomoku", "random", "random", "--record", os.devnull + "/x"), "cannot write"),
    (("gomoku:size=4", "random", "random"), "5 to 32, not 4"),
    (("gomoku:sides=15", "random", "random"), "gomoku:size=19"),
    (("ttt3d:size=5", "random", "random"), "has no option 'size=5'"),
    (("gomoku", "engine:x", "random", "--turn-seconds", "0"), "turn seconds"),
  ],
)
def test_a_wrong_match_is_an_error_of_one_sentence(arguments, words):
  result = typer.testing.CliRunner().invoke(cli.app, ["match", *arguments])
  assert result.exit_code == 2
  assert words in result.stderr
  assert len(result.stderr.strip().splitlines()) == 1
