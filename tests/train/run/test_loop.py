"""The loop: the same numbers however it is cut."""

import io

import jax
from jax.experimental.compilation_cache import compilation_cache
import pytest
import rich.console

from tests.support import runs
from tests.support import toy_learner
from train import config as config_lib
from train.run import checkpoint
from train.run import compiling
from train.run import devices
from train.run import loop
from train.run import programs
from train.run import trials as trials_lib

pytestmark = pytest.mark.usefixtures("toy")


def test_a_run_leaves_its_files(tmp_path, console):
  config = toy_learner.make_config()
  outcome = loop.start(config, tmp_path / "run", console)
  assert outcome == loop.Outcome(tmp_path / "run", is_finished=True)
  assert outcome.exit_code == 0
  assert config_lib.load(tmp_path / "run/config.yaml") == config
  final = runs.status(tmp_path / "run")
  assert final["name"] == "run"
  assert final["is_finished"]
  assert len(set(final["fingerprints"])) == 3
  assert final["seconds"] > 0
  assert final["versions"]["jax"] == jax.__version__
  written = runs.lines(tmp_path / "run")
  assert [(line["test"], line["trial"]) for line in written] == [
    (test, trial) for test in range(1, 5) for trial in range(3)
  ]
  for line in written:
    assert line["wins"] + line["draws"] + line["losses"] == 6
    assert line["score"] == (line["wins"] + line["draws"] / 2) / 6
    # Four games a ply may end together.
    assert 25 * line["test"] <= line["games"] < 25 * line["test"] + 4
    assert line["never"] is None
  assert "3 trials" in runs.said(console)


def test_the_last_test_is_at_the_end(tmp_path, console):
  test = {"every": 30, "games": 2, "against": "random"}
  loop.start(toy_learner.make_config(test=test, trials=1), tmp_path / "run", console)
  assert [line["games"] // 10 for line in runs.lines(tmp_path / "run")] == [3, 6, 9, 10]


def test_the_length_of_chunks_makes_no_difference(tmp_path, console, monkeypatch):
  config = toy_learner.make_config(learner={"kind": "toy", "breaks_at": 60})
  found = []
  for name, first in ("short", 1), ("long", 1000):
    monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", first)
    monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
    loop.start(config, tmp_path / name, console)
    found.append(runs.results(tmp_path / name))
  assert found[0] == found[1]


def test_a_trial_does_not_depend_on_the_others(tmp_path, console):
  # Ten trials share two devices, three do so with a place to spare, one uses one.
  for trials, num_devices in ((1, 1), (3, 2), (10, 2)):
    config = toy_learner.make_config(trials=trials)
    loop.start(config, tmp_path / str(trials), console)
    machine = runs.status(tmp_path / str(trials))["machine"]
    assert machine["devices"] == num_devices
  many = runs.lines(tmp_path / "10")
  prints = runs.status(tmp_path / "10")["fingerprints"]
  assert len(set(prints)) == 10
  for trials in (1, 3):
    assert runs.status(tmp_path / str(trials))["fingerprints"] == prints[:trials]
    few = [line for line in many if line["trial"] < trials]
    assert runs.lines(tmp_path / str(trials)) == few


def test_tests_do_not_influence_training(tmp_path, console):
  tests = [{"every": every, "games": 3, "against": "random"} for every in (20, 100)]
  for name, test in zip("ab", tests, strict=True):
    loop.start(toy_learner.make_config(test=test), tmp_path / name, console)
  first, second = (runs.status(tmp_path / name)["fingerprints"] for name in "ab")
  assert first == second


def test_the_program_is_traced_once(tmp_path, console, monkeypatch):
  monkeypatch.setattr(loop, "FIRST_CHUNK_GAMES", 5)
  monkeypatch.setattr(loop, "MOST_GROWTH", 1.0)
  learner = {"kind": "toy", "size": 11}  # No other test has this program.
  before = toy_learner.traces["step"]
  loop.start(toy_learner.make_config(learner=learner), tmp_path / "run", console)
  assert toy_learner.traces["step"] == before + 1


def test_divergence_stops_one_trial_and_harms_no_other(tmp_path, console, monkeypatch):
  loop.start(toy_learner.make_config(trials=4), tmp_path / "whole", console)
  fields = {"trials": 4, "learner": {"kind": "toy", "breaks_at": 40}}
  config = toy_learner.make_config(**fields)
  assert loop.start(config, tmp_path / "broken", console).exit_code == 0
  final = runs.status(tmp_path / "broken")
  diverged = final["diverged"]
  assert 0 < len(diverged) < 4
  assert f"trial {diverged[0]} has diverged" in runs.said(console)
  healthy = [trial for trial in range(4) if trial not in diverged]
  expected = runs.status(tmp_path / "whole")["fingerprints"]
  for trial in healthy:
    assert final["fingerprints"][trial] == expected[trial]
  assert all(50 <= final["games"][trial] < 54 for trial in diverged)
  kept = [
    line
    for line in runs.lines(tmp_path / "whole")
    if line["trial"] in healthy or line["test"] == 1
  ]
  assert runs.lines(tmp_path / "broken") == kept
  runs.stopped_run(tmp_path / "cut", console, monkeypatch, **fields)
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "broken")


def test_a_run_all_of_whose_trials_diverge_ends_and_is_no_success(tmp_path, console):
  learner = {"kind": "toy", "breaks_at": 40}
  config = toy_learner.make_config(trials=1, learner=learner, seed=1)
  outcome = loop.start(config, tmp_path / "run", console)
  assert (outcome.is_finished, outcome.has_diverged, outcome.exit_code) == (
    True,
    True,
    1,
  )
  assert runs.status(tmp_path / "run")["diverged"] == [0]
  assert [line["test"] for line in runs.lines(tmp_path / "run")] == [1]
  assert loop.resume(tmp_path / "run", console).exit_code == 1


def test_a_trial_with_nothing_left_to_learn_ends(tmp_path, console, monkeypatch):
  fields = {"trials": 6, "learner": {"kind": "toy", "ends_at": 40}}
  loop.start(toy_learner.make_config(**fields), tmp_path / "run", console)
  final = runs.status(tmp_path / "run")
  finished = final["finished"]
  assert 0 < len(finished) < 6
  assert all(40 <= final["games"][trial] < 44 for trial in finished)
  written = runs.lines(tmp_path / "run")
  for trial in range(6):
    tests = [line["test"] for line in written if line["trial"] == trial]
    assert tests == ([1, 2] if trial in finished else [1, 2, 3, 4])
  assert f"{len(finished)} ended early" in runs.said(console)
  # Stopped between, it ends the same way.
  runs.stopped_run(tmp_path / "cut", console, monkeypatch, **fields)
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "run")
  # As does one in which those that ended keep their places.
  monkeypatch.setattr(
    trials_lib, "num_places", lambda working, total, num_devices: total
  )
  loop.start(toy_learner.make_config(**fields), tmp_path / "wide", console)
  assert runs.results(tmp_path / "wide") == runs.results(tmp_path / "run")


def test_a_run_all_of_whose_trials_are_done_ends(tmp_path, console):
  learner = {"kind": "toy", "ends_at": 30}
  config = toy_learner.make_config(trials=1, learner=learner, seed=1)
  assert loop.start(config, tmp_path / "run", console).is_finished
  assert runs.status(tmp_path / "run")["finished"] == [0]
  assert [line["test"] for line in runs.lines(tmp_path / "run")] == [1, 2]
  assert loop.resume(tmp_path / "run", console).is_finished


def test_trials_are_packed_into_fewer_places():
  assert trials_lib.num_places(600, 600, 2) == 600
  for total, num_devices in ((600, 2), (10, 1), (7, 1), (1, 1)):
    widths = [trials_lib.num_places(n, total, num_devices) for n in range(1, total + 1)]
    assert widths == sorted(widths)
    assert all(width >= n for n, width in enumerate(widths, start=1))
    assert all(width % num_devices == 0 for width in widths)
    # Few programs, and few places to spare.
    assert len(set(widths)) <= 25
    assert all(
      n > width / 2 - 2 * num_devices for n, width in enumerate(widths, start=1)
    )


def test_trials_have_their_opponents(tmp_path, console):
  config = toy_learner.make_config(trials=2, opponent={"a": "random", "b": "self"})
  loop.start(config, tmp_path / "run", console)
  written = runs.lines(tmp_path / "run")
  by_trial = {line["trial"]: line["opponent"] for line in written}
  assert by_trial == {0: 0, 1: 0, 2: 1, 3: 1}
  assert runs.status(tmp_path / "run")["trials"] == 4


def test_tests_may_be_at_any_number_of_games(tmp_path, console):
  test = {"every": 60, "games": 2, "against": "random", "also_at": [10, 20]}
  config = toy_learner.make_config(test=test, trials=1, parallel_games=1)
  loop.start(config, tmp_path / "run", console)
  found = [line["games"] for line in runs.lines(tmp_path / "run")]
  assert found == list(config.test_points) == [10, 20, 60, 100]


def test_an_impossible_directory_is_explained(tmp_path, console):
  (tmp_path / "file").write_text("")
  with pytest.raises(ValueError, match=r"cannot write into .*: Not a directory"):
    loop.start(toy_learner.make_config(), tmp_path / "file/run", console)


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
    fields = {"trials": 1, "learner": {"kind": "toy", "size": 12}}
    loop.start(toy_learner.make_config(**fields), tmp_path / "first", console)
    assert misses
    misses.clear()
    # Another number of games is traced again, but is no other program.
    config = toy_learner.make_config(**fields, seed=5, games=50)
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
  assert "games/s" in runs.said(console)
  assert "score" in runs.said(console)


def test_a_place_to_spare_changes_nothing(tmp_path, console, monkeypatch):
  # A network has sums whose order, so whose bits, may depend on the number of places.
  fields = {
    "game": "tictactoe",
    "learner": {"kind": "td", "network": {"detectors": 2, "hidden": [4]}},
  }
  for trials in (3, 4):
    config = toy_learner.make_config(trials=trials, **fields)
    loop.start(config, tmp_path / str(trials), console)
  final = runs.status(tmp_path / "3")
  assert final["machine"]["devices"] == 2
  assert len(final["games"]) == len(final["fingerprints"]) == 3
  assert final["fingerprints"] == runs.status(tmp_path / "4")["fingerprints"][:3]
  of_four = [line for line in runs.lines(tmp_path / "4") if line["trial"] < 3]
  assert runs.lines(tmp_path / "3") == of_four
  runs.stopped_run(tmp_path / "cut", console, monkeypatch, trials=3, **fields)
  saved = checkpoint.restore_part(tmp_path / "cut/state", "params")
  assert {len(leaf) for leaf in jax.tree.leaves(saved.state)} == {3}
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "3")


def test_a_run_goes_on_with_the_devices_it_was_begun_on(tmp_path, console, monkeypatch):
  with monkeypatch.context() as patch:
    # As three trials on two devices were before a place could be to spare.
    patch.setattr(devices, "num_devices_for", lambda num_trials: 1)
    loop.start(toy_learner.make_config(), tmp_path / "whole", console)
    runs.stopped_run(tmp_path / "cut", console, monkeypatch)
  assert loop.resume(tmp_path / "cut", console).is_finished
  assert runs.results(tmp_path / "cut") == runs.results(tmp_path / "whole")
  assert runs.status(tmp_path / "cut")["machine"]["devices"] == 1


@pytest.mark.parametrize(
  ("num_trials", "expected"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 3), (9, 3), (10, 4)]
)
def test_as_many_devices_are_used_as_make_it_quicker(monkeypatch, num_trials, expected):
  monkeypatch.setattr(jax, "devices", lambda: [None] * 4)
  assert devices.num_devices_for(num_trials) == expected


def test_trials_on_devices_do_not_communicate():
  config = toy_learner.make_config(trials=4)
  program = programs.Programs(config)
  assert program.num_devices == 2
  text = compiling.wait(*program._recipe("advance", 4)).as_text()
  for operation in ("all-reduce", "all-gather", "all-to-all", "collective-permute"):
    assert operation not in text
