"""Matches on the device: openings, distinct games, records, and the same for a seed."""

import itertools
import json

import jax
import numpy as np
import pytest
import typer.testing

import jaxgames
from jaxgames import arena
from jaxgames import players
from tests.support import positions
from tests.support import runs
from tests.support import simple_players
from tests.support import value_networks
from train import cli
from train.match import device
from train.match import openings
from train.run import bar

TICTACTOE = jaxgames.make("tictactoe")


@pytest.fixture(scope="module")
def both():
  """Two different players without chance."""
  return [value_networks.player(TICTACTOE, seed) for seed in (1, 2)]


def play(both, console, **options):
  options = {"num_games": 40, "seed": 3, **options}
  return device.play(*both, console=console, **options)


def moves_in(path):
  return [line.split(": ")[2].split() for line in path.read_text().splitlines()]


def test_players_without_chance_repeat_two_games_and_the_result_says_so(both, console):
  result = play(both, console)
  assert result.distinct == (1, 1)
  low, high = result.estimate.interval
  assert high - low > 0.5


def test_openings_are_played_with_both_sides_and_recorded(both, console, tmp_path):
  path = tmp_path / "games.txt"
  result = play(both, console, num_opening=3, record=path)
  games = moves_in(path)
  assert len(games) == 40
  assert result.num_distinct == 40
  starts = [tuple(game[:3]) for game in games]
  assert starts[::2] == starts[1::2]
  assert len(set(starts)) == 20
  results = []
  for number, (game, line) in enumerate(
    zip(games, path.read_text().splitlines(), strict=True)
  ):
    state = TICTACTOE.from_moves(map(int, game))
    assert state.is_over
    assert f"{'AB'[number % 2]} begins, the first 3 moves are the opening" in line
    results.append((1, -1)[number % 2] * int(state.winner))
  assert sum(result.wins) == results.count(1)
  assert sum(result.losses) == results.count(-1)


def test_both_sides_move_by_themselves_after_the_opening(both, console, tmp_path):
  path = tmp_path / "games.txt"
  play(both, console, num_games=6, num_opening=3, record=path)
  act = jax.jit(lambda player, state: player.act((), state, jax.random.key(0)))
  for number, game in enumerate(moves_in(path)):
    actions = list(map(int, game))
    for ply in range(3, len(actions)):
      player = both[(number + ply) % 2]
      assert act(player, TICTACTOE.from_moves(actions[:ply])) == actions[ply]


def test_neither_looks_nor_records_nor_the_clock_change_the_games(
  console, tmp_path, monkeypatch
):
  both = [players.make(TICTACTOE, "random")] * 2
  found = []
  for seconds, name in ((0.0, None), (1e9, None), (1e9, "games.txt")):
    monkeypatch.setattr(device, "SECONDS_BETWEEN_LOOKS", seconds)
    record = None if name is None else tmp_path / name
    found.append(play(both, console, num_opening=2, record=record))
  assert found[0] == found[1] == found[2]
  assert found[0].num_distinct > 30
  assert found[0] != play(both, console, num_opening=2, seed=4)


def test_long_matches_come_in_batches_with_openings_of_their_own(
  both, console, tmp_path, monkeypatch
):
  whole, parts = (tmp_path / name for name in ("whole", "parts"))
  play(both, console, num_games=15, num_opening=2, record=whole)
  monkeypatch.setattr(device, "MOST_AT_ONCE", 8)
  play(both, console, num_games=15, num_opening=2, record=parts)
  assert whole.read_text() == parts.read_text()
  assert len(moves_in(whole)) == 15


def test_all_batches_of_a_match_are_one_program(console, monkeypatch):
  monkeypatch.setattr(device, "MOST_AT_ONCE", 8)
  player = simple_players.Counted(TICTACTOE)
  result = play([player, player], console, num_games=21)
  assert result.num_games == 21
  assert player.traces.count == 2  # Once for each side.


def test_without_openings_the_games_are_those_of_the_arena(console):
  both = [players.make(TICTACTOE, name) for name in ("benchmark", "random")]
  key = jax.random.fold_in(jax.random.key(3), 0)
  score = arena.play_match(*both, key, num_games=40)
  result = play(both, console)
  for ours, theirs in zip((result.wins, result.draws), score[:2], strict=True):
    assert ours == tuple(theirs.tolist())


@pytest.mark.parametrize(("name", "num_plies"), [("tictactoe", 4), ("connect4", 7)])
def test_openings_leave_the_game_open_and_differ(name, num_plies):
  game = jaxgames.make(name)
  drawn = openings.draw(game, num_openings=100, num_plies=num_plies, seed=0)
  states = [game.from_moves(opening.tolist()) for opening in drawn]
  batch = jax.tree.map(lambda *leaves: np.stack(leaves), *states)
  seen = positions.see(game, batch)
  assert not np.asarray(batch.is_over).any()
  for state, legal in zip(states[:20], seen.legal[:20], strict=True):
    after = (game.step(state, action) for action in np.flatnonzero(legal)[:9])
    assert not any(int(s.winner) for s in itertools.islice(after, 9))
  assert len({np.asarray(game.board(state)).tobytes() for state in states}) == 100
  again = openings.draw(game, num_openings=100, num_plies=num_plies, seed=0)
  np.testing.assert_array_equal(drawn, again)
  other = openings.draw(game, num_openings=100, num_plies=num_plies, seed=1)
  assert (drawn != other).any()


def test_where_there_are_few_openings_all_come_equally_often():
  drawn = openings.draw(TICTACTOE, num_openings=27, num_plies=1, seed=0)
  assert sorted(drawn[:, 0].tolist()) == sorted([*range(9)] * 3)
  with pytest.raises(ValueError, match="openings of 9 plies"):
    openings.draw(TICTACTOE, num_openings=1, num_plies=9, seed=0)


def match(*arguments):
  command = ["match", "tictactoe", *arguments, "--games", "40", "--json"]
  result = typer.testing.CliRunner().invoke(cli.app, command)
  assert result.exit_code == 0, result.output
  assert result.stderr == ""
  return json.loads(result.stdout)


def test_openings_are_the_default_of_two_players_without_chance():
  alone = match("expert:ties=first", "expert:ties=first")
  assert (alone["openings"], alone["distinct_games"]) == (openings.DEFAULT_PLIES, 40)
  bare = match("expert:ties=first", "expert:ties=first", "--openings", "0")
  assert (bare["openings"], bare["distinct_games"]) == (0, 2)
  low, high = bare["score_interval"]
  assert low < bare["score"] < high
  assert bare["wins"] + bare["draws"] + bare["losses"] == bare["games"] == 40


def test_there_are_no_openings_where_a_player_uses_chance():
  assert match("expert:ties=first", "random")["openings"] == 0


def test_progress_is_shown_without_a_terminal_too(console, monkeypatch):
  monkeypatch.setattr(bar, "SECONDS_BETWEEN_LINES", 0.0)
  monkeypatch.setattr(device, "MOST_AT_ONCE", 8)
  play([players.make(TICTACTOE, "random")] * 2, console, num_games=40)
  lines = runs.said(console).splitlines()
  assert lines[0] == "match: 0/40 games"
  assert lines[1].startswith("match: 0/40 games, move ")
  assert any("32/40 games" in line and line.endswith(" left") for line in lines)
