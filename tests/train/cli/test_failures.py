"""How the command fails: in one line, with an exit code that says why."""

import pytest
import typer.testing

from train import cli
from train.cli import failures
from train.run import listing


def invoke(*arguments: str, **options):
  runner = typer.testing.CliRunner()
  return runner.invoke(cli.app, arguments, prog_name="jaxgames", **options)


@pytest.fixture
def runs_raises(monkeypatch):
  """Lets the command `runs` fail with an error."""

  def make(error: BaseException) -> None:
    def list_runs(directory):
      raise error

    monkeypatch.setattr(listing, "list_runs", list_runs)

  return make


@pytest.mark.parametrize(
  ("error", "code", "words"),
  [
    (ValueError("no such thing"), failures.REFUSED, "no such thing"),
    (ValueError("two\nlines\x1b[31m"), failures.REFUSED, r"two\nlines\x1b[31m"),
    (ValueError("x" * 10**6), failures.REFUSED, "x … x"),
    (OSError(28, "No space left", "a/b"), failures.REFUSED, "a/b: No space left"),
    (MemoryError(), failures.REFUSED, "not enough memory"),
    (
      RuntimeError("RESOURCE_EXHAUSTED: 9 bytes"),
      failures.REFUSED,
      "not enough memory",
    ),
    (RuntimeError("odd"), failures.BUG, "RuntimeError: odd; this is a mistake in jaxg"),
    (KeyError("odd"), failures.BUG, "jaxgames --debug"),
  ],
)
def test_an_error_is_one_line(runs_raises, error, code, words):
  runs_raises(error)
  result = invoke("runs")
  assert result.exit_code == code
  assert result.stderr.startswith("jaxgames: ")
  assert words in result.stderr
  assert result.stderr.count("\n") == 1
  assert len(result.stderr) < 3000
  assert not result.stdout


@pytest.mark.parametrize(
  "options", [{"env": {"JAXGAMES_DEBUG": "1"}}, {"args": ["--debug"]}]
)
def test_a_traceback_is_shown_to_those_who_ask(runs_raises, options):
  runs_raises(KeyError("odd"))
  result = invoke(*options.pop("args", ()), "runs", **options)
  assert result.exit_code == failures.BUG
  assert "Traceback" in result.stderr
  assert "in list_runs" in result.stderr
  assert "Traceback" not in invoke("runs").stderr


def test_ctrl_c_is_no_error(runs_raises):
  runs_raises(KeyboardInterrupt())
  result = invoke("runs")
  assert (result.exit_code, result.stderr) == (130, "")


@pytest.mark.parametrize(
  ("arguments", "words"),
  [
    (["trian"], "Did you mean 'train'"),
    (["--nope"], "(see jaxgames --help)"),
    (["match", "ttt3d"], "'A' (see jaxgames match --help)"),
    (["match", "ttt3d", "random", "random", "--games", "0"], "--games"),
    (["match", "ttt3d", "random", "random", "--seed", "4294967296"], "4294967295"),
    (["play", "ttt3d", "--seed", "99999999999999999999"], "4294967295"),
    (["bench", "everything"], "'training'"),
    (["games", "x"], "x"),
    (["train", "quickstart", "--devices", "99999999999"], "1024"),
    (["train", "quickstart", "--out", ""], "empty"),
    (["sweep", "quickstart", "--out", ""], "empty"),
    (["resume", ""], "empty"),
    (["report", ""], "empty"),
    (["runs", ""], "empty"),
    (["export", "ttt3d", ""], "empty"),
  ],
)
def test_wrong_arguments_are_one_line(arguments, words):
  result = invoke(*arguments)
  assert result.exit_code == failures.REFUSED
  assert words in result.stderr
  assert result.stderr.count("\n") == 1


def test_without_arguments_there_is_help():
  assert "Usage: jaxgames" in invoke().output
