"""What a hostile user, a broken file or an accident gives to the commands: one line.

Written after some six hundred command lines were tried by hand; these stand for them.
"""

import os
import pathlib

import pytest
import typer.testing

from train import cli
from train.run import memory

RUN = """
game: tictactoe
learner: {kind: td, network: {hidden: [3], detectors: 0}}
games: 40
parallel_games: 8
test: {every: 20, games: 4, against: random}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> pathlib.Path:
  """A directory with what may be found in one."""
  place = tmp_path_factory.mktemp("place")
  for name in ("foreign", "pipe_run", "device_run", "emptied", "directory.yaml"):
    (place / name).mkdir()
  (place / "run.yaml").write_text(RUN)
  (place / "recursive.yaml").write_text("game: &a {b: *a}")
  (place / "binary.yaml").write_bytes(b"game: \xff\xfe\x00")
  (place / "deep.yaml").write_text("{a: " * 3000)
  (place / "zero.yaml").write_text("extends: /dev/zero")
  (place / "sweep.yaml").write_text("runs: [run.yaml, /dev/zero]")
  (place / "named.yaml").write_text(f"name: {'n' * 300}\nruns: [run.yaml]")
  (place / "loop").symlink_to("loop")
  (place / "foreign" / "thesis.txt").write_text("all of it")
  (place / "zero.safetensors").symlink_to("/dev/zero")
  (place / "device_run" / "config.yaml").symlink_to("/dev/zero")
  os.mkfifo(place / "pipe")
  os.mkfifo(place / "pipe.safetensors")
  os.mkfifo(place / "pipe_run" / "config.yaml")
  return place


COMMAND_LINES = [
  # Files that are no configs.
  ("config deep.yaml", "nested more than 40 deep"),
  ("train recursive.yaml", "is inside of what it stands for"),
  ("sweep binary.yaml", "not UTF-8"),
  ("train zero.yaml", "not a regular file"),
  ("sweep sweep.yaml", "not a regular file"),
  ("sweep named.yaml", "File name too long"),
  ("train pipe", "no config 'pipe'"),
  ("train loop", "no config 'loop'"),
  ("train directory.yaml", "no config 'directory.yaml'"),
  ("train " + "x" * 300, "File name too long"),
  ("train /dev/zero", "no config '/dev/zero'"),
  # Values beyond their range.
  ("config run.yaml seed=4294967296", "less than 4294967296"),
  ("config run.yaml seed=" + "9" * 5000, "5,000 digits"),
  ("train run.yaml trials=1e30", "2147483647"),
  ("train run.yaml games=3e9", "2000000000"),
  ("train run.yaml games=2e9 test.every=1", "2,000,000,000 tests"),
  ("train run.yaml learner.learning_rate=.inf", "finite"),
  ("train run.yaml learner.learning_rate=nan", "finite"),
  ("train run.yaml learner.learning_rate=1e39", "less than or equal to"),
  ("train run.yaml learner.network.steepness=.nan", "finite"),
  ("train run.yaml opponent=mcts:simulations=99999999999", "simulations"),
  ("train run.yaml opponent=mcts:exploration=inf", "exploration"),
  # Papers.
  ("train run.yaml paper={name:\u00a0ttt3,table:\u00a0II,row:\u00a0x}", "paper"),
  ("train run.yaml paper.name=ttt3 paper.table=II paper.row=x", "mean 'ttt3d'"),
  ("train run.yaml paper.name=ttt3d paper.table=IV paper.row=x", "no table 'IV'"),
  ("sweep run.yaml paper.name=ttt3d paper.table=II paper.row=deep", "no row 'deep'"),
  ("train run.yaml paper.name=ttt3d paper.colum=x", "no field 'colum'"),
  # Directories.
  ("train run.yaml --out foreign", "other files in it, such as 'thesis.txt'"),
  ("sweep run.yaml --out foreign", "other files in it, such as 'thesis.txt'"),
  ("train run.yaml --out .", "other files in it"),
  ("train run.yaml --out run.yaml", "Not a directory"),
  ("train run.yaml --out pipe/run", "Not a directory"),
  ("train run.yaml --out loop/run", "symbolic links"),
  ("train run.yaml --out " + "x" * 300, "File name too long"),
  ("resume foreign", "there is no run in foreign"),
  ("report pipe_run", "not a regular file"),
  ("report device_run", "not a regular file"),
  ("runs loop", "there is no directory loop"),
  ("resume " + "x" * 300, "File name too long"),
  # Players and agents.
  ("match ttt3d zero.safetensors random", "not a regular file"),
  ("match ttt3d pipe.safetensors random", "not a regular file"),
  ("match ttt3d ./pipe_run random", "not a regular file"),
  ("match ttt3d random " + "x" * 300, "no player 'xxx"),
  ("match ttt3d random ./" + "x" * 300, "no agent './xxx"),
  ("export ./run@99999999999999999999 a.safetensors", "no agent"),
  ("play ttt3d --against " + "sometimes:player=(" * 99, "nested more than 20 deep"),
  ("brain mcts:simulations=-1", "at least 1"),
  ("match ttt3d random random --games 99999999999999999999", "at most 2,000,000,000"),
  # Memory.
  ("match ttt3d mcts:simulations=1000000000 random", "memory"),
  ("train run.yaml parallel_games=1000000000", "memory"),
  ("train run.yaml learner.network.hidden=[1000000000]", "memory"),
  ("sweep run.yaml trials=100000000", "memory"),
]


@pytest.mark.parametrize(
  ("line", "words"), COMMAND_LINES, ids=[line[:60] for line, _ in COMMAND_LINES]
)
def test_it_is_refused_in_one_line_and_nothing_is_left(place, monkeypatch, line, words):
  monkeypatch.chdir(place)
  monkeypatch.setattr(memory, "available", lambda: 4 * 10**9)
  # Devices are those of all tests.
  monkeypatch.setattr("train.cli.common.set_up", lambda devices: None)
  before = sorted(place.rglob("*"))
  result = typer.testing.CliRunner().invoke(cli.app, line.split(" "))
  assert result.exit_code == 2, result.output
  assert words in result.stderr
  assert result.stderr.count("\n") == 1
  assert not result.stdout
  assert sorted(place.rglob("*")) == before
