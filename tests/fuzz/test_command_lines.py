"""Whole command lines: done, or refused in one line; nothing is trained or played."""

import hypothesis
import hypothesis.strategies as st
import pytest
import typer

from tests.fuzz import budget
from tests.fuzz import commands
from tests.fuzz import texts
from train.bench import games as bench_games
from train.bench import training as bench_training
from train.cli import common
from train.engines import brain
from train.engines import versus
from train.match import terminal
from train.run import loop
from train.run import sweep

LONG_WORK = [
  (loop, "start"), (loop, "resume"), (sweep, "run"), (versus, "play"), (brain, "run"),
  (terminal, "play_in_terminal"), (bench_games, "measure"), (bench_training, "measure"),
]  # fmt: skip


@pytest.fixture(scope="module")
def _no_work(workplace):
  """Ends a command where its work would begin."""

  def end(*args, **options):
    raise typer.Exit

  with pytest.MonkeyPatch.context() as patch:
    for module, name in LONG_WORK:
      patch.setattr(module, name, end)
    # Devices are those of all tests.
    patch.setattr(common, "set_up", lambda devices: None)
    yield


COMMANDS = [
  "config", "train", "resume", "sweep", "runs", "report", "export", "match", "play",
  "brain", "bench", "--debug", "--version", "nothing",
]  # fmt: skip

WORDS = st.one_of(
  st.sampled_from(
    [
      "quickstart",
      "ttt3d/table2",
      "tictactoe",
      "gomoku:size=7",
      "random",
      "--out",
      "--",
      "out",
      "--devices",
      "--json",
      "--seed",
      "--games",
      "--against",
      "--second",
      "--record",
      "--turn-seconds",
      "--fallback",
      "--only",
      "--force",
      "--tensorboard",
      "--allow-different",
      "--schema",
      "trials=2",
      "game=connect4",
      "agent.safetensors",
      "ttt3d",
    ]
  ),
  texts.anything,
  texts.players,
)


@budget.inputs(quick=60, share=0.05)
@hypothesis.given(
  command=st.sampled_from(COMMANDS), words=st.lists(WORDS, min_size=1, max_size=6)
)
@hypothesis.example(command="train", words=["quickstart", "--out", ""])
@hypothesis.example(command="resume", words=["x" * 300])
@hypothesis.example(command="play", words=["ttt3d", "--seed", "9" * 30])
@pytest.mark.usefixtures("_no_work")
def test_a_command_is_done_or_refused(command, words):
  # Of an argument the system makes an end at a NUL; the help is no failure.
  words = [word.replace("\0", "") for word in words]
  hypothesis.assume(not {"--help", "--install-completion"} & {*words})
  # These would write what they are asked for.
  hypothesis.assume(command != "export" or words[0] not in ("ttt3d", "gomoku"))
  commands.run(command, *words)
