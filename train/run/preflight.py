"""What can be found out about runs before the first one trains, but not without jax."""

from collections.abc import Collection
import pathlib

import jax
import numpy as np

import jaxgames
from jaxgames.players import base as players_base
from train import config as config_lib
from train.config import agent_names
from train.learners import base
from train.learners.common import fields
from train.run import agents
from train.run import exact
from train.run import memory
from train.run import programs

__all__ = ["check", "needs_run_of"]


def check(config: config_lib.RunConfig) -> frozenset[str]:
  """Checks that a run's learner and players can be made, and fit into memory.

  Returns:
    The names of the metrics that its tests will have.

  Raises:
    ValueError: if that cannot be; one sentence.
  """
  game, test = jaxgames.make(config.game), config.test
  learner = programs.make_learner(config)
  opponents = [
    agents.make(game, spec) for spec in (test.against, *test.also_against.values())
  ]
  memory.check_run(config, learner, opponents)
  state = jax.eval_shape(learner.init, jax.random.key(0), np.int32(0))
  if test.exact:
    jax.eval_shape(lambda state: _check_exact(learner, state), state)
  _, metrics = jax.eval_shape(learner.report, state)
  ends = ("wins", "draws", "losses")
  shares = {f"{name}_{end}" for name in test.also_against for end in ends}
  of_tests = {*programs.RESERVED, *shares, *exact.metric_names(test.exact)}
  taken = sorted(of_tests & set(metrics))
  if taken:
    raise ValueError(f"the learner reports {', '.join(taken)}, which tests report")
  return frozenset({*of_tests, *metrics})


def _check_exact(learner: base.Learner, state: base.LearnerState) -> tuple[()]:
  """Refuses, while it is traced, agents that exact tests cannot examine."""
  if not players_base.chooses_by_position(learner.agent(learner.parameters(state))):
    raise ValueError("test.exact: this learner's agents cannot be tested exactly")
  return ()


def needs_run_of(
  config: config_lib.RunConfig, directories: Collection[pathlib.Path]
) -> bool:
  """Returns whether a player of a run is an agent that one of some runs is to make."""
  test = config.test
  specs = [*config.training_players, test.against, *test.also_against.values()]
  paths = {
    agent_names.parse(agent).path.absolute()
    for spec in specs
    if spec != fields.SELF_PLAY
    for agent in agent_names.agents_in(spec)
  }
  return not paths.isdisjoint(path.absolute() for path in directories)
