"""What runs must have in common to share their programs."""

import numpy as np
import pytest

from train import config as config_lib
from train.run import agent_file
from train.run import identity

NETWORK = {"detectors": 0, "hidden": [2]}


def make_config(**fields) -> config_lib.RunConfig:
  values = {
    "game": "tictactoe",
    "learner": {"kind": "td", "network": NETWORK},
    "games": 100,
    "test": {"every": 10, "games": 4, "against": "random"},
  }
  return config_lib.RunConfig(**{**values, **fields})


def identities(**fields) -> tuple[str, str]:
  config = make_config(**fields)
  return identity.of_learner(config, 1), identity.of_test(config)


@pytest.mark.parametrize(
  "fields",
  [
    {"seed": 3},
    {"trials": 5},
    {"checkpoint": {"every": 2}},
    {"test": {"every": 20, "games": 4, "against": "random", "also_at": [5]}},
  ],
)
def test_what_is_given_to_programs_or_never_compiled_does_not_count(fields):
  assert identities(**fields) == identities()


@pytest.mark.parametrize(
  "fields",
  [
    {"game": "connect4_4x4"},
    {"games": 200},  # Learning rates may fall with it.
    {"parallel_games": 2},
    {"opponent": "random"},
    {"learner": {"kind": "td", "network": NETWORK, "learning_rate": 0.5}},
  ],
)
def test_training_counts(fields):
  (mine, my_test), (usual, usual_test) = identities(**fields), identities()
  assert mine != usual
  assert my_test == usual_test


def test_tests_count_for_themselves():
  learner, test = identities(test={"every": 10, "games": 6, "against": "random"})
  assert learner == identities()[0]
  assert test != identities()[1]


def test_the_opponent_of_the_tests_counts_where_it_trains():
  tests = [{"every": 10, "games": 4, "against": name} for name in ("random", "attack")]
  first, second = (identities(test=test, opponent="tested")[0] for test in tests)
  assert first != second


def test_an_agent_counts_by_what_it_is(tmp_path):
  file = tmp_path / "agent.safetensors"
  found = []
  for value in (0.0, 1.0, 0.0):
    parameters = {"kernel": np.full(3, value, np.float32)}
    agent_file.write(file, parameters, config_lib.to_mapping(make_config()), {})
    found.append(identities(opponent=str(file))[0])
  assert found[0] != found[1]
  assert found[0] == found[2]
