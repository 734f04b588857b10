"""The benchmarks measure what they claim, on machines of any speed."""

import functools
import math

import pytest
import rich.console

from jaxgames import game as game_lib
from jaxgames import players
from train.bench import games as bench
from train.bench import profile
from train.bench import training as bench_training

# One process makes what all of these share.
pytestmark = pytest.mark.xdist_group("bench")

TINY = {"num_lanes": 8, "num_plies": 12, "num_rounds": 2}
OURS = ("moves_per_second", "games_per_second", "cost_growth")


def draw(table, width=120):
  console = rich.console.Console(width=width)
  with console.capture() as capture:
    console.print(table)
  return capture.get()


@pytest.fixture(scope="module")
def numbers():
  return bench.measure(**TINY)


def test_all_numbers_are_there_and_positive(numbers):
  expected = {f"{name}_{key}" for name in game_lib.GAMES for key in OURS}
  for peer, names in (("pgx", bench.PGX_NAMES), ("openspiel", bench.OPENSPIEL_NAMES)):
    expected |= {f"{name}_vs_{peer}" for name in names}
    expected |= {f"{name}_{peer}_moves_per_second" for name in names}
  assert set(numbers) == expected
  for key, number in numbers.items():
    assert type(number) is float, key
    assert math.isfinite(number), key
    # So few moves may not finish a game of gomoku.
    assert number > 0 or key == "gomoku_games_per_second", key


def test_games_and_moves_per_second_are_consistent():
  numbers = bench.measure(["tictactoe"], num_lanes=8, num_plies=200, num_rounds=2)
  moves = numbers["tictactoe_moves_per_second"] / numbers["tictactoe_games_per_second"]
  assert 5 <= moves <= 9


def test_table_shows_every_game_and_what_is_left_out(numbers):
  text = draw(bench.table(numbers))
  for name in game_lib.GAMES:
    assert name in text
  assert "openspiel does not have ttt3d" in text
  assert "pgx does not have connect4_4x4, ttt3d, gomoku" in text


def test_missing_peers_are_left_out_with_a_note(monkeypatch):
  monkeypatch.setattr(bench, "_is_installed", lambda peer: False)
  numbers = bench.measure(["tictactoe"], **TINY)
  assert set(numbers) == {f"tictactoe_{key}" for key in OURS}
  text = draw(bench.table(numbers))
  assert "pip install 'jaxgames[pgx]'" in text
  assert "pip install 'jaxgames[openspiel]'" in text


def test_peers_play_as_many_games_as_are_counted():
  search = bench._openspiel("tic_tac_toe", 1000, 7.6)
  root = search.run_fn(1)
  assert root.explore_count == 1
  # The mean of a thousand results: the first player wins some 0.3 more than it loses.
  assert 0.15 < root.total_reward < 0.45
  assert (root.total_reward * 1000) == pytest.approx(round(root.total_reward * 1000))
  assert search.num_moves == 7600


def test_mean_length_is_that_of_complete_games():
  player = players.Random(game_lib.make("tictactoe"))
  assert bench._mean_length(player, 20_000) == pytest.approx(7.5, abs=0.2)


def test_progress_is_reported_before_each_game():
  reported = []
  bench.measure(["connect4_4x4", "tictactoe"], **TINY, progress_fn=reported.append)
  assert reported == ["connect4_4x4", "tictactoe"]


def test_wrong_arguments_are_refused():
  with pytest.raises(ValueError, match="num_lanes must be at least 1, not 0"):
    bench.measure(num_lanes=0)
  with pytest.raises(ValueError, match="no game 'chess'"):
    bench.measure(["chess"])


def small(**options) -> bench_training.Run:
  """Returns a run of a network on a board that compiles fast."""
  run = bench_training.network("wide_unstructured", 4, **options)
  test = {**run.fields["test"], "against": "random"}
  fields = {**run.fields, "game": "tictactoe", "test": test}
  return run._replace(fields=fields)


@pytest.fixture(scope="module")
def training():
  """Two devices share some trials; one trial has minibatches."""
  runs = {
    "one_trial": small(minibatch=2),
    "ten_trials": small(trials=2),
    "deep_structured_256": small(),
    "against_benchmark": small(opponent="benchmark"),
    "tabular_tictactoe": bench_training.tabular("tictactoe", trials=1),
  }
  return runs, bench_training.measure(runs, num_games=20, num_rounds=1)


def test_training_is_measured_under_its_contract_names(training):
  runs, numbers = training
  per_run = (
    "games_per_second",
    "moves_per_second",
    "core_microseconds_per_move",
    "compile_seconds",
    *(f"{part}_share" for part in profile.PARTS),
  )
  assert set(numbers) == {
    *(f"train_{name}_{key}" for name in runs for key in per_run),
    "train_ten_trials_cost",
    "train_opponent_cost",
    "train_test_cost",
  }
  assert all(math.isfinite(number) for number in numbers.values())


def test_rates_of_training_are_consistent(training):
  runs, numbers = training
  for name in runs:
    of = functools.partial("train_{}_{}".format, name)
    moves = numbers[of("moves_per_second")]
    assert 5 <= moves / numbers[of("games_per_second")] <= 9
    microseconds = numbers[of("core_microseconds_per_move")]
    assert microseconds * moves == pytest.approx(1e6 * bench_training.num_cores())


def test_parts_of_training_add_up_and_are_found(training):
  runs, numbers = training
  for name in runs:
    parts = {part: numbers[f"train_{name}_{part}_share"] for part in profile.PARTS}
    assert sum(parts.values()) == pytest.approx(1)
    # Random numbers may be fused with what they are drawn for.
    assert all(parts[part] > 0 for part in ("move", "rules", "update"))
    # Names that were lost on the way would make all of it the rest.
    assert parts["rest"] < 0.5, parts
  assert numbers["train_against_benchmark_answer_share"] > 0
  assert numbers["train_one_trial_answer_share"] == 0


def test_tables_of_training_fit_a_terminal():
  keys = (*bench_training.RATES, *(f"{part}_share" for part in profile.PARTS))
  numbers = {f"train_{run}_{key}": 1e6 for run in bench_training.RUNS for key in keys}
  numbers |= {key: 0.25 for key in numbers if key.endswith("_share")}
  drawn = draw(bench_training.table(numbers), width=80)
  for name in (*bench_training.RUNS, *profile.PARTS):
    assert name in drawn
  assert "25.0" in drawn
  assert "not available" not in drawn


def test_a_profile_that_saw_nothing_is_said():
  numbers = {f"train_some_{key}": 1.0 for key in bench_training.RATES}
  assert "not available" in draw(bench_training.table(numbers))
