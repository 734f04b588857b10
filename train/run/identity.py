"""What the programs of a run depend on, as text: runs that agree in it can share them."""

import json
from typing import Any

from train import config as config_lib
from train.learners import registry as learner_registry
from train.learners.common import fields
from train.run import agents
from train.run import provenance

__all__ = ["of_learner", "of_test"]

# All other fields count, so that a new one is never forgotten. These are given to
# programs, or used on the host alone; places are counted beside them.
NOT_COMPILED = {"seed", "trials", "checkpoint", "paper", "test"}
NOT_COMPILED_IN_TEST = {"every", "also_at"}


def of_learner(config: config_lib.RunConfig, num_devices: int) -> str:
  """Returns what the programs that train depend on, apart from places."""
  values = config_lib.to_mapping(config)
  kind = learner_registry.KINDS[config.learner.kind]
  return _as_text(
    {
      **{key: values[key] for key in values if key not in NOT_COMPILED},
      "opponent": config.opponents,
      "class": kind.learner,
      "agents": _agents(config.training_players),
      "environment": provenance.environment(num_devices),
    }
  )


def of_test(config: config_lib.RunConfig) -> str:
  """Returns what the program that tests depends on beside the learner."""
  values = config_lib.to_mapping(config)["test"]
  specs = [config.test.against, *config.test.also_against.values()]
  return _as_text(
    {
      **{key: values[key] for key in values if key not in NOT_COMPILED_IN_TEST},
      "agents": _agents(specs),
    }
  )


def _agents(specs: list[str]) -> list[Any]:
  """Returns what agents among players are: a path may have another one tomorrow."""
  named = [spec for spec in specs if spec != fields.SELF_PLAY]
  return [found for spec in named for found in agents.identities(spec)]


def _as_text(values: dict[str, Any]) -> str:
  return json.dumps(values)  # In order: several opponents are counted in theirs.
