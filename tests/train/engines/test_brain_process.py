"""Our Gomocup engine as a process."""

import re
import signal
import subprocess
import sys

import pytest
import typer.testing

from train import cli

# Imports less than the whole command line does, so it starts sooner.
SMALL_PROGRAM = """
from jaxgames import players
from train.engines import brain as brain_lib
brain_lib.run(lambda game: [players.Random(game)], name="small", seed=0)
"""


# A shell disables interrupts for programs in the background, tests included.
INTERRUPTIBLE_PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from train import cli
cli.main()
"""


def start(*arguments):
  return subprocess.Popen(
    [sys.executable, *arguments],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
  )


def test_a_process_answers_each_line_and_exits_quietly_on_interrupt():
  arguments = ("brain", "attack-defense", "--fallback", "random")
  with start("-c", INTERRUPTIBLE_PROGRAM, *arguments) as process:
    for line, pattern in (
      (b"START 15\r\n", rb"OK\n"),
      (b"BEGIN\n", rb"\d+,\d+\n"),
      (b"NOTHING\n", rb"UNKNOWN .*\n"),
      (b"\xff\xfe\0\n", rb"UNKNOWN .*\n"),
    ):
      process.stdin.write(line)
      process.stdin.flush()
      assert re.fullmatch(pattern, process.stdout.readline())
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
  assert (process.returncode, rest, errors) == (130, b"", b"")


@pytest.mark.parametrize(
  ("last", "answer"),
  [(b"BOARD\n1,1,1", b"ERROR BOARD without DONE\n"), (b"END\n", b"")],
)
def test_a_process_exits_quietly_at_the_end_of_its_input(last, answer):
  with start("-c", SMALL_PROGRAM) as process:
    output, errors = process.communicate(b"START 5\n" + last, timeout=60)
  assert (process.returncode, output, errors) == (0, b"OK\n" + answer, b"")


def test_a_process_exits_quietly_if_the_manager_is_gone():
  with start("-c", SMALL_PROGRAM) as process:
    process.stdout.close()
    process.stdin.write(b"ABOUT\nABOUT\n")
    process.stdin.flush()
    errors = process.stderr.read()
  assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("spec", ["nobody", "expert", "mcts:simulations=0"])
def test_a_wrong_player_is_an_error_of_one_sentence(spec):
  result = typer.testing.CliRunner().invoke(
    cli.app, ["brain", spec], input="START 15\n"
  )
  assert result.exit_code == 2
  assert result.stdout == ""
  assert len(result.stderr.strip().splitlines()) == 1
