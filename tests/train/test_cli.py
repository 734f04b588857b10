"""The whole program, as a person runs it: real processes."""

from importlib.metadata import version
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import typer.testing
import yaml

import jaxgames
from jaxgames import players
from tests.support import paths
from train import cli
from train import config as config_lib
from train.bench import games as bench_games
from train.bench import training as bench_training
from train.cli import common
from train.cli import training
from train.config import agent_names

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


@pytest.fixture
def empty(tmp_path, monkeypatch) -> pathlib.Path:
  """An empty working directory."""
  monkeypatch.chdir(tmp_path)
  return tmp_path


def test_a_run_is_trained_reported_matched_and_never_overwritten(empty):
  # Kills and exact resume are in the contract suite of learners.
  whole = run(*SMALL_RUN, "--out", "whole", cwd=empty)
  assert whole.returncode == 0, whole.stdout + whole.stderr
  status = json.loads((empty / "whole" / "run.json").read_text())
  assert len(set(status["fingerprints"])) == 2
  rows = json.loads(invoke("report", "whole", "--json").stdout)["rows"]
  assert {(row["table"], row["row"], row["column"]) for row in rows} == {
    ("II", "deep_structured", "peak"),
    ("II", "deep_structured", "end"),
  }
  assert rows[0]["paper"]["mean"] == 65.9
  matched = invoke("match", "ttt3d", "whole@1", "random", "--games", "50", "--json")
  result = json.loads(matched.stdout)
  assert result["wins"] + result["draws"] + result["losses"] == 50
  again = invoke(*SMALL_RUN, "--out", "whole")
  assert again.exit_code == 2
  assert "jaxgames resume" in again.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_continue(tmp_path, number):
  process = start(*SMALL_RUN, "games=1_000_000", "--out", "run", cwd=tmp_path)
  wait_for_lines(tmp_path / "run" / "metrics.jsonl", 2, process)
  process.send_signal(number)
  output, _ = process.communicate(timeout=120)
  assert process.returncode == 128 + number, output
  last = output.strip().splitlines()[-1]
  assert "to continue: jaxgames resume run" in " ".join(last.split())
  assert "Traceback" not in output


@pytest.mark.parametrize(
  ("arguments", "words"),
  [
    (("learner.netwrk.bias=true",), ["learner.netwrk", "network"]),
    (("game=ttt4d",), ["ttt4d", "ttt3d"]),
    (("opponent=benchmrk",), ["benchmrk", "benchmark"]),
    (("learner.epsilon=2",), ["learner.epsilon", "2"]),
    (("trials=0",), ["trials", "0"]),
    (
      ("paper.name=ttt3d", "paper.table=II", "paper.row=deep_structred"),
      ["paper.row", "did you mean 'deep_structured'"],
    ),
    (("paper.name=ttt3", "paper.table=II"), ["paper", "row"]),
  ],
)
@pytest.mark.parametrize("command", ["train", "sweep", "config"])
def test_wrong_config_is_one_sentence(empty, command, arguments, words):
  result = invoke(command, "quickstart", *arguments)
  assert result.exit_code == 2
  assert len(result.stderr.strip().splitlines()) == 1, result.stderr
  for word in words:
    assert word in result.stderr
  assert not list(empty.iterdir())


def test_after_a_sweep_agents_are_named_as_match_takes_them(empty):
  for number in range(7):
    run = empty / "sweep" / f"run_{number}"
    run.mkdir(parents=True)
    (run / "config.yaml").touch()
  few = training._name_agents(pathlib.Path("sweep/run_3"))
  assert few == "sweep/run_3"
  *named, rest = training._name_agents(pathlib.Path("sweep")).split(", ")
  assert rest == "and 2 more in sweep"
  assert len(named) == 5
  assert all(map(agent_names.is_agent, named))


@pytest.mark.parametrize("command", ["train", "sweep", "config"])
def test_a_config_that_is_not_there_is_one_sentence(empty, command):
  result = invoke(command, "quickstrt", "trials=2")
  assert result.exit_code == 2
  assert (
    result.stderr == "jaxgames: no config 'quickstrt': did you mean 'quickstart'?\n"
  )


def test_a_sweep_is_not_trained_but_swept(empty):
  result = invoke("train", "ttt3d/table2")
  assert result.exit_code == 2
  assert "use jaxgames sweep ttt3d/table2" in result.stderr


@pytest.mark.parametrize(
  "arguments",
  [
    ["--help"],
    ["--version"],
    ["train", "--help"],
    ["train", "quickstart", "trials=0"],
    ["train", "quickstart", "paper.name=ttt3d", "paper.table=IV", "paper.row=x"],
    ["sweep", "ttt3d/table2", "ttt3d/tabel3"],
    ["sweep", "ttt3d/table2", "--out", "/dev/null"],
    ["config", "quickstart", "game=ttt4d"],
    ["config", "--schema"],
    ["runs", str(paths.ROOT / "results" / "qlearn")],
    ["games"],
  ],
  ids=" ".join,
)
def test_quick_answers_do_not_wait_for_jax(tmp_path, arguments):
  code = (
    "import sys\n"
    "from train import cli\n"
    f"sys.argv = ['jaxgames', *{arguments!r}]\n"
    "try:\n"
    "  cli.main()\n"
    "except SystemExit:\n"
    "  pass\n"
    "heavy = {'jax', 'flax', 'scipy.stats', 'matplotlib', 'orbax'} & {*sys.modules}\n"
    "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
  )
  environment = {**os.environ, "PYTHONPATH": str(paths.ROOT)}
  result = subprocess.run(
    [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True,
    text=True, timeout=60, check=False,
  )  # fmt: skip
  assert result.returncode == 0, result.stderr


def test_version_names_jaxgames_and_jax():
  result = invoke("--version")
  assert result.exit_code == 0
  assert result.output == f"jaxgames {version('jaxgames')} (jax {version('jax')})\n"


@pytest.mark.parametrize(
  ("line", "found"),
  [
    ("jaxgames ex", ["export"]),
    ("jaxgames train qu", ["quickstart"]),
    ("jaxgames sweep ttt3d/table", ["ttt3d/table2", "ttt3d/table3"]),
    ("jaxgames play go", ["gomoku"]),
    ("jaxgames match ttt3d attack", ["attack", "attack-defense"]),
    ("jaxgames match ttt3d random ttt", ["ttt3d"]),
  ],
)
def test_shells_complete_names(line, found):
  environment = {
    "_JAXGAMES_COMPLETE": "complete_bash",
    "COMP_WORDS": line,
    "COMP_CWORD": str(len(line.split()) - 1),
  }
  runner = typer.testing.CliRunner()
  result = runner.invoke(cli.app, [], env=environment, prog_name="jaxgames")
  assert result.output.split() == found


def test_a_composed_config_loads_to_the_same(empty):
  printed = invoke("config", "quickstart", "trials=3", "test.every=1000").stdout
  (empty / "mine.yaml").write_text(printed)
  config = config_lib.load("quickstart", ["trials=3", "test.every=1000"])
  assert config_lib.load("mine") == config
  assert invoke("config", "mine").stdout == printed


def test_a_composed_sweep_has_all_its_runs():
  printed = invoke("config", "ttt3d/table2", "games=1000").stdout
  documents = list(yaml.safe_load_all(printed))
  assert [document["games"] for document in documents] == [1000] * 5
  assert "# selfplay_deep_structured\n" in printed


def test_the_schema_is_printed_without_a_config():
  assert "learner" in json.loads(invoke("config", "--schema").stdout)["properties"]
  assert "which config?" in invoke("config").stderr


def test_runs_are_listed_for_people_and_programs():
  directory = str(paths.ROOT / "results" / "qlearn" / "runs")
  (best, *others) = json.loads(invoke("runs", directory, "--json").stdout)["runs"]
  assert (best["name"], best["state"], best["trials"]) == ("best", "finished", 10)
  shown = invoke("runs", directory).output
  assert f"{best['score']:.1%}" in shown
  for other in others:
    assert other["name"] in shown


def test_runs_that_are_not_there_are_said_so(empty):
  assert invoke("runs").stderr == "jaxgames: there is no directory checkpoints\n"
  assert invoke("runs", ".").output == "there are no runs in .\n"
  (empty / "other").mkdir()
  (empty / "other" / "config.yaml").write_text("[")
  shown = invoke("runs", ".")
  assert shown.exit_code == 0
  assert "damaged: config.yaml cannot be read" in shown.output


def test_an_agent_is_exported_once(empty):
  shown = invoke("export", "ttt3d", "agent.safetensors")
  assert shown.exit_code == 0, shown.stderr
  for word in ("ttt3d agent", "learner td", "trial 0", "100,000 games", "99.2%"):
    assert word in shown.output
  again = invoke("export", "ttt3d", "agent.safetensors")
  assert again.exit_code == 2
  assert "--force" in again.stderr
  assert invoke("export", "ttt3d", "agent.safetensors", "--force").exit_code == 0
  assert "no agent" in invoke("export", "nowhere", "b.safetensors").stderr


def test_bench_measures_what_there_is():
  result = invoke("bench", "everything")
  assert result.exit_code == 2
  assert "training" in result.stderr


def test_bench_measures_only_what_is_named(monkeypatch):
  measured = []

  def measure(names, progress_fn):
    measured.extend(names)
    return {}

  monkeypatch.setattr(common, "set_up", lambda devices: None)
  monkeypatch.setattr(bench_games, "measure", measure)
  monkeypatch.setattr(bench_training, "measure", measure)
  names = ("ttt3d", "ten_trials_16")
  options = [f"--only={name}" for name in names]
  assert invoke("bench", "--json", *options).stdout == "{}\n"
  assert measured == [*names]
  result = invoke("bench", "training", *options)
  assert result.exit_code == 2
  assert "no 'ttt3d'" in result.stderr
  assert "did you mean 'ten_trials_1'" in invoke("bench", "--only=ten_trial_1").stderr


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
    assert not settings.network.linear_output_gradient
    assert not settings.counts_wins
    assert settings.updates_terminal
    assert settings.exploration_target == "chosen"
    assert settings.starts == config.test.starts == "alternate"


def test_games_lists_everything_by_name():
  result = invoke("games", env={"COLUMNS": "120"})
  assert result.exit_code == 0
  configs = ["quickstart", "ttt3d/beyond", "ttt3d/parallel/sum_1"]
  for name in [*jaxgames.GAMES, *players.PLAYERS, "td", *configs, "bundled"]:
    assert name in result.output
  # Parts of configs cannot be trained.
  for name in ("hybrid/base", "ttt3d/networks", "ttt3d/selfplay "):
    assert name not in result.output


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
  assert result["players"]["a"] == {"spec": "expert", "name": "expert", "agents": []}


def test_a_match_names_its_agents():
  arguments = ("match", "ttt3d", "ttt3d", "random", "--games", "4")
  a = json.loads(invoke(*arguments, "--json").stdout)["players"]["a"]
  assert a["spec"] == "ttt3d"
  assert a["name"] == "ttt3d agent (bundled, 100,000 games)"
  (agent,) = a["agents"]
  expected = {"agent": "ttt3d", "game": "ttt3d", "trial": 0, "games": 100_000}
  assert expected.items() <= agent.items()
  assert "beyond" in agent["run"]
  assert a["name"] in invoke(*arguments, env={"COLUMNS": "100"}).output


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
def test_wrong_names_are_one_sentence(arguments, words, empty):
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


def test_sweep_of_two_configs_makes_both_and_reports_both(empty):
  for name in ("one", "two"):
    (empty / f"{name}.yaml").write_text(
      "game: tictactoe\n"
      "learner: {kind: td, network: {hidden: [3], detectors: 0}}\n"
      "games: 40\nparallel_games: 8\n"
      "test: {every: 20, games: 4, against: random}\n"
    )
  command = ("sweep", "one.yaml", "two", "trials=2", "--out", "out", "--devices", "2")
  first = invoke(*command)
  assert first.exit_code == 0, first.stderr
  for name in ("one", "two"):
    status = json.loads((empty / "out" / name / name / "run.json").read_text())
    assert status["is_finished"]
    assert status["trials"] == 2
  assert "out/one/report/report.md" in first.output
  again = invoke(*command)
  assert again.exit_code == 0, again.stderr
  assert "games/s" not in again.output
  assert "finished" in invoke("runs", "out").output
