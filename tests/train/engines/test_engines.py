"""Matches against external engines, well-behaved or not."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import hypothesis
from hypothesis import strategies as st
import pytest

import jaxgames
from tests.support import paths
from tests.support import runs
from train.engines import bsdgames
from train.engines import client
from train.engines import process as process_lib
from train.engines import protocol
from train.engines import registry
from train.engines import versus
from train.match import host
from train.match import host_player

FAKE = paths.ROOT / "tests/support/fake_engine.py"
GAME = jaxgames.make("gomoku:size=6")
QUICK = client.Limits(turn=0.2, start=20)


class LastFree:
  """Plays the highest free cell."""

  def begin(self, game_number):
    del game_number

  def choose(self, state, actions):
    del state
    return next(a for a in reversed(range(GAME.num_actions)) if a not in actions)

  def close(self):
    pass


@pytest.fixture(autouse=True)
def little_grace(monkeypatch):
  monkeypatch.setattr(client, "GRACE_SECONDS", 0.3)
  monkeypatch.setattr("train.engines.process.SECONDS_TO_EXIT", 0.3)


@pytest.fixture
def pids(tmp_path):
  """A file for process ids; none of the processes may be left at the end."""
  path = tmp_path / "pids"
  yield path
  numbers = [int(line) for line in path.read_text().split()] if path.exists() else []
  deadline = time.monotonic() + 10
  while any(map(is_alive, numbers)) and time.monotonic() < deadline:
    time.sleep(0.02)
  assert [number for number in numbers if is_alive(number)] == []


def is_alive(number: int) -> bool:
  """Returns whether a process runs; a zombie does not."""
  try:
    os.kill(number, 0)
    status = pathlib.Path(f"/proc/{number}/stat")
    return status.read_text().rpartition(")")[2].split()[0] != "Z"
  except (ProcessLookupError, FileNotFoundError):
    return False


def command(way: str, *arguments: object) -> str:
  return shlex.join([sys.executable, "-S", "-E", str(FAKE), way, *map(str, arguments)])


def play(way, *arguments, console, num_games=2, limits=QUICK, opponent=LastFree):
  return host.play(
    GAME,
    lambda: client.GomocupEngine(GAME, command(way, *arguments), limits),
    opponent,
    num_games=num_games,
    console=console,
  )


@pytest.mark.parametrize(
  "way", ["good", "noisy", "twice", "no-restart", "leaves-after-game", "slow-start"]
)
def test_an_engine_plays_a_match(way, console, pids):
  # Generous: none of these waits for a limit.
  limits = client.Limits(turn=60, start=60)
  result = play(way, pids, console=console, num_games=3, limits=limits)
  assert result.forfeits == ()
  # Both fill rows from their own end, and five in a row win: the first to move wins.
  assert (result.wins, result.losses) == ((2, 0), (0, 1))
  num_processes = {"no-restart": 3, "leaves-after-game": 3}.get(way, 1)
  assert len(pids.read_text().split()) == num_processes


@pytest.mark.parametrize(
  ("way", "word"),
  [
    ("outside", "6,0 is not on the board"),
    ("taken", "0,0, which is taken"),
    ("malformed", "'pass' is not a cell"),
    ("error", "'ERROR I am lost'"),
    ("unknown", "'UNKNOWN'"),
    ("crash", "exited with code 7, saying 'Segmentation fault, I suppose'"),
    ("fork-and-crash", "exited with code 7"),
    ("killed", "SIGKILL"),
    ("closes", "closed its output"),
    ("silent", "no answer in time"),
    ("flood", "is not a cell"),
    ("messages", "no answer in time"),
    ("garbage", "is not a cell"),
  ],
)
def test_an_engine_that_misbehaves_loses_the_game_and_is_restarted(
  way, word, console, pids
):
  begin = time.monotonic()
  result = play(way, pids, console=console)
  assert time.monotonic() - begin < 15
  assert (result.wins, result.losses) == ((0, 0), (1, 1))
  assert [(f.game, f.player) for f in result.forfeits] == [(0, "A"), (1, "A")]
  assert all(word in forfeit.reason for forfeit in result.forfeits), result.forfeits
  num_processes = 4 if way.startswith("fork") else 2
  assert len(pids.read_text().split()) == num_processes


@pytest.mark.parametrize("way", ["ignores-end", "fork"])
def test_an_engine_that_does_not_exit_is_killed(way, console, pids):
  result = play(way, pids, console=console, num_games=1)
  assert result.wins == (1, 0)
  assert pids.read_text()


@pytest.mark.parametrize(
  ("way", "word"),
  [
    ("refuses", "'ERROR too large' to START 6"),
    ("crash-at-start", "exited with code 3, saying 'no weights'"),
    ("slow-start", "no answer in time"),
  ],
)
def test_an_engine_that_does_not_start_is_one_error(way, word, console, pids):
  limits = client.Limits(turn=1, start=0.2 if way == "slow-start" else 20)
  with pytest.raises(ValueError, match="does not start") as raised:
    play(way, pids, console=console, limits=limits)
  assert word in str(raised.value)
  assert way in str(raised.value)


def test_an_engine_that_never_reads_forfeits(console, pids):
  result = play("deaf", pids, console=console, num_games=1)
  assert "no answer in time" in result.forfeits[0].reason


@pytest.mark.parametrize("text", ["x", "MESSAGE x\\n", "\\n", "\\0"])
def test_little_of_a_flood_of_output_is_kept(text):
  program = (
    f"import os\nwhile True: os.write(1, b'{text}' * 9999); os.write(2, b'e' * 99)"
  )
  process = process_lib.EngineProcess([sys.executable, "-S", "-c", program])
  end = time.monotonic() + 0.5
  try:
    while time.monotonic() < end:
      with contextlib.suppress(host_player.ForfeitError):
        assert len(process.read_line(end)) <= protocol.MOST_LINE_BYTES
      process.skip_stale()
      kept = len(process._buffer) + len(process._errors)
      assert kept <= 2 * process_lib.READ_BYTES
  finally:
    process.stop()


@pytest.mark.parametrize(
  ("spec", "word"),
  [
    ("engine:no-such-program --fast", "no-such-program"),
    ("engine:", "needs a command"),
    ("engine:'unmatched", "quotation"),
    (f"engine:{FAKE.parent}", "ermission denied"),
    ("engine:bsdgames", "gomoku:size=19"),
  ],
)
def test_a_wrong_command_is_one_error(spec, word):
  with pytest.raises(ValueError, match=r".") as raised:
    registry.make(GAME, spec, QUICK)
  assert word in str(raised.value)
  assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "ttt3d"])
def test_engines_play_only_gomoku(name):
  with pytest.raises(ValueError, match="Gomoku only"):
    registry.make(jaxgames.make(name), f"engine:{command('good')}", QUICK)


def test_limits_must_be_positive():
  with pytest.raises(ValueError, match="turn seconds"):
    client.Limits(turn=0)


def test_the_first_engine_is_stopped_if_the_second_does_not_start(console, pids):
  def make(way):
    return lambda: client.GomocupEngine(GAME, command(way, pids), QUICK)

  with pytest.raises(ValueError, match="refuses"):
    host.play(GAME, make("good"), make("refuses"), num_games=1, console=console)
  assert len(pids.read_text().split()) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_leaves_no_engine(error, console, pids):
  class Interrupted(LastFree):
    def choose(self, state, actions):
      raise error

  with pytest.raises(error):
    play("fork", pids, console=console, opponent=Interrupted)
  assert len(pids.read_text().split()) == 2


def test_termination_of_the_whole_program_leaves_no_engine(pids, tmp_path):
  arguments = ["match", "gomoku:size=6", f"engine:{command('silent', pids)}", "random"]
  process = subprocess.Popen(
    [sys.executable, "-m", "train", *arguments], cwd=tmp_path, stderr=subprocess.PIPE
  )
  deadline = time.monotonic() + 120
  while not pids.exists() and process.poll() is None and time.monotonic() < deadline:
    time.sleep(0.05)
  process.send_signal(signal.SIGTERM)
  _, errors = process.communicate(timeout=60)
  assert process.returncode == 128 + signal.SIGTERM, errors
  assert b"Traceback" not in errors
  assert pids.read_text()


def test_a_player_that_makes_an_illegal_move_loses(console):
  class Wrong(LastFree):
    def choose(self, state, actions):
      return 99

  result = host.play(GAME, Wrong, LastFree, num_games=2, console=console)
  assert result.losses == (1, 1)
  assert "99" in result.forfeits[0].reason


def test_games_are_recorded_a_line_each(console, tmp_path):
  path = tmp_path / "games.txt"
  result = versus.play(
    jaxgames.make("tictactoe"),
    "expert",
    "random",
    num_games=5,
    seed=1,
    limits=QUICK,
    record=path,
    console=console,
  )
  assert sum(result.losses) == 0
  lines = path.read_text().splitlines()
  assert len(lines) == 5
  for number, line in enumerate(lines):
    head, result_text, moves = line.split(", ")[0], *line.split(", ")[1].split(": ")
    assert head == f"game {number}: {'AB'[number % 2]} begins"
    game = jaxgames.make("tictactoe")
    state = game.from_moves(map(int, moves.split()))
    sign = 1 if number % 2 == 0 else -1
    assert (
      result_text == {1: "A wins", 0: "draw", -1: "B wins"}[sign * int(state.winner)]
    )
  assert runs.said(console) == ""


def test_a_record_that_cannot_be_written_is_one_error(console, tmp_path):
  with pytest.raises(ValueError, match="cannot write"):
    host.play(GAME, LastFree, LastFree, num_games=1, console=console, record=tmp_path)


def test_an_engine_goes_on_from_openings_played_with_both_sides(console, tmp_path):
  path = tmp_path / "games.txt"
  engine = client.GomocupEngine(GAME, command("good"), client.Limits())
  asked = []

  def ask(process, question, seconds, ask=engine._ask):
    asked.append(question)
    return ask(process, question, seconds)

  engine._ask = ask
  result = host.play(
    GAME, lambda: engine, LastFree, num_games=4, console=console, num_opening=3,
    record=path,
  )  # fmt: skip
  assert result.forfeits == ()
  games = [line.split(": ")[2].split() for line in path.read_text().splitlines()]
  assert games[0][:3] == games[1][:3] != games[2][:3] == games[3][:3]
  boards = [question.split("\n") for question in asked if question.startswith("BOARD")]
  # The other is asked first in game 0, whose first side is the engine.
  assert [len(board) for board in boards] == [6, 5, 6, 5]
  assert [stone[-1] for stone in boards[0][1:-1]] == ["1", "2", "1", "2"]
  assert [stone[-1] for stone in boards[1][1:-1]] == ["2", "1", "2"]


def test_an_engine_that_begins_on_the_empty_board_takes_no_openings(console):
  arguments = {"num_games": 2, "seed": 0, "limits": QUICK, "record": None}
  game = jaxgames.make("gomoku:size=19")
  with pytest.raises(ValueError, match="choose --openings 0"):
    versus.play(
      game, "engine:bsdgames", "random", console=console, num_opening=2, **arguments
    )


@hypothesis.settings(max_examples=25)
@hypothesis.given(
  st.binary(max_size=300)
  | st.lists(
    st.sampled_from(
      [b"MESSAGE x\n", b"DEBUG\n", b"\r\n", b"1,2", b"5,5\n", b"\0", b"OK\n", b"-1,0\n"]
    )
  ).map(b"".join)
)
def test_any_answer_is_a_move_or_a_forfeit(tmp_path_factory, answer):
  path = tmp_path_factory.mktemp("answer") / "answer"
  path.write_bytes(answer)
  limits = client.Limits(turn=0.01, start=20)
  engine = client.GomocupEngine(GAME, command("raw", os.devnull, path), limits)
  with contextlib.closing(engine):
    engine.begin(0)
    assert engine.choose(GAME.init(), ()) == 0
    try:
      move = engine.choose(GAME.init(), (0, 1))
    except host_player.ForfeitError as error:
      reason = str(error)
    else:
      assert move in set(range(2, GAME.num_actions))
      return
  assert reason.isascii()
  assert reason.isprintable()


@pytest.mark.skipif(bsdgames.find() is None, reason="bsdgames is not installed")
def test_bsdgames_beats_a_rule_player(console, tmp_path):
  path = tmp_path / "games.txt"
  result = versus.play(
    jaxgames.make("gomoku:size=19"),
    "engine:bsdgames",
    "attack-defense",
    num_games=2,
    seed=0,
    limits=client.Limits(turn=120),
    record=path,
    console=console,
  )
  assert result.forfeits == ()
  assert result.wins == (1, 1), path.read_text()
  assert path.read_text().splitlines()[0].split(": ")[2].startswith("j9 ")
