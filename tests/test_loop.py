"""The loop: the same numbers however it is cut, stopped and gone on with."""

import errno
import io
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import jax
from jax.experimental.compilation_cache import compilation_cache
import numpy as np
import pytest
import rich.console
import toy_learner
import yaml

from jaxgames import players
from train import config as config_lib
from train import devices
from train import loop
from train import programs
from train import progress
from train import run_directory


@pytest.fixture(autouse=True)
def _toy():
  with toy_learner.registered():
    yield


@pytest.fixture
def console():
  return rich.console.Console(file=io.StringIO(), width=200)


def status(path: pathlib.Path) -> dict:
  return json.loads((path / "run.json").read_text())


def lines(path: pathlib.Path) -> list[dict]:
  return [
    json.loads(line) for line in (path / "metrics.jsonl").read_text().split("\n")[:-1]
  ]


def results(path: pathlib.Path) -> tuple:
  """Returns all that must not depend on time, place or interruptions."""
  final = status(path)
  fixed = {
    key: final[key] for key in ("games", "fingerprints", "diverged", "is_finished")
  }
  return fixed, (path / "metrics.jsonl").read_bytes()


def said(console: rich.console.Console) -> str:
  assert isinstance(console.file, io.StringIO)
  return console.file.getvalue()


def test_a_run_leaves_its_files(tmp_path, console):
  config = toy_learner.make_config()
  outcome = loop.start(config, tmp_path / "run", console)
  assert outcome == loop.Outcome(tmp_path / "run", is_finished=True)
  assert outcome.exit_code == 0
  assert config_lib.load(tmp_path / "run/config.yaml") == config
  final = status(tmp_path / "run")
  assert final["name"] == "run"
  assert final["is_finished"]
  assert len(set(final["fingerprints"])) == 3
  assert final["seconds"] > 0
  assert final["versions"]["jax"] == jax.__version__
  written = lines(tmp_path / "run")
  assert [(line["test"], line["trial"]) for line in written] == [
    (test, trial) for test in range(1, 5) for trial in range(3)
  ]
  for line in written:
    assert line["wins"] + line["draws"] + line["losses"] == 6
    assert line["score"] == (line["wins"] + line["draws"] / 2) / 6
    # Four games a ply may end together.
    assert 25 * line["test"] <= line["games"] < 25 * line["test"] + 4
    assert line["never"] is None
  assert "3 trials" in said(console)


def test_the_last_test_is_at_the_end(tmp_path, console):
  test = {"every": 30, "games": 2, "against": "random"}
  loop.start(toy_learner.make_config(test=test, trials=1), tmp_path / "run", console)
  assert [line["games"] // 10 for line in lines(tmp_path / "run")] == [3, 6, 9, 10]


def test_the_length_of_chunks_makes_no_difference(tmp_path, console, monkeypatch):
  config = toy_learner.make_config(learner={"kind": "toy", "breaks_at": 60})
  found = []
  for name, first in ("short", 1), ("long", 1000):
    monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", first)
    monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
    loop.start(config, tmp_path / name, console)
    found.append(results(tmp_path / name))
  assert found[0] == found[1]


def test_a_trial_does_not_depend_on_the_others(tmp_path, console):
  # Ten trials share two devices, three and one use one.
  for trials in (1, 3, 10):
    config = toy_learner.make_config(trials=trials)
    loop.start(config, tmp_path / str(trials), console)
  many = lines(tmp_path / "10")
  prints = status(tmp_path / "10")["fingerprints"]
  assert len(set(prints)) == 10
  for trials in (1, 3):
    assert status(tmp_path / str(trials))["fingerprints"] == prints[:trials]
    few = [line for line in many if line["trial"] < trials]
    assert lines(tmp_path / str(trials)) == few


def test_tests_do_not_influence_training(tmp_path, console):
  tests = [{"every": every, "games": 3, "against": "random"} for every in (20, 100)]
  for name, test in zip("ab", tests, strict=True):
    loop.start(toy_learner.make_config(test=test), tmp_path / name, console)
  first, second = (status(tmp_path / name)["fingerprints"] for name in "ab")
  assert first == second


def test_the_program_is_traced_once(tmp_path, console, monkeypatch):
  monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", 5)
  monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
  before = toy_learner.traces["advance"]
  loop.start(toy_learner.make_config(), tmp_path / "run", console)
  assert toy_learner.traces["advance"] == before + 1


def test_a_second_interrupt_ends_at_once(tmp_path, console, monkeypatch):
  def interrupt(*args):
    del args
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)

  monkeypatch.setattr(progress.Screen, "trained", interrupt)
  with pytest.raises(KeyboardInterrupt):
    loop.start(toy_learner.make_config(trials=1), tmp_path / "run", console)
  monkeypatch.undo()
  assert loop.resume(tmp_path / "run", console).is_finished


@pytest.mark.parametrize(("moment", "trials"), [("trained", 3), ("tested", 4)])
def test_a_signal_saves_and_resuming_gives_the_same_bits(
  tmp_path, console, monkeypatch, moment, trials
):
  monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", 10)
  monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
  config = toy_learner.make_config(trials=trials)
  loop.start(config, tmp_path / "whole", console)
  original, calls = getattr(progress.Screen, moment), []

  def interrupt(*args):
    original(*args)
    calls.append(args)
    if len(calls) == 2:
      os.kill(os.getpid(), signal.SIGTERM)

  monkeypatch.setattr(progress.Screen, moment, interrupt)
  handler = signal.getsignal(signal.SIGTERM)
  outcome = loop.start(config, tmp_path / "cut", console)
  assert outcome.exit_code == 143
  assert not outcome.is_finished
  assert signal.getsignal(signal.SIGTERM) == handler
  assert f"to go on: jaxgames resume {tmp_path / 'cut'}\n" in said(console)
  assert not status(tmp_path / "cut")["is_finished"]
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert results(tmp_path / "cut") == results(tmp_path / "whole")


def test_a_finished_run_says_so(tmp_path, console):
  loop.start(toy_learner.make_config(trials=1), tmp_path / "run", console)
  before = results(tmp_path / "run")
  assert loop.resume(tmp_path / "run", console).is_finished
  assert "is finished" in said(console)
  assert results(tmp_path / "run") == before


def test_nothing_is_overwritten(tmp_path, console):
  config = toy_learner.make_config(trials=1)
  loop.start(config, tmp_path / "run", console)
  before = results(tmp_path / "run")
  with pytest.raises(ValueError, match=r"a run in .* already; .* jaxgames resume "):
    loop.start(config, tmp_path / "run", console)
  assert results(tmp_path / "run") == before


def test_a_run_without_a_checkpoint_begins_again(tmp_path, console):
  config = toy_learner.make_config(trials=1)
  loop.start(config, tmp_path / "whole", console)
  (tmp_path / "cut").mkdir()
  (tmp_path / "cut/config.yaml").write_text(config_lib.dump(config))
  (tmp_path / "cut/metrics.jsonl").write_text('{"test": 1, "tri')
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert results(tmp_path / "cut") == results(tmp_path / "whole")


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


def stopped_run(directory: pathlib.Path, console, monkeypatch, **fields) -> None:
  """Leaves a run after its second test."""
  with monkeypatch.context() as patch:
    original = progress.Screen.tested

    def interrupt(self, number, score):
      original(self, number, score)
      if number == 2:
        os.kill(os.getpid(), signal.SIGINT)

    patch.setattr(progress.Screen, "tested", interrupt)
    outcome = loop.start(toy_learner.make_config(**fields), directory, console)
  assert outcome.exit_code == 130


def test_a_changed_config_is_refused(tmp_path, console, monkeypatch):
  stopped_run(tmp_path / "run", console, monkeypatch, trials=1)
  file = tmp_path / "run/config.yaml"
  values = yaml.safe_load(file.read_text())
  values["test"]["games"] = 7
  file.write_text(yaml.safe_dump(values))
  before = results(tmp_path / "run")
  with pytest.raises(ValueError, match=r"changed under .* test\.games was 6 and is 7"):
    loop.resume(tmp_path / "run", console)
  assert results(tmp_path / "run") == before


def test_another_jax_or_number_of_devices_is_refused(tmp_path, console, monkeypatch):
  stopped_run(tmp_path / "run", console, monkeypatch, trials=4)
  with monkeypatch.context() as patch:
    patch.setattr(jax, "__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"jax was '[^']+' and is '0\.0\.1'"):
      loop.resume(tmp_path / "run", console)
  one_device = jax.devices()[:1]
  monkeypatch.setattr(jax, "devices", lambda: one_device)
  with pytest.raises(ValueError, match="devices was 2 and is 1"):
    loop.resume(tmp_path / "run", console)
  assert loop.resume(tmp_path / "run", console, allow_different=True).is_finished
  assert "going on all the same" in said(console)


def test_missing_metrics_are_noticed(tmp_path, console, monkeypatch):
  stopped_run(tmp_path / "run", console, monkeypatch, trials=1)
  (tmp_path / "run/metrics.jsonl").unlink()
  with pytest.raises(ValueError, match=r"has 0 lines .* checkpoint remembers 2"):
    loop.resume(tmp_path / "run", console)


def test_divergence_stops_one_trial_and_harms_no_other(tmp_path, console, monkeypatch):
  loop.start(toy_learner.make_config(trials=4), tmp_path / "whole", console)
  fields = {"trials": 4, "learner": {"kind": "toy", "breaks_at": 40}}
  config = toy_learner.make_config(**fields)
  loop.start(config, tmp_path / "broken", console)
  final = status(tmp_path / "broken")
  diverged = final["diverged"]
  assert 0 < len(diverged) < 4
  assert f"trial {diverged[0]} has diverged" in said(console)
  healthy = [trial for trial in range(4) if trial not in diverged]
  expected = status(tmp_path / "whole")["fingerprints"]
  for trial in healthy:
    assert final["fingerprints"][trial] == expected[trial]
  assert all(50 <= final["games"][trial] < 54 for trial in diverged)
  kept = [
    line
    for line in lines(tmp_path / "whole")
    if line["trial"] in healthy or line["test"] == 1
  ]
  assert lines(tmp_path / "broken") == kept
  stopped_run(tmp_path / "cut", console, monkeypatch, **fields)
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert results(tmp_path / "cut") == results(tmp_path / "broken")


def test_a_run_all_of_whose_trials_diverge_ends(tmp_path, console):
  learner = {"kind": "toy", "breaks_at": 40}
  config = toy_learner.make_config(trials=1, learner=learner, seed=1)
  assert loop.start(config, tmp_path / "run", console).is_finished
  assert status(tmp_path / "run")["diverged"] == [0]
  assert [line["test"] for line in lines(tmp_path / "run")] == [1]
  assert loop.resume(tmp_path / "run", console).is_finished


def test_an_impossible_directory_is_explained(tmp_path, console):
  (tmp_path / "file").write_text("")
  with pytest.raises(ValueError, match=r"cannot write into .*: Not a directory"):
    loop.start(toy_learner.make_config(), tmp_path / "file/run", console)


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
  stopped_run(tmp_path / "run", console, monkeypatch, trials=3)
  with monkeypatch.context() as patch:
    patch.setattr(os, "fsync", no_space)
    with pytest.raises(ValueError, match=r"cannot write into .*: No space left on dev"):
      loop.resume(tmp_path / "run", console)
  assert loop.resume(tmp_path / "run", console).is_finished
  assert results(tmp_path / "run") == results(tmp_path / "whole")


def test_tensorboard_curves_are_written(tmp_path, console):
  config = toy_learner.make_config(trials=1, games=25)
  loop.start(config, tmp_path / "run", console, tensorboard=True)
  (file,) = (tmp_path / "run/tensorboard").iterdir()
  assert b"score/trial_0" in file.read_bytes()


def test_a_second_start_compiles_nothing(tmp_path, console, monkeypatch):
  misses: list[str] = []

  def count(event: str, **_) -> None:
    if event == "/jax/compilation_cache/cache_misses":
      misses.append(event)

  before = {
    name: getattr(jax.config, name)
    for name in (
      "jax_compilation_cache_dir",
      "jax_persistent_cache_min_compile_time_secs",
    )
  }
  jax.monitoring.register_event_listener(count)
  try:
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "cache"))
    compilation_cache.reset_cache()
    assert devices.enable_compilation_cache() == tmp_path / "cache"
    loop.start(toy_learner.make_config(trials=1), tmp_path / "first", console)
    assert misses
    misses.clear()
    # Another seed and other numbers of games are no other program.
    config = toy_learner.make_config(trials=1, seed=5, games=50)
    loop.start(config, tmp_path / "second", console)
    assert not misses
  finally:
    jax.monitoring.unregister_event_listener(count)
    for name, value in before.items():
      jax.config.update(name, value)
    compilation_cache.reset_cache()


def test_a_terminal_shows_a_bar(tmp_path):
  console = rich.console.Console(file=io.StringIO(), force_terminal=True, width=150)
  loop.start(toy_learner.make_config(trials=1), tmp_path / "run", console)
  assert "games/s" in said(console)
  assert "score" in said(console)


def test_trials_on_devices_do_not_communicate():
  config = toy_learner.make_config(trials=4)
  learner = toy_learner.ToyLearner(config)
  program = programs.Programs(learner, players.Random(learner.game), config)
  assert program.num_devices == 2
  program.advance(program.init(), np.full(4, 5, np.int32))
  text = program._compiled["advance"].as_text()
  for operation in ("all-reduce", "all-gather", "all-to-all", "collective-permute"):
    assert operation not in text


# Real processes.


def process(*arguments: str | pathlib.Path) -> subprocess.Popen:
  return subprocess.Popen(
    [sys.executable, toy_learner.__file__, *map(str, arguments)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
  )


def wait_for_lines(
  path: pathlib.Path, num_lines: int, running: subprocess.Popen
) -> None:
  while running.poll() is None:
    if path.exists() and path.read_bytes().count(b"\n") >= num_lines:
      return
    time.sleep(0.005)


SLOW = ["games=2000", "trials=2", "test={every: 100, games: 6, against: random}"]


def test_a_killed_process_resumes_to_the_same_bits(tmp_path):
  whole = process("start", tmp_path / "whole", *SLOW)
  output, _ = whole.communicate()
  assert whole.returncode == 0, output
  generator = random.Random(0)
  run = tmp_path / "cut"
  running = process("start", run, *SLOW)
  num_kills = 0
  for num_lines in (0, 3, 25):
    wait_for_lines(run / "metrics.jsonl", num_lines, running)
    time.sleep(generator.uniform(0, 0.15))
    running.kill()
    running.communicate()
    num_kills += running.returncode == -signal.SIGKILL
    running = process(
      "resume" if (run / "config.yaml").exists() else "start", run, *SLOW
    )
  output, _ = running.communicate()
  assert running.returncode == 0, output
  assert num_kills >= 2
  assert results(run) == results(tmp_path / "whole")


def test_a_full_disk_is_explained_and_loses_nothing(tmp_path, console, monkeypatch):
  fields = {"trials": 3, "learner": {"kind": "toy", "size": 5000}}
  loop.start(toy_learner.make_config(**fields), tmp_path / "whole", console)
  stopped_run(tmp_path / "run", console, monkeypatch, **fields)
  running = process("resume", tmp_path / "run")
  # No file may grow beyond this, as if the disk were full.
  resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (4000, 4000))
  output, _ = running.communicate()
  assert running.returncode != 0
  assert "ValueError: cannot write a checkpoint into" in output.splitlines()[-1]
  assert "File too large" in output.splitlines()[-1]
  assert loop.resume(tmp_path / "run", console).is_finished
  assert results(tmp_path / "run") == results(tmp_path / "whole")
