"""Speed of training, in the chunks and tests of real runs."""

from collections.abc import Callable, Mapping
import statistics
import time
from typing import Any, NamedTuple

import numpy as np
from rich import table as rich_table

from train import config as config_lib
from train.run import programs
from train.run import trials as trials_lib

__all__ = ["RUNS", "measure", "table"]

# Training games between two tests, and games of a test, as in the ttt3d paper.
TRAINING_GAMES, TEST_GAMES = 10_000, 1_000

# The opponents of the hybrid paper: each has a hundred trials, all in one program.
SCRIPTS = (
  "attack-defense", "random", "defense-attack", "attack", "defense", "combined"
)  # fmt: skip


# Detectors per line and hidden layers of two networks in Table I of the ttt3d paper.
NETWORKS: dict[str, tuple[int, tuple[int, ...]]] = {
  "deep_structured": (4, (32,)),
  "wide_unstructured": (0, (169,)),
}


class Run(NamedTuple):
  """A run to be timed.

  Attributes:
    fields: the fields of its config, except for numbers of games.
    share: the share of `num_games` that it plays; runs of many trials need fewer.
  """

  fields: Mapping[str, Any]
  share: float = 1.0


def network(
  name: str, parallel_games: int, *, trials: int = 1, opponent: str = "self"
) -> Run:
  """Returns a run of the ttt3d paper with one of `NETWORKS`."""
  detectors, hidden = NETWORKS[name]
  return Run(
    {
      "game": "ttt3d",
      "learner": {"kind": "td", "network": {"detectors": detectors, "hidden": hidden}},
      "opponent": opponent,
      "trials": trials,
      "parallel_games": parallel_games,
      "test": {"against": "benchmark"},
    }
  )


def tabular(game: str, *, trials: int = 100, share: float = 0.5) -> Run:
  """Returns a run of the hybrid paper, with trials against each of its opponents."""
  return Run(
    {
      "game": game,
      "learner": {"kind": "tabular"},
      "opponent": {name.replace("-", "_"): name for name in SCRIPTS},
      "trials": trials,
      "test": {"against": "random", "starts": "never"},
    },
    share,
  )


def gomoku(*, trials: int, share: float) -> Run:
  """Returns a run of the gomoku paper's first case."""
  return Run(
    {
      "game": "gomoku",
      "learner": {"kind": "adp"},
      "trials": trials,
      "parallel_games": 16,
      "test": {"against": "ladder:level=2"},
    },
    share,
  )


RUNS: dict[str, Run] = {
  "deep_structured_256": network("deep_structured", 256),
  "deep_structured_1024": network("deep_structured", 1024),
  "wide_unstructured_256": network("wide_unstructured", 256),
  "wide_unstructured_1024": network("wide_unstructured", 1024),
  "one_trial": network("deep_structured", 64),
  "ten_trials": network("deep_structured", 64, trials=10),
  "against_benchmark": network("deep_structured", 256, opponent="benchmark"),
  "tabular_tictactoe": tabular("tictactoe"),
  "tabular_connect4_4x4": tabular("connect4_4x4"),
  "gomoku_one_trial": gomoku(trials=1, share=0.1),
  "gomoku_ten_trials": gomoku(trials=10, share=0.05),
}


class Timing(NamedTuple):
  """The timing of a run.

  Attributes:
    games_per_second: games of all trials per second of wall time.
    moves_per_second: the learner's moves in all games per second.
    test_share: the time of the tests, relative to the training between them.
    compile_seconds: the time to compile all programs, or to load them from the cache.
  """

  games_per_second: float
  moves_per_second: float
  test_share: float
  compile_seconds: float


def measure(
  runs: Mapping[str, Run] = RUNS,
  *,
  num_games: int = TRAINING_GAMES,
  num_rounds: int = 3,
  progress_fn: Callable[[str], None] = lambda name: None,
) -> dict[str, float]:
  """Measures training on the available devices.

  Args:
    runs: the runs by name.
    num_games: the games of each trial in each round, after as many to warm up; a run
      with a share plays that share of them.
    num_rounds: the number of rounds; every result is a median over them.
    progress_fn: called with the name of each run before it is measured.

  Returns:
    For each run `train_NAME_games_per_second` and `train_NAME_compile_seconds`; and
    ratios: `train_ten_trials_cost`, the time of ten trials relative to one;
    `train_opponent_cost` and `train_test_cost`, the time of the benchmark opponent's
    moves and of the tests, relative to training.
  """
  timings = {}
  for name, run in runs.items():
    progress_fn(name)
    timings[name] = _time(run, num_games, num_rounds)
  numbers: dict[str, float] = {}
  for name, timing in timings.items():
    numbers[f"train_{name}_games_per_second"] = timing.games_per_second
    numbers[f"train_{name}_compile_seconds"] = timing.compile_seconds
  if {"one_trial", "ten_trials"} <= set(timings):
    one, ten = timings["one_trial"], timings["ten_trials"]
    numbers["train_ten_trials_cost"] = 10 * one.games_per_second / ten.games_per_second
  if {"deep_structured_256", "against_benchmark"} <= set(timings):
    alone, against = timings["deep_structured_256"], timings["against_benchmark"]
    numbers["train_opponent_cost"] = (
      alone.moves_per_second / against.moves_per_second - 1
    )
    numbers["train_test_cost"] = against.test_share
  return numbers


def table(numbers: Mapping[str, float]) -> rich_table.Table:
  """Returns the results of `measure` as a table."""
  result = rich_table.Table("training", title="Training")
  for heading in ("games per second", "seconds to compile"):
    result.add_column(heading, justify="right")
  suffix = "_games_per_second"
  for key in (key for key in numbers if key.endswith(suffix)):
    name = key.removesuffix(suffix)
    seconds = numbers[f"{name}_compile_seconds"]
    result.add_row(
      name.removeprefix("train_"), f"{numbers[key]:,.0f}", f"{seconds:.1f}"
    )
  ratios = {
    "train_ten_trials_cost": "ten trials take {:.1f} times as long as one",
    "train_opponent_cost": "the benchmark opponent adds {:.0%}",
    "train_test_cost": "tests add {:.0%}",
  }
  result.caption = "; ".join(
    text.format(numbers[key]) for key, text in ratios.items() if key in numbers
  )
  return result


def _time(run: Run, num_games: int, num_rounds: int) -> Timing:
  num_games = max(1, int(run.share * num_games))
  config = _config(run, num_games)
  compiled = programs.Programs(config)
  trials = trials_lib.Trials(compiled, compiled.init())
  every_trial = np.arange(config.num_trials)
  rates, move_rates, shares = [], [], []
  for number in range(num_rounds + 1):
    before = time.perf_counter()
    trials.advance(every_trial, (number + 1) * num_games)
    trained = time.perf_counter()
    result = trials.test(every_trial, number + 1)
    tested = time.perf_counter()
    if number > 0:  # The first round compiles, and starts with untrained agents.
      seconds, games = trained - before, num_games * config.num_trials
      moves = float(np.mean(result.metrics["game_length"])) * games
      # Against an opponent the learner makes every other move.
      own_moves = moves if config.opponent == "self" else moves / 2
      rates.append(games / seconds)
      move_rates.append(own_moves / seconds)
      shares.append((tested - trained) / seconds)
  return Timing(
    games_per_second=statistics.median(rates),
    moves_per_second=statistics.median(move_rates),
    test_share=statistics.median(shares),
    compile_seconds=compiled.compile_seconds,
  )


def _config(run: Run, num_games: int) -> config_lib.RunConfig:
  num_tests = max(2, num_games * TEST_GAMES // TRAINING_GAMES)
  test = {**run.fields["test"], "every": num_games, "games": num_tests}
  return config_lib.RunConfig(**{**run.fields, "games": num_games, "test": test})
