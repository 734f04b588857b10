"""Every example runs as a process of its own and says what it should."""

import os
import re
import subprocess
import sys

import pytest

from tests.support import paths

EXAMPLES = paths.ROOT / "examples"


def run(directory, name, *arguments):
  """Returns what an example prints."""
  done = subprocess.run(
    [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
    cwd=directory,
    env={**os.environ, "PYTHONPATH": str(paths.ROOT)},
    capture_output=True,
    text=True,
    timeout=300,
  )
  assert done.returncode == 0, done.stderr
  return done.stdout


def counts(line):
  """Returns the games won, drawn and lost that a line tells of."""
  found = re.search(r"(\d+) won, (\d+) drawn, (\d+) lost", line)
  assert found is not None, line
  return tuple(map(int, found.groups()))


def test_play_and_draw_shows_every_move_and_writes_a_picture(tmp_path):
  said = run(tmp_path, "play_and_draw.py", "game.svg").splitlines()
  moves = [line for line in said if re.fullmatch(r"[XO] plays \d+", line)]
  # The smallest game has seven moves; the players take turns.
  assert len(moves) >= 7
  assert "".join(line[0] for line in moves) == ("XO" * 32)[: len(moves)]
  assert any(line.startswith(" level 0") for line in said)
  assert said[-2] in ("X wins", "O wins", "a draw")
  assert (tmp_path / "game.svg").read_text().startswith("<svg")


def test_play_and_draw_asks_for_a_path(tmp_path):
  with pytest.raises(AssertionError, match="usage: python"):
    run(tmp_path, "play_and_draw.py")


def test_new_game_is_played_and_solved(tmp_path):
  said = run(tmp_path, "new_game.py").splitlines()
  assert said[0] == "4 actions, 24 winning lines"
  for line in said[1:3]:
    wins, draws, losses = counts(line)
    assert wins + draws + losses == 100
    assert wins > 70
  assert said[3] == "41,750 positions; with perfect play: the first player wins"
  assert said[4] == "the best first moves: [1, 2]"
  assert said[5] == "a perfect game, 9 moves:"


def test_new_player_beats_random(tmp_path):
  said = run(tmp_path, "new_player.py").splitlines()
  assert said[1] == "[[7. 4. 4. 7.]"
  wins, draws, losses = counts(said[-2])
  assert said[-2].startswith("against random")
  assert wins + draws + losses == 1000
  assert wins > 650


def test_train_and_load_leaves_nothing_behind_and_beats_random(tmp_path):
  said = run(tmp_path, "train_and_load.py").splitlines()
  found = [line for line in said if line.startswith("values of the first moves")]
  assert len(found) == 1
  assert len(re.findall(r"-?\d\.\d{3}", found[0])) == 4
  wins, draws, losses = counts(said[-1])
  assert wins + draws + losses == 1000
  assert wins > 2 * losses
  assert not list(tmp_path.iterdir())
