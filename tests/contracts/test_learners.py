"""What the loop relies on, demanded of every learner in the registry.

A new learner is one more line in `CASES`.
"""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pydantic
import pytest
import yaml

import jaxgames
from tests.golden import cases
from tests.support import quick
from tests.support import runs
from tests.support import training
from train import config as config_lib
from train.bench import profile
from train.learners import registry
from train.run import agent_file
from train.run import leaves
from train.run import loop
from train.run import programs

TEST = {"every": 20, "games": 10, "against": "random"}
NETWORK = {"detectors": 2, "hidden": [4]}

# Small configs of every kind of learner, against itself and against a player.
CASES: dict[str, dict[str, Any]] = {
  "td": {
    "game": "tictactoe",
    "learner": {"kind": "td", "network": NETWORK},
    "parallel_games": 4,
    "test": TEST,
  },
  "td_opponent": {
    "game": "tictactoe",
    "learner": {"kind": "td", "network": NETWORK, "starts": "random"},
    "opponent": "combined:ties=random",
    "parallel_games": 4,
    "test": TEST,
  },
  "tabular": {**cases.RUNS["tabular_opponents"], "test": {**TEST, "starts": "never"}},
  "qlearning": cases.RUNS["qlearning"],
  "dqn": cases.RUNS["dqn_self_play"],
  "dqn_opponent": cases.RUNS["dqn_opponent"],
  "adp": cases.RUNS["adp_self_play"],
}

NUM_TRIALS = 3

# One process has all tests of a case, so that its programs are compiled once.
every_case = pytest.mark.parametrize(
  "name",
  [
    pytest.param(name, marks=pytest.mark.xdist_group(f"learner {name}"))
    for name in CASES
  ],
)
every_kind = pytest.mark.parametrize("kind", registry.KINDS)


@functools.cache
def make_config(name: str) -> config_lib.RunConfig:
  return config_lib.RunConfig(**{**cases.COMMON, **CASES[name]})


@functools.cache
def make_learner(name: str):
  return programs.make_learner(make_config(name))


@functools.cache
def compiled(name: str):
  """Returns functions of several trials: their start, and training up to some games."""
  learner = make_learner(name)
  init = quick.jit(jax.vmap(functools.partial(training.begin, learner)))
  advance = jax.jit(jax.vmap(functools.partial(training.advance, learner)))
  return init, advance


@functools.cache
def trained(name: str):
  """Returns some trials with 20 games each."""
  init, advance = compiled(name)
  return advance(init(keys_of(0, 1, 2)), games(20))


def games(*numbers: int) -> np.ndarray:
  """Returns the numbers of games that trials are to have, or the same for all."""
  return np.resize(np.asarray(numbers, np.int32), NUM_TRIALS)


def keys_of(*numbers: int) -> jax.Array:
  return jax.vmap(jax.random.key)(jnp.asarray(numbers))


def test_every_learner_has_a_case():
  assert {CASES[name]["learner"]["kind"] for name in CASES} == set(registry.KINDS)


@every_case
def test_chunk_lengths_make_no_difference(name):
  init, advance = compiled(name)
  state = init(keys_of(0, 1, 2))
  for until in (1, 7, 8, 20):
    state = advance(state, games(until))
  chex.assert_trees_all_equal(state, trained(name))


@every_case
def test_trials_differ_and_do_not_depend_on_each_other(name):
  init, advance = compiled(name)
  others = advance(init(keys_of(5, 1, 6)), games(20))
  middle = [jax.tree.map(lambda x: x[1], trials) for trials in (trained(name), others)]
  chex.assert_trees_all_equal(*middle)
  parameters = jax.vmap(make_learner(name).parameters)(trained(name))
  flat = [
    np.asarray(leaf).reshape(NUM_TRIALS, -1) for leaf in jax.tree.leaves(parameters)
  ]
  rows = np.concatenate(flat, axis=1)
  assert len(np.unique(rows, axis=0)) == NUM_TRIALS


@every_case
def test_trials_with_other_targets_do_not_matter(name):
  init, advance = compiled(name)
  uneven = advance(init(keys_of(0, 1, 2)), games(3, 20, 40))
  middle = [jax.tree.map(lambda x: x[1], trials) for trials in (trained(name), uneven)]
  chex.assert_trees_all_equal(*middle)


@every_case
def test_nothing_is_compiled_twice(name):
  init, advance = compiled(name)
  state = init(keys_of(0, 1, 2))
  before = advance._cache_size()
  for until in (2, 3):
    # What comes out goes in again: a dtype or weak type that drifts would show here.
    state = advance(state, games(until))
  assert advance._cache_size() - before <= (before == 0)


@every_case
def test_an_inactive_trial_stays_as_it_is(name):
  learner = make_learner(name)
  state = jax.tree.map(lambda x: x[0], trained(name))
  after = quick.jit(learner.step)(state, jnp.bool_(False))
  chex.assert_trees_all_equal(after, state)


@every_case
def test_games_are_counted_and_a_new_trial_is_not_done(name):
  learner = make_learner(name)
  init, _ = compiled(name)
  start = init(keys_of(0, 1, 2))
  assert (jax.vmap(learner.num_games)(start) == 0).all()
  assert not jax.vmap(learner.is_done)(start).any()
  num_games = np.asarray(jax.vmap(learner.num_games)(trained(name)))
  assert (num_games >= 20).all()
  assert (num_games < 20 + make_config(name).parallel_games).all()


@every_case
def test_a_report_has_finite_numbers_and_clears_them(name):
  learner = make_learner(name)
  report = quick.jit(learner.report)
  state = jax.tree.map(lambda x: x[0], trained(name))
  cleared, metrics = report(state)
  for metric, value in metrics.items():
    chex.assert_shape(value, ())
    assert np.isfinite(value), metric
  assert float(metrics["game_length"]) > 0
  # Nothing but what is counted changes, and of nothing there is no average.
  chex.assert_trees_all_equal(learner.parameters(cleared), learner.parameters(state))
  _, again = report(cleared)
  assert not np.isfinite(again["game_length"])


@every_case
def test_no_key_is_used_twice(name):
  learner = make_learner(name)
  # `step` returns the old key of an inactive trial, which the checker takes for a use.
  is_active = jnp.bool_(True)
  step = getattr(learner, "_step", functools.partial(learner.step, is_active=is_active))
  with jax.debug_key_reuse(True):
    state = quick.jit(functools.partial(training.begin, learner))(jax.random.key(0))
    quick.jit(step)(state)


@every_case
def test_training_lowers_for_cuda_and_tpu(name):
  assert "callback" not in training.lower(make_learner(name))


@every_case
def test_profiles_find_the_parts_of_a_step(name):
  learner = make_learner(name)
  state = jax.eval_shape(functools.partial(training.begin, learner), jax.random.key(0))
  step = functools.partial(learner.step, is_active=jnp.bool_(True))
  text = jax.jit(step).lower(state).as_text(debug_info=True)
  named = {scope for scope in profile.SCOPES if re.search(rf"[/(]{scope}[/)]", text)}
  assert named >= {"move", "rules", "update"}
  assert ("answer" in named) == (make_config(name).opponent != "self")


@every_case
def test_the_agent_needs_nothing_but_the_parameters(name, tmp_path):
  learner, config = make_learner(name), make_config(name)
  kind = registry.KINDS[config.learner.kind]
  state = jax.tree.map(lambda x: x[0], trained(name))
  parameters = learner.parameters(state)
  # They are where the registry says, so that agents are found in checkpoints.
  here = [
    leaf
    for leaf_name, leaf in leaves.named_leaves(state)
    if leaf_name == kind.parameters or leaf_name.startswith(f"{kind.parameters}/")
  ]
  chex.assert_trees_all_equal(here, jax.tree.leaves(parameters))
  file = tmp_path / "agent.safetensors"
  agent_file.write(file, parameters, config_lib.to_mapping(config), {})
  read = agent_file.read(file).parameters
  chex.assert_trees_all_equal(read, jax.device_get(parameters))
  game = jaxgames.make(config.game)
  agent = kind.make_agent(game, config.learner.settings, read)
  act = quick.jit(lambda player, state, key: player.act((), state, key))
  position = game.init()
  for number in range(4):
    key = jax.random.key(number)
    action = act(agent, position, key)
    assert int(action) == int(act(learner.agent(parameters), position, key))
    position = game.step(position, int(action))


# Settings.


def settings_fields(
  model: type[pydantic.BaseModel], before: str = ""
) -> list[tuple[str, Any]]:
  """Returns the paths of all settings, and their types."""
  found = []
  for field, info in model.model_fields.items():
    annotation = info.annotation
    is_model = isinstance(annotation, type) and issubclass(
      annotation, pydantic.BaseModel
    )
    if is_model:
      found += settings_fields(annotation, f"{before}{field}.")
    found.append((f"{before}{field}", annotation))
  return found


def write_config(directory, kind, **changes):
  name = next(name for name in CASES if CASES[name]["learner"]["kind"] == kind)
  values = {**cases.COMMON, **CASES[name], **changes}
  file = directory / "config.yaml"
  file.write_text(yaml.safe_dump(values))
  return file


@every_kind
def test_every_setting_is_refused_by_its_name_when_it_is_nonsense(kind, tmp_path):
  file = write_config(tmp_path, kind)
  for path, _ in settings_fields(registry.KINDS[kind].settings):
    with pytest.raises(ValueError, match=rf"learner\.{path}") as raised:
      config_lib.load(file, [f"learner.{path}={{no: sense}}"])
    assert "\n" not in str(raised.value)


@every_kind
def test_unknown_settings_are_refused_with_the_known_ones(kind, tmp_path):
  file = write_config(tmp_path, kind)
  known = next(iter(registry.KINDS[kind].settings.model_fields))
  with pytest.raises(ValueError, match=rf"no field learner\.{known}x.* '{known}'"):
    config_lib.load(file, [f"learner.{known}x=1"])


@every_kind
def test_default_settings_are_written_out_and_read_back(kind, tmp_path):
  file = write_config(tmp_path, kind, learner={"kind": kind})
  config = config_lib.load(file)
  file.write_text(config_lib.dump(config))
  assert config_lib.load(file) == config


# Runs.


@every_kind
def test_a_killed_run_resumes_to_the_same_bits(kind, tmp_path, console):
  case = next(name for name in CASES if CASES[name]["learner"]["kind"] == kind)
  # Long enough to be killed, with a test often enough to know when.
  fields = {**cases.COMMON, **CASES[case], "games": 1500, "checkpoint": {"every": 2}}
  fields["test"] = {**fields["test"], "every": 50, "games": 4}
  config = config_lib.RunConfig(**fields)
  file = tmp_path / "config.yaml"
  file.write_text(config_lib.dump(config))
  loop.start(config, tmp_path / "whole", console)
  run = tmp_path / "cut"
  running = jaxgames_process("train", file, "--out", run)
  runs.wait_for_lines(run / "metrics.jsonl", 8, running)
  time.sleep(0.05)  # A checkpoint may be half written now, or not.
  running.kill()
  running.communicate()
  assert running.returncode == -signal.SIGKILL, "the run was over before it was killed"
  assert not json.loads((run / "run.json").read_text())["is_finished"]
  if kind == "td":
    resumed = jaxgames_process("resume", run)
    output, _ = resumed.communicate()
    assert resumed.returncode == 0, output
  else:  # This process is another than the one that was killed.
    assert loop.resume(run, console).is_finished
  assert runs.results(run) == runs.results(tmp_path / "whole")


def jaxgames_process(*arguments) -> subprocess.Popen:
  return subprocess.Popen(
    [sys.executable, "-m", "train", *map(str, arguments)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    env=os.environ,
  )
