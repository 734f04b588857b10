"""Speed of training, in the chunks and tests of real runs."""

from collections.abc import Callable, Iterable, Mapping
import statistics
import time
from typing import Any, NamedTuple

import jax
import numpy as np
from rich import box
from rich import console
from rich import table as rich_table
from rich import text

from train import config as config_lib
from train.bench import profile
from train.run import programs
from train.run import provenance
from train.run import trials as trials_lib

__all__ = ["RUNS", "measure", "num_cores", "table"]

# Training games between two tests, and games of a test, as in the ttt3d paper.
TRAINING_GAMES, TEST_GAMES = 10_000, 1_000

# Enough for hundreds of steps; a profile of a second takes several to be written.
PROFILED_SECONDS = 0.1

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
  name: str,
  parallel_games: int,
  *,
  trials: int = 1,
  minibatch: int | None = None,
  opponent: str = "self",
  share: float = 1.0,
) -> Run:
  """Returns a run of the ttt3d paper with one of `NETWORKS`."""
  detectors, hidden = NETWORKS[name]
  return Run(
    {
      "game": "ttt3d",
      "learner": {
        "kind": "td",
        "network": {"detectors": detectors, "hidden": hidden},
        "minibatch": minibatch,
      },
      "opponent": opponent,
      "trials": trials,
      "parallel_games": parallel_games,
      "test": {"against": "benchmark"},
    },
    share,
  )


def tabular(game: str, *, trials: int = 100, share: float = 0.3) -> Run:
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


DEEP, WIDE = NETWORKS
VERSUS = "benchmark"

# A number is that of the games in parallel; runs with `minibatches` have such of 16.
RUNS: dict[str, Run] = {
  "ten_trials_1": network(DEEP, 1, trials=10, share=0.01),
  "ten_trials_16": network(DEEP, 16, trials=10, share=0.06),
  "ten_trials": network(DEEP, 64, trials=10, share=0.1),
  "one_trial": network(DEEP, 64, share=0.3),
  "deep_structured_256": network(DEEP, 256, share=0.5),
  "deep_structured_1024": network(DEEP, 1024, share=0.5),
  "minibatches_1024": network(DEEP, 1024, minibatch=16, share=0.5),
  "minibatches_4096": network(DEEP, 4096, minibatch=16),
  "wide_ten_trials_16": network(WIDE, 16, trials=10, share=0.1),
  "wide_unstructured_256": network(WIDE, 256),
  "wide_unstructured_1024": network(WIDE, 1024),
  "wide_minibatches_1024": network(WIDE, 1024, minibatch=16),
  "versus_ten_trials_16": network(DEEP, 16, trials=10, opponent=VERSUS, share=0.1),
  "against_benchmark": network(DEEP, 256, opponent=VERSUS),
  "versus_minibatches_1024": network(DEEP, 1024, minibatch=16, opponent=VERSUS),
  "tabular_tictactoe": tabular("tictactoe"),
  "tabular_connect4_4x4": tabular("connect4_4x4"),
  "gomoku_one_trial": gomoku(trials=1, share=0.06),
  "gomoku_ten_trials": gomoku(trials=10, share=0.02),
}


# What is reported of each run, besides parts: the heading, and how it is written.
RATES = {
  "games_per_second": ("games/s", ",.0f"),
  "moves_per_second": ("plies/s", ",.0f"),
  "core_microseconds_per_move": ("us per ply\nand core", ",.2f"),
  "compile_seconds": ("seconds to\ncompile", ".1f"),
}


class Timing(NamedTuple):
  """The timing of a run.

  Attributes:
    games_per_second: games of all trials per second of wall time.
    moves_per_second: moves of both sides in all games per second.
    test_share: the time of the tests, relative to the training between them.
    compile_seconds: the time to compile all programs, or to load them from the cache.
    parts: the shares of `profile.PARTS` in the time of a step; none if not available.
  """

  games_per_second: float
  moves_per_second: float
  test_share: float
  compile_seconds: float
  parts: Mapping[str, float]


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
    For each run, prefixed with `train_NAME`: `_games_per_second` and
    `_moves_per_second`, of both sides; `_core_microseconds_per_move`, of wall time
    times `num_cores`; `_compile_seconds`; and for each of `profile.PARTS`, if the
    profiler can tell, its share in the time of a step, as `_update_share`.
    And ratios: `train_ten_trials_cost`, the time of ten trials relative to one;
    `train_opponent_cost` and `train_test_cost`, the time of the benchmark opponent's
    moves and of the tests, relative to training.
  """
  timings = {}
  with profile.names_in_cache():
    for name, run in runs.items():
      progress_fn(name)
      timings[name] = _time(run, num_games, num_rounds)
  numbers: dict[str, float] = {}
  for name, timing in timings.items():
    numbers.update(
      {f"train_{name}_{key}": value for key, value in _numbers(timing).items()}
    )
  if {"one_trial", "ten_trials"} <= set(timings):
    one, ten = timings["one_trial"], timings["ten_trials"]
    numbers["train_ten_trials_cost"] = 10 * one.games_per_second / ten.games_per_second
  if {"deep_structured_256", "against_benchmark"} <= set(timings):
    alone, against = timings["deep_structured_256"], timings["against_benchmark"]
    # Against an opponent the learner makes every other move.
    own_moves_per_second = against.moves_per_second / 2
    numbers["train_opponent_cost"] = alone.moves_per_second / own_moves_per_second - 1
    numbers["train_test_cost"] = against.test_share
  return numbers


def num_cores() -> int:
  """Returns how many cores this process may use; of accelerators, how many there are."""
  on_cpu = jax.default_backend() == "cpu"
  return provenance.num_cores() if on_cpu else jax.device_count()


def table(numbers: Mapping[str, float]) -> console.Group:
  """Returns the results of `measure` as tables: of speed, and of where time goes."""
  suffix = "_games_per_second"
  names = [key.removesuffix(suffix) for key in numbers if key.endswith(suffix)]
  return console.Group(_speed_table(numbers, names), "", _parts_table(numbers, names))


def _speed_table(numbers: Mapping[str, float], names: list[str]) -> rich_table.Table:
  result = _new_table("Training", (heading for heading, _ in RATES.values()))
  for name in names:
    cells = (format(numbers[f"{name}_{key}"], spec) for key, (_, spec) in RATES.items())
    result.add_row(name.removeprefix("train_"), *cells)
  ratios = {
    "train_ten_trials_cost": "ten trials take {:.1f} times as long as one",
    "train_opponent_cost": "the benchmark opponent adds {:.0%}",
    "train_test_cost": "tests add {:.0%}",
  }
  notes = [
    "plies: moves of both sides, in all games of all trials",
    "us per ply and core: wall microseconds x usable cores / plies",
    *(note.format(numbers[key]) for key, note in ratios.items() if key in numbers),
  ]
  result.caption = text.Text("\n".join(notes), style="table.caption")
  return result


def _parts_table(numbers: Mapping[str, float], names: list[str]) -> rich_table.Table:
  result = _new_table("Where the time of a step goes, in percent", profile.PARTS)
  for name in names:
    shares = [numbers.get(f"{name}_{part}_share") for part in profile.PARTS]
    cells = ("-" if share is None else f"{100 * share:.1f}" for share in shares)
    result.add_row(name.removeprefix("train_"), *cells)
  notes = [f"{part}: {meaning}" for part, meaning in profile.PARTS.items()]
  if any(f"{name}_rest_share" not in numbers for name in names):
    notes.append("-: not available, the profiler did not see the operations")
  result.caption = text.Text("\n".join(notes), style="table.caption")
  return result


def _new_table(title: str, headings: Iterable[str]) -> rich_table.Table:
  result = rich_table.Table(
    title=title, box=box.SIMPLE_HEAD, padding=0, caption_justify="left"
  )
  result.add_column("run", no_wrap=True)
  for heading in headings:
    result.add_column(heading, justify="right", no_wrap=True)
  return result


def _numbers(timing: Timing) -> dict[str, float]:
  """Returns what is reported of a run."""
  rates = (
    timing.games_per_second,
    timing.moves_per_second,
    1e6 * num_cores() / timing.moves_per_second,
    timing.compile_seconds,
  )
  shares = {f"{part}_share": share for part, share in timing.parts.items()}
  return dict(zip(RATES, rates, strict=True)) | shares


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
      rates.append(games / seconds)
      move_rates.append(float(np.mean(result.metrics["game_length"])) * games / seconds)
      shares.append((tested - trained) / seconds)
  rate = statistics.median(rates)
  num_profiled = max(1, int(PROFILED_SECONDS * rate / config.num_trials))
  until_games = (num_rounds + 1) * num_games + num_profiled
  return Timing(
    games_per_second=rate,
    moves_per_second=statistics.median(move_rates),
    test_share=statistics.median(shares),
    compile_seconds=compiled.compile_seconds,
    parts=profile.shares(
      lambda: trials.advance(every_trial, until_games), compiled.training_text()
    ),
  )


def _config(run: Run, num_games: int) -> config_lib.RunConfig:
  num_tests = max(2, num_games * TEST_GAMES // TRAINING_GAMES)
  test = {**run.fields["test"], "every": num_games, "games": num_tests}
  return config_lib.RunConfig(**{**run.fields, "games": num_games, "test": test})
