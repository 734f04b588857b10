"""Runs that are interrupted, resumed, or refused: nothing is ever lost."""

import errno
import functools
import json
import os
import random
import resource
import signal
import time

import jax
import pytest
import yaml

from tests.support import runs
from tests.support import toy_learner
from train import config as config_lib
from train.run import directory as run_directory
from train.run import display
from train.run import loop
from train.run import sameness

SLOW = ["games=2000", "trials=2", "test={every: 100, games: 6, against: random}"]

pytestmark = pytest.mark.usefixtures("toy")


def test_a_second_interrupt_ends_at_once(tmp_path, console, monkeypatch):
  def interrupt(*args):
    del args
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)

  monkeypatch.setattr(display.Display, "trained", interrupt)
  with pytest.raises(KeyboardInterrupt):
    loop.start(toy_learner.make_config(trials=1), tmp_path / "run", console)
  monkeypatch.undo()
  assert loop.resume(tmp_path / "run", console).is_finished


@pytest.mark.parametrize(
  ("moment", "trials", "number"),
  [("trained", 3, signal.SIGTERM), ("tested", 4, signal.SIGHUP)],
)
def test_a_signal_saves_and_resuming_gives_the_same_bits(
  tmp_path, console, monkeypatch, request, moment, trials, number
):
  handler = signal.signal(number, signal.default_int_handler)  # Ignored, under nohup.
  request.addfinalizer(lambda: signal.signal(number, handler))
  monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", 10)
  monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
  config = toy_learner.make_config(trials=trials)
  loop.start(config, tmp_path / "whole", console)
  original, calls = getattr(display.Display, moment), []

  def interrupt(*args):
    original(*args)
    calls.append(args)
    if len(calls) == 2:
      os.kill(os.getpid(), number)

  monkeypatch.setattr(display.Display, moment, interrupt)
  outcome = loop.start(config, tmp_path / "cut", console)
  assert outcome.exit_code == 128 + number
  assert not outcome.is_finished
  assert signal.getsignal(number) == signal.default_int_handler
  assert f"to continue: jaxgames resume {tmp_path / 'cut'}\n" in runs.said(console)
  assert not runs.status(tmp_path / "cut")["is_finished"]
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "whole")


def test_a_finished_run_says_so(tmp_path, console):
  loop.start(toy_learner.make_config(trials=1), tmp_path / "run", console)
  before = runs.results(tmp_path / "run")
  assert loop.resume(tmp_path / "run", console).is_finished
  assert "is finished" in runs.said(console)
  assert runs.results(tmp_path / "run") == before


def test_nothing_is_overwritten(tmp_path, console):
  config = toy_learner.make_config(trials=1)
  loop.start(config, tmp_path / "run", console)
  before = runs.results(tmp_path / "run")
  with pytest.raises(ValueError, match=r"a run in .* already; .* jaxgames resume "):
    loop.start(config, tmp_path / "run", console)
  assert runs.results(tmp_path / "run") == before


def test_a_run_without_a_checkpoint_begins_again(tmp_path, console):
  config = toy_learner.make_config(trials=1)
  loop.start(config, tmp_path / "whole", console)
  (tmp_path / "cut").mkdir()
  (tmp_path / "cut/config.yaml").write_text(config_lib.dump(config))
  (tmp_path / "cut/metrics.jsonl").write_text('{"test": 1, "tri')
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "whole")


def test_a_directory_without_a_run_is_refused(tmp_path, console):
  with pytest.raises(ValueError, match="there is no run in"):
    loop.resume(tmp_path, console)
  assert not list(tmp_path.iterdir())


def test_two_processes_cannot_train_into_one_directory(tmp_path, console):
  config = toy_learner.make_config()
  with run_directory.RunDirectory(tmp_path / "run").locked():
    message = f"is being trained by process {os.getpid()}; wait for it or stop it"
    with pytest.raises(ValueError, match=message):
      loop.start(config, tmp_path / "run", console)
  assert not (tmp_path / "run/config.yaml").exists()


def test_a_changed_config_is_refused(tmp_path, console, monkeypatch):
  runs.stopped_run(tmp_path / "run", console, monkeypatch, trials=1)
  file = tmp_path / "run/config.yaml"
  values = yaml.safe_load(file.read_text())
  values["test"]["games"] = 7
  file.write_text(yaml.safe_dump(values))
  before = runs.results(tmp_path / "run")
  with pytest.raises(ValueError, match=r"changed under .* test\.games was 6 and is 7"):
    loop.resume(tmp_path / "run", console)
  assert runs.results(tmp_path / "run") == before


def test_another_jax_or_number_of_devices_is_refused(tmp_path, console, monkeypatch):
  runs.stopped_run(tmp_path / "run", console, monkeypatch, trials=4)
  with monkeypatch.context() as patch:
    patch.setattr(jax, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"jax was '[^']+' and is '0\.0\.1'"):
      loop.resume(tmp_path / "run", console)
  one_device = jax.devices()[:1]
  monkeypatch.setattr(jax, "devices", lambda: one_device)
  with pytest.raises(ValueError, match="devices was 2 and is 1"):
    loop.resume(tmp_path / "run", console)
  assert loop.resume(tmp_path / "run", console, allow_different=True).is_finished
  assert "continued all the same" in runs.said(console)


def test_another_arithmetic_is_refused(tmp_path):
  """A checkpoint from before it was written down is of the first."""
  files = run_directory.RunDirectory(tmp_path)
  check = functools.partial(
    sameness.check_environment, {"jax": "1"}, files=files, allow_different=False
  )
  assert check({"jax": "1", sameness.ARITHMETIC: 1}) == ""
  with pytest.raises(
    ValueError, match="the learner's arithmetic was 1 and is 2; --allow"
  ):
    check({"jax": "1", sameness.ARITHMETIC: 2})


def test_missing_metrics_are_noticed(tmp_path, console, monkeypatch):
  runs.stopped_run(tmp_path / "run", console, monkeypatch, trials=1)
  (tmp_path / "run/metrics.jsonl").unlink()
  message = r"number 2, whose tests are not in .* train again: jaxgames train "
  with pytest.raises(ValueError, match=message):
    loop.resume(tmp_path / "run", console)
  assert (tmp_path / "run/state/2").exists()


@pytest.mark.parametrize("damage", [runs.cut_last_line, runs.edit_last_line])
def test_a_changed_log_is_set_aside_and_the_checkpoint_that_agrees_is_used(
  tmp_path, console, monkeypatch, damage
):
  loop.start(toy_learner.make_config(trials=2), tmp_path / "whole", console)
  run = tmp_path / "run"
  runs.stopped_run(run, console, monkeypatch, trials=2)
  changed = damage(run / "metrics.jsonl")
  assert loop.resume(run, console).is_finished
  said = runs.said(console)
  assert "skipping checkpoint 2, whose tests are not in" in said
  assert f"was changed; as it was it is {run / 'metrics.jsonl.damaged'}" in said
  assert (run / "metrics.jsonl.damaged").read_bytes() == changed
  assert (run / "state/damaged_2").exists()
  assert runs.results(run) == runs.results(tmp_path / "whole")


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"machine": 3}', "{", None])
def test_a_damaged_status_is_written_anew(tmp_path, console, monkeypatch, text):
  run = tmp_path / "run"
  runs.stopped_run(run, console, monkeypatch, trials=1)
  assert loop.resume(run, console).is_finished
  whole = runs.results(run)
  (run / "run.json").unlink()
  if text is not None:
    (run / "run.json").write_text(text)
  assert loop.resume(run, console).is_finished
  assert runs.results(run) == whole


@pytest.mark.parametrize("text", ["", "game: [", "game: tictactoe", None])
def test_a_damaged_config_is_written_anew(tmp_path, console, monkeypatch, text):
  run = tmp_path / "run"
  runs.stopped_run(run, console, monkeypatch, trials=1)
  before = (run / "config.yaml").read_bytes()
  (run / "config.yaml").unlink()
  if text is not None:
    (run / "config.yaml").write_text(text)
  assert loop.resume(run, console).is_finished
  assert "it is written anew, from a checkpoint" in runs.said(console)
  assert (run / "config.yaml").read_bytes() == before
  if text is not None:
    assert (run / "config.yaml.damaged").read_text() == text


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"trials": 2}, "trials was 1 and is 2"),
    ({"learner": {"kind": "toy", "size": 4}}, "learner.size was 3 and is 4"),
  ],
)
def test_a_changed_network_or_number_of_trials_is_said_as_such(
  tmp_path, console, monkeypatch, change, message
):
  run = tmp_path / "run"
  runs.stopped_run(run, console, monkeypatch, trials=1)
  file = run / "config.yaml"
  file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | change))
  with pytest.raises(ValueError, match=f"was changed under the run: {message}"):
    loop.resume(run, console)
  assert "damaged" not in runs.said(console)


def test_checkpoints_from_before_there_were_checksums_go_on(
  tmp_path, console, monkeypatch
):
  loop.start(toy_learner.make_config(trials=1), tmp_path / "whole", console)
  run = tmp_path / "run"
  runs.stopped_run(run, console, monkeypatch, trials=1)
  for file in run.glob("state/*/progress/metadata"):
    contents = json.loads(file.read_text())
    del contents["checkpoint"], contents["sha256"], contents["progress"]["log"]
    file.write_text(json.dumps(contents))
  assert loop.resume(run, console).is_finished
  assert runs.results(run) == runs.results(tmp_path / "whole")


def test_a_file_that_cannot_be_written_is_explained(tmp_path, console, monkeypatch):
  def no_space(descriptor):
    del descriptor
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

  config = toy_learner.make_config(trials=3)
  loop.start(config, tmp_path / "whole", console)
  with monkeypatch.context() as patch:
    patch.setattr(os, "fsync", no_space)
    with pytest.raises(ValueError, match=r"cannot write into .*: No space left on dev"):
      loop.start(config, tmp_path / "run", console)
  assert not (tmp_path / "run/config.yaml").exists()
  runs.stopped_run(tmp_path / "run", console, monkeypatch, trials=3)
  with monkeypatch.context() as patch:
    patch.setattr(os, "fsync", no_space)
    with pytest.raises(ValueError, match=r"cannot write into .*: No space left on dev"):
      loop.resume(tmp_path / "run", console)
  assert loop.resume(tmp_path / "run", console).is_finished
  assert runs.results(tmp_path / "run") == runs.results(tmp_path / "whole")


def test_a_killed_process_resumes_to_the_same_bits(tmp_path):
  whole = runs.process("start", tmp_path / "whole", *SLOW)
  output, _ = whole.communicate()
  assert whole.returncode == 0, output
  generator = random.Random(0)
  run = tmp_path / "cut"
  running = runs.process("start", run, *SLOW)
  num_kills = 0
  for num_lines in (0, 3, 25):
    runs.wait_for_lines(run / "metrics.jsonl", num_lines, running)
    time.sleep(generator.uniform(0, 0.15))
    running.kill()
    running.communicate()
    num_kills += running.returncode == -signal.SIGKILL
    running = runs.process(
      "resume" if (run / "config.yaml").exists() else "start", run, *SLOW
    )
  output, _ = running.communicate()
  assert running.returncode == 0, output
  assert num_kills >= 2
  assert runs.results(run) == runs.results(tmp_path / "whole")


def test_a_full_disk_is_explained_and_loses_nothing(tmp_path, console, monkeypatch):
  # One trial uses one device, which is all that the process has.
  fields = {"trials": 1, "learner": {"kind": "toy", "size": 5000}}
  loop.start(toy_learner.make_config(**fields), tmp_path / "whole", console)
  runs.stopped_run(tmp_path / "run", console, monkeypatch, **fields)
  running = runs.process("resume", tmp_path / "run")
  # No file may grow beyond this, as if the disk were full.
  resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (4000, 4000))
  output, _ = running.communicate()
  assert running.returncode != 0
  assert "ValueError: cannot write a checkpoint into" in output.splitlines()[-1]
  assert "File too large" in output.splitlines()[-1]
  assert loop.resume(tmp_path / "run", console).is_finished
  assert runs.results(tmp_path / "run") == runs.results(tmp_path / "whole")
