"""What the command says and returns when training has come to nothing."""

import pytest
import typer.testing

from tests.support import toy_learner
from train import cli
from train import config as config_lib

DIVERGING = {"trials": 1, "seed": 1, "learner": {"kind": "toy", "breaks_at": 40}}


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_a_run_whose_trials_all_diverged_is_reported_and_no_success(
  tmp_path, monkeypatch, command
):
  monkeypatch.chdir(tmp_path)
  config = toy_learner.make_config(**DIVERGING)
  (tmp_path / "mine.yaml").write_text(config_lib.dump(config))
  first, again = (
    typer.testing.CliRunner().invoke(cli.app, [command, "mine.yaml", "--out", "out"])
    for _ in range(2)
  )
  assert first.exit_code == 1, first.output
  assert "all trials of a run have diverged" in first.output
  assert list((tmp_path / "out").rglob("report.md"))
  # A sweep shows it again; a run is not begun twice.
  assert again.exit_code == (1 if command == "sweep" else 2)
