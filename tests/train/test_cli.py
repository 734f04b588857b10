"""The whole program, as a person runs it: real processes."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import typer.testing

import jaxgames
from jaxgames import players
from tests.support import paths
from train import cli
from train import config as config_lib

CONFIGS = paths.ROOT / "configs"

# A run of about ten seconds: long enough to be ended in its middle.
SMALL_RUN = [
  "train",
  str(CONFIGS / "ttt3d" / "selfplay_deep_structured.yaml"),
  "trials=2",
  "games=4000",
  "parallel_games=16",
  "test.every=500",
  "test.games=20",
  "learner.network.hidden=[8]",
  "learner.network.detectors=2",
]


def run(*arguments: str, cwd: pathlib.Path, **options) -> subprocess.CompletedProcess:
  command = [sys.executable, "-m", "train", *arguments]
  return subprocess.run(
    command,
    cwd=cwd,
    capture_output=True,
    text=True,
    timeout=300,
    check=False,
    **options,
  )


def start(*arguments: str, cwd: pathlib.Path) -> subprocess.Popen:
  command = [sys.executable, "-m", "train", *arguments]
  return subprocess.Popen(
    command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
  )


def wait_for_lines(
  path: pathlib.Path, num_lines: int, process: subprocess.Popen
) -> None:
  """Waits until a run has been tested so often, or has ended."""
  deadline = time.monotonic() + 200
  while process.poll() is None and time.monotonic() < deadline:
    if path.exists() and path.read_bytes().count(b"\n") >= num_lines:
      return
    time.sleep(0.02)


def invoke(*arguments: str, **options):
  return typer.testing.CliRunner().invoke(cli.app, arguments, **options)


def test_killed_and_resumed_run_equals_an_unbroken_one(tmp_path):
  whole = run(*SMALL_RUN, "--out", "whole", cwd=tmp_path)
  assert whole.returncode == 0, whole.stdout + whole.stderr
  broken = tmp_path / "broken"
  process = start(*SMALL_RUN, "--out", "broken", cwd=tmp_path)
  num_kills = 0
  for num_lines in (3, 10):
    wait_for_lines(broken / "metrics.jsonl", num_lines, process)
    if process.poll() is None:
      num_kills += 1
    process.send_signal(signal.SIGKILL)
    process.communicate()
    process = start("resume", "broken", cwd=tmp_path)
  output, _ = process.communicate(timeout=300)
  assert process.returncode == 0, output
  assert num_kills == 2
  expected = (tmp_path / "whole" / "metrics.jsonl").read_bytes()
  assert (broken / "metrics.jsonl").read_bytes() == expected
  fingerprints = [
    json.loads((tmp_path / name / "run.json").read_text())["fingerprints"]
    for name in ("whole", "broken")
  ]
  assert fingerprints[0] == fingerprints[1]
  assert len(set(fingerprints[0])) == 2

  # What came of it can be reported, matched and played.
  reported = run("report", "whole", "--json", cwd=tmp_path)
  rows = json.loads(reported.stdout)["rows"]
  assert {(row["table"], row["row"], row["column"]) for row in rows} == {
    ("II", "deep_structured", "peak"),
    ("II", "deep_structured", "end"),
  }
  assert rows[0]["paper"]["mean"] == 65.9
  matched = run(
    "match", "ttt3d", "whole@1", "random", "--games", "50", "--json", cwd=tmp_path
  )
  result = json.loads(matched.stdout)
  assert result["wins"] + result["draws"] + result["losses"] == 50
  again = run(*SMALL_RUN, "--out", "whole", cwd=tmp_path)
  assert again.returncode == 2
  assert "jaxgames resume" in again.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, number):
  process = start(*SMALL_RUN, "games=1_000_000", "--out", "run", cwd=tmp_path)
  wait_for_lines(tmp_path / "run" / "metrics.jsonl", 2, process)
  process.send_signal(number)
  output, _ = process.communicate(timeout=120)
  assert process.returncode == 128 + number, output
  last = output.strip().splitlines()[-1]
  assert "to go on: jaxgames resume run" in " ".join(last.split())
  assert "Traceback" not in output


def test_wrong_config_is_one_sentence(tmp_path):
  config = str(CONFIGS / "quickstart.yaml")
  for override, words in (
    ("learner.netwrk.bias=true", ["learner.netwrk", "network"]),
    ("game=ttt4d", ["ttt4d", "ttt3d"]),
    ("opponent=benchmrk", ["benchmrk", "benchmark"]),
    ("learner.epsilon=2", ["learner.epsilon", "2"]),
    ("trials=0", ["trials", "0"]),
  ):
    result = run("train", config, override, "--out", "x", cwd=tmp_path)
    assert result.returncode == 2
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for word in words:
      assert word in result.stderr
  assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.yaml")), ids=lambda p: p.stem)
def test_every_config_loads(path):
  is_part = path.parent.name == "networks" or path.stem in (
    "base",
    "selfplay",
    "benchmark",
    "reading",
  )
  if is_part:
    return
  for _, config in config_lib.load_sweep(path):
    assert config.games % config.test.every == 0


def test_the_ten_experiments_are_the_papers():
  found = set()
  for table in ("table2", "table3"):
    for name, config in config_lib.load_sweep(CONFIGS / "ttt3d" / f"{table}.yaml"):
      assert (config.trials, config.games) == (10, 1_000_000)
      assert (config.test.every, config.test.games) == (10_000, 1_000)
      settings = config.learner.settings
      assert (settings.learning_rate, settings.discount) == (0.005, 1.0)
      assert (settings.epsilon, settings.network.steepness) == (0.1, 0.5)
      assert name.endswith(config.paper["row"])
      found.add((config.paper["table"], config.paper["row"], config.opponent))
  assert len(found) == 10


def test_the_literal_reading_of_the_ttt3d_paper_adds_nothing_to_it():
  sweep = dict(config_lib.load_sweep(CONFIGS / "ttt3d" / "readings.yaml"))
  literal = {name: config for name, config in sweep.items() if "literal/" in name}
  assert len(literal) == 4
  for config in literal.values():
    settings = config.learner.settings
    assert not settings.network.bias
    assert settings.network.slope is None
    assert not settings.network.straight
    assert not settings.counts_wins
    assert settings.teaches_terminal
    assert settings.exploration_teaches == "chosen"
    assert settings.starts == config.test.starts == "alternate"


def test_games_lists_everything_by_name():
  result = invoke("games", env={"COLUMNS": "120"})
  assert result.exit_code == 0
  for name in [*jaxgames.GAMES, *players.PLAYERS, "td"]:
    assert name in result.output


def test_match_prints_json_for_programs_and_a_table_for_people():
  arguments = ("match", "tictactoe", "expert", "random", "--games", "101")
  result = json.loads(invoke(*arguments, "--json").stdout)
  assert result["losses"] == 0
  assert result["wins"] + result["draws"] == 101
  sides = result["by_side"]
  assert sum(sides["first"].values()) == 51
  shown = invoke(*arguments, env={"COLUMNS": "100"})
  assert "moving second" in shown.output
  assert str(result["wins"]) in shown.output


@pytest.mark.parametrize(
  ("arguments", "words"),
  [
    (("match", "tictacto", "random", "random"), "did you mean 'tictactoe'"),
    (("match", "connect4", "expert", "random"), "too large to solve"),
    (("match", "ttt3d", "nobody", "random"), "no player 'nobody'"),
    (("play", "nothing"), "no game 'nothing'"),
    (("report", "nowhere"), "nowhere"),
    (("resume", "nowhere"), "nowhere"),
  ],
)
def test_wrong_names_are_one_sentence(arguments, words, tmp_path):
  os.chdir(tmp_path)
  result = invoke(*arguments)
  assert result.exit_code == 2
  assert words in result.stderr
  assert len(result.stderr.strip().splitlines()) == 1


def test_play_ends_politely_with_its_input(tmp_path):
  result = run("play", "tictactoe", "--against", "random", cwd=tmp_path, input="4\n")
  assert result.returncode == 0, result.stderr
  assert "Traceback" not in result.stderr


def test_help_of_every_command_says_what_it_does():
  for command in cli.app.registered_commands:
    name = command.name or command.callback.__name__
    result = invoke(name, "--help", env={"COLUMNS": "100"})
    assert result.exit_code == 0
    assert command.callback.__doc__.splitlines()[0] in result.output


def test_sweep_of_two_configs_makes_both_and_reports_both(tmp_path):
  for name in ("one", "two"):
    (tmp_path / f"{name}.yaml").write_text(
      "game: tictactoe\n"
      "learner: {kind: td, network: {hidden: [3], detectors: 0}}\n"
      "games: 40\nparallel_games: 8\n"
      "test: {every: 20, games: 4, against: random}\n"
    )
  command = ("sweep", "one.yaml", "two.yaml", "trials=2", "--out", "out")
  first = run(*command, cwd=tmp_path)
  assert first.returncode == 0, first.stderr
  for name in ("one", "two"):
    status = json.loads((tmp_path / "out" / name / name / "run.json").read_text())
    assert status["is_finished"]
    assert status["trials"] == 2
  assert "out/one/report/report.md" in first.stdout
  again = run(*command, cwd=tmp_path)
  assert again.returncode == 0, again.stderr
  assert "games/s" not in again.stdout
