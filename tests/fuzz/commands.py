"""Command lines in this process, and what must be true of each, whatever is in it."""

import pathlib
import time

import typer.testing

from train import cli
from train.cli import failures

__all__ = ["run"]

# On a busy machine; alone, the slowest takes two.
MOST_SECONDS = 30


def run(*arguments: str) -> typer.testing.Result:
  """Runs the command in an empty or prepared directory, which it must leave as it is."""
  before = _files()
  start = time.perf_counter()
  result = typer.testing.CliRunner().invoke(
    cli.app, arguments, prog_name="jaxgames", catch_exceptions=False
  )
  seconds = time.perf_counter() - start
  assert result.exit_code in (0, failures.REFUSED), result.stderr
  assert "Traceback" not in result.output
  if result.exit_code:
    assert result.stderr.startswith("jaxgames: ")
    assert result.stderr.count("\n") == 1, result.stderr
    assert not result.stdout
  else:
    assert not result.stderr
  assert seconds < MOST_SECONDS
  assert _files() == before
  return result


def _files() -> list[pathlib.Path]:
  return sorted(pathlib.Path().rglob("*"))
