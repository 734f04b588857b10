"""Our Gomocup engine: every command of the protocol, and the time limits."""

import re

import hypothesis
from hypothesis import strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.players import base
from tests.support import simple_players
from train.engines import brain as brain_lib
from train.engines import protocol
from train.match import clocks

MOVE = re.compile(r"([0-9]+),([0-9]+)")


@simple_players.as_player()
class Witness(base.Memoryless):
  """Plays the cell that encodes what it sees: moves made, own stones, whose corner."""

  game: jaxgames.LineGame

  def act(self, memory, state, key):
    del memory, key
    is_own = self.game.observe(state) == 1
    is_firsts_corner = self.game.board(state).reshape(-1)[0] == 1
    return (
      state.num_moves
      + 10 * is_own.sum(dtype=jnp.int32)
      + 5 * is_firsts_corner.astype(jnp.int32)
    )


def make_brain(make_player_fn=simple_players.FirstLegal, **options):
  return brain_lib.Brain(lambda game: [make_player_fn(game)], name="test", **options)


def say(brain, *lines):
  """Returns all answers to some lines."""
  return [answer for line in lines for answer in brain.handle(line)]


def rules_brain(seed=0):
  return brain_lib.Brain(
    brain_lib.make_players_fn(["attack-defense"]), name="rules", seed=seed
  )


def test_a_game_from_start_to_end():
  brain = make_brain()
  assert say(brain, "START 6") == ["OK"]
  assert say(brain, "INFO timeout_turn 1000", "INFO folder /nowhere", "INFO") == []
  assert say(brain, "BEGIN") == ["0,0"]
  assert say(brain, "TURN 1,0") == ["2,0"]
  assert say(brain, "TURN 0,1") == ["3,0"]
  assert say(brain, "RESTART", "TURN 0,0", "TURN 1,1") == ["OK", "1,0", "2,0"]
  assert not brain.is_ended
  assert say(brain, "END") == []
  assert brain.is_ended


def test_case_line_ends_and_blanks_do_not_matter():
  brain = make_brain()
  lines = ("  start   6 \r\n", b"\tturn 0 , 0\r\n", "", " \r\n", b"TURN\t5,5\0\n")
  assert say(brain, *lines) == ["OK", "1,0", "2,0"]


def test_about_is_one_line_of_facts():
  (about,) = say(make_brain(), "ABOUT")
  facts = dict(re.findall(r'(\w+)="([^"]*)"', about))
  assert set(facts) == {"name", "version", "author", "country"}


@pytest.mark.parametrize(
  "line", ["SWAP2BOARD", "RECTSTART 6,7", "HELLO", "\x00\x01", "ÄÖ", "x" * 10000]
)
def test_other_commands_are_unknown(line):
  (answer,) = say(make_brain(), line) or [None]
  if protocol.clean(line):
    assert answer.startswith("UNKNOWN ")
    assert len(answer) < 100
    assert answer.isascii()


@pytest.mark.parametrize("size", ["", "0", "4", "33", "-15", "15 15", "1e1", "9" * 30])
def test_sizes_that_cannot_be_played_are_refused(size):
  brain = make_brain()
  (answer,) = say(brain, f"START {size}")
  assert answer.startswith("ERROR the size")
  assert say(brain, "BEGIN") == ["ERROR START comes first"]


def test_a_size_that_the_player_cannot_play_is_refused_and_the_old_game_stays():
  def make(game):
    if game.shape != (6, 6):
      raise ValueError("trained on\n6x6")
    return simple_players.FirstLegal(game)

  brain = make_brain(make)
  assert say(brain, "START 6", "BEGIN") == ["OK", "0,0"]
  assert say(brain, "START 7") == ["ERROR trained on 6x6"]
  assert say(brain, "TURN 1,0") == ["2,0"]


@pytest.mark.parametrize(
  "line", ["BEGIN", "TURN 1,1", "RESTART", "TAKEBACK 1,1", "BOARD", "DONE"]
)
def test_nothing_is_played_before_start(line):
  (answer,) = say(make_brain(), line)
  assert answer.startswith("ERROR")


@pytest.mark.parametrize(
  "line",
  ["TURN", "TURN 6,0", "TURN 0,6", "TURN -1,0", "TURN 1", "TURN a,b", "TURN 1,1,1",
   "TURN 0,0", "TURN 3,3", "TURN 99999999999,1", "TURN \u0661,\u0661", "BEGIN", "DONE",
   "TAKEBACK 5,5", "TAKEBACK", "TAKEBACK 9,9"],
)  # fmt: skip
def test_a_wrong_line_is_an_error_and_changes_nothing(line):
  brain = make_brain()
  assert say(brain, "START 6", "TURN 3,3") == ["OK", "0,0"]
  (answer,) = say(brain, line)
  assert answer.startswith("ERROR ")
  assert answer.isascii()
  assert say(brain, "TURN 5,5") == ["1,0"]


def test_no_turn_after_the_end():
  brain = make_brain()
  say(brain, "START 6", "BEGIN")
  moves = [say(brain, f"TURN {x},5") for x in (0, 2, 4)]
  assert moves == [["1,0"], ["2,0"], ["3,0"]]
  # Its fifth stone wins.
  assert say(brain, "TURN 5,5") == ["4,0"]
  assert say(brain, "TURN 0,3") == ["ERROR the game is over"]
  assert say(brain, "RESTART", "BEGIN") == ["OK", "0,0"]


def test_a_turn_that_ends_the_game_has_no_answer():
  brain = make_brain()
  say(brain, "START 6", *(f"TURN {x},5" for x in range(4)))
  # The first free cells gave it a row of four; the other side is faster.
  assert say(brain, "TURN 4,5") == ["ERROR the game is over"]


def test_the_last_cell_is_played_and_then_the_board_is_full():
  brain = make_brain()
  say(brain, "START 5")
  # No five in a line: rows of pairs, shifted from row to row.
  own = [(x, y) for y in range(5) for x in range(5) if (x + 2 * y) % 4 < 2]
  other = [(x, y) for y in range(5) for x in range(5) if (x + 2 * y) % 4 >= 2]
  assert (len(own), len(other)) == (13, 12)
  own.remove((0, 0))
  lines = [f"{x},{y},1" for x, y in own] + [f"{x},{y},2" for x, y in other]
  assert say(brain, "BOARD", *lines, "DONE") == ["0,0"]
  (answer,) = say(brain, "TURN 1,1")
  assert answer.startswith("ERROR")


def test_a_board_may_be_given_in_any_order_to_either_side():
  brain = make_brain(Witness)
  say(brain, "START 10")
  # The first player to move, as both have equally many stones: 10 for each own stone,
  # and 5 as the corner is the first player's.
  lines = ("5,5,2", "0,0,1", "7,7,1", "6,6,2")
  assert say(brain, "BOARD", *lines, "DONE") == ["9,2"]
  # The second player to move; the corner is the first player's again.
  lines = ("0,0,2", "9,9,1", " 8,8 , 2 \r\n")
  assert say(brain, "BOARD", *lines, "DONE") == ["8,1"]
  # The second player to move, and the corner is its own.
  lines = ("1,0,2", "0,0,1", "2,0,2")
  assert say(brain, "board", *lines, "done") == ["3,1"]
  # The game continues from there: six stones, two of them own.
  assert say(brain, "TURN 9,9") == ["5,2"]


def test_an_empty_board_begins_a_game():
  assert say(make_brain(), "START 6", "BOARD", "DONE") == ["OK", "0,0"]


@pytest.mark.parametrize(
  "lines",
  [
    ["1,1,1"],
    ["1,1,2", "2,2,2"],
    ["1,1,1", "2,2,1", "3,3,2"],
    ["1,1,1", "1,1,2"],
    ["1,1,3"],
    ["1,1"],
    ["1,1,1,1"],
    ["6,0,1", "1,1,2"],
    ["stone"],
    ["UNKNOWN"],
    [f"{x},0,2" for x in range(5)] + [f"{x},1,1" for x in range(4)],
    [f"{x},0,1" for x in range(5)] + [f"{x % 4},{2 + x // 4},2" for x in range(5)],
    ["1,1,1"] * 1000,
  ],
)
def test_a_wrong_board_is_one_error_at_its_end_and_changes_nothing(lines):
  brain = make_brain()
  say(brain, "START 6", "BEGIN")
  assert say(brain, "BOARD", *lines) == []
  (answer,) = say(brain, "DONE")
  assert answer.startswith("ERROR ")
  assert say(brain, "TURN 3,3") == ["1,0"]


def test_a_board_without_its_end_is_an_error():
  brain = make_brain()
  say(brain, "START 6", "BOARD", "1,1,2")
  assert say(brain, "RESTART", "BEGIN") == ["ERROR BOARD without DONE", "OK", "0,0"]
  say(brain, "BOARD", "1,1,2")
  assert brain.finish() == ["ERROR BOARD without DONE"]
  assert brain.finish() == []


def test_stones_are_taken_back():
  brain = make_brain()
  assert say(brain, "START 6", "TURN 3,3", "TURN 4,4") == ["OK", "0,0", "1,0"]
  assert say(brain, "TAKEBACK 1,0", "TAKEBACK 4,4") == ["OK", "OK"]
  assert say(brain, "TURN 4,4") == ["1,0"]
  # After its own stone alone is taken back, it is not the other side's turn.
  say(brain, "TAKEBACK 1,0")
  (answer,) = say(brain, "TURN 5,5")
  assert answer.startswith("ERROR it is not this side's turn")


def test_every_program_is_compiled_before_start_is_answered(caplog):
  # On a board that no other test has compiled anything for.
  brain = make_brain(simple_players.Counted)
  with jax.log_compiles():
    say(brain, "START 8")
  assert "Finished XLA compilation" in caplog.text
  caplog.clear()
  lines = ("BEGIN", "TURN 3,3", "RESTART", "TURN 0,0", "START 8", "BOARD", "DONE")
  with jax.log_compiles():
    answers = say(brain, *lines)
  assert answers == ["0,0", "1,0", "OK", "1,0", "OK", "0,0"]
  assert caplog.text == ""


def test_the_same_seed_gives_the_same_moves_and_another_seed_others():
  lines = ("START 15", "BEGIN", "RESTART", "TURN 7,7")
  games = [tuple(say(rules_brain(seed), *lines)) for seed in (0, 0, 1)]
  assert games[0] == games[1] != games[2]


def test_no_key_is_used_twice():
  with jax.debug_key_reuse(True):
    say(rules_brain(), "START 5", "BEGIN", "TURN 4,4", "RESTART", "TURN 0,0")


def test_limits_come_from_the_manager(monkeypatch):
  limits = []

  def choose(self, state, limit):
    limits.append(limit)
    return int(np.argmax(np.asarray(jaxgames.make("gomoku").legal_actions(state))))

  monkeypatch.setattr(clocks.TimedPlayers, "choose", choose)
  brain = make_brain()
  say(brain, "START 15", "BEGIN")
  assert limits[-1] == 30
  for lines, limit in (
    (("INFO timeout_turn 5000",), 5),
    (("info TIMEOUT_TURN 700",), 0.7),
    (("INFO timeout_turn soon", "INFO timeout_turn -1", "INFO x 1"), 0.7),
    (("INFO time_left 2000",), 2 / brain_lib.MOVES_AHEAD),
    (("INFO time_left 2147483647",), 0.7),
    (("INFO timeout_match 4000",), 4 / brain_lib.MOVES_AHEAD),
    (("INFO timeout_match 0",), 0.7),
    (("INFO time_left 0",), 0),
    (("INFO timeout_turn 0", "INFO time_left 10000000"), 0),
  ):
    say(brain, *lines, "RESTART" if "match" in lines[0] else "", "BOARD", "DONE")
    assert limits[-1] == pytest.approx(limit, abs=1e-3), lines


def test_used_time_is_subtracted():
  clock = brain_lib._Clock()
  clock.tell("timeout_match", 100_000)
  clock.spend(60)
  assert clock.limit() == pytest.approx(40 / brain_lib.MOVES_AHEAD)
  clock.spend(60)
  assert clock.limit() == 0
  clock.begin()
  assert clock.limit() == pytest.approx(100 / brain_lib.MOVES_AHEAD)


def test_a_search_is_followed_by_shorter_ones_unless_others_are_named():
  game = jaxgames.make("gomoku")
  alone = brain_lib.make_players_fn(["mcts:simulations=800,exploration=1"])(game)
  assert [player.simulations for player in alone] == [800, 100, 12, 1]
  assert {player.exploration for player in alone} == {1}
  named = brain_lib.make_players_fn(["mcts:simulations=800", "random"])(game)
  assert [type(player) for player in named] == [players.Mcts, players.Random]
  assert len(brain_lib.make_players_fn(["benchmark"])(game)) == 1


COMMANDS = [
  "START", "RESTART", "BEGIN", "TURN", "BOARD", "DONE", "TAKEBACK", "INFO", "ABOUT",
  "SWAP2BOARD", "RECTSTART",
]  # fmt: skip


ARGUMENTS = st.one_of(
  st.sampled_from(["", "15", "5", "timeout_turn 0", "time_left 9", "1,1,1", "0,0,2"]),
  st.tuples(st.integers(-2, 16), st.integers(-2, 16)).map(lambda c: f"{c[0]},{c[1]}"),
  st.text(max_size=20),
)


LINES = st.one_of(
  st.binary(max_size=60),
  st.text(max_size=60),
  st.tuples(st.sampled_from([*COMMANDS, ""]), ARGUMENTS).map(" ".join),
)


@hypothesis.given(st.lists(LINES, max_size=25))
def test_no_line_breaks_the_brain(lines):
  brain = rules_brain()
  for line in lines:
    for answer in brain.handle(line):
      assert re.fullmatch(r"OK|[0-9]+,[0-9]+|(ERROR|UNKNOWN) .+|name=.+", answer)
      assert answer.isascii()
  assert say(brain, "START 15")[-1] == "OK"
  board = {say(brain, "BEGIN")[0]}
  for cell in ("0,0", "14,14"):
    (answer,) = say(brain, f"TURN {cell}" if cell not in board else "TURN 7,0")
    x, y = map(int, MOVE.fullmatch(answer).groups())
    assert x < 15
    assert y < 15
    assert answer not in board | {cell}
    board |= {answer, cell}


@hypothesis.given(st.lists(st.integers(0, 35), unique=True, max_size=20))
def test_a_board_is_the_position_that_its_moves_lead_to(cells):
  game = jaxgames.make("gomoku:size=6")
  state, num_moves = game.init(), 0
  while num_moves < len(cells) and not state.is_over:
    state = game.step(state, cells[num_moves])
    num_moves += 1
  # The other side has moved last.
  lines = [
    f"{protocol.write_cell(cell, 6)},{1 + (num_moves - number) % 2}"
    for number, cell in enumerate(cells[:num_moves])
  ]
  brain = rules_brain()
  _, answer = say(brain, "START 6", "BOARD", *lines, "DONE")
  if state.is_over:
    assert answer == "ERROR the game is over"
  else:
    choices = players.make(game, "attack-defense").choices(state)
    cell = protocol.parse_cell(answer, 6)
    assert (int(choices[cell // 32]) >> (cell % 32)) & 1
