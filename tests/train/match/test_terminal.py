"""A person against a stand-in for an agent, with what the person types as a list."""

import dataclasses
import functools
import itertools

import jax
import jax.numpy as jnp
import pytest

import jaxgames
from train.match import terminal as play

TICTACTOE = jaxgames.make("tictactoe")


class Tally:
  """Counts; equal to nothing but itself, so that jit takes it as a static field."""

  count = 0


@functools.partial(
  jax.tree_util.register_dataclass, data_fields=[], meta_fields=["game", "traces"]
)
@dataclasses.dataclass(frozen=True)
class FirstLegal:
  """Plays the lowest legal action, and counts how often it is compiled."""

  game: jaxgames.LineGame = TICTACTOE
  traces: Tally = dataclasses.field(default_factory=Tally)

  def begin(self, key, game_number):
    del key
    assert game_number.dtype == jnp.int32
    return ()

  def act(self, memory, state, key):
    del memory, key
    self.traces.count += 1
    return jnp.argmax(self.game.legal_actions(state))


@functools.partial(
  jax.tree_util.register_dataclass, data_fields=[], meta_fields=["game"]
)
@dataclasses.dataclass(frozen=True)
class AnyLegal:
  """Plays any legal action, in each game some rather than others."""

  game: jaxgames.LineGame = TICTACTOE

  def begin(self, key, game_number):
    del game_number
    return jax.random.uniform(key, (self.game.num_actions,))

  def act(self, memory, state, key):
    weights = jnp.where(self.game.legal_actions(state), memory, -jnp.inf)
    return jax.random.categorical(key, weights)


def run(entries, *, player=None, **options):
  """Plays a game; returns all that was shown, prompts included.

  Exceptions among the entries are raised instead of being typed.
  """
  shown = []
  remaining = iter(entries)

  def read(prompt):
    entry = next(remaining, EOFError())
    shown.append(prompt)
    if isinstance(entry, BaseException):
      raise entry
    return entry

  player = player or FirstLegal()
  play.play_in_terminal(player.game, player, read=read, write=shown.append, **options)
  assert next(remaining, None) is None, "the game ended before all was typed"
  return shown


def test_a_win_of_the_person_is_announced_under_the_final_board():
  shown = run(["2", "4", "6"])
  assert shown[-1] == (
    """
 board       numbers
 O  O [X]    0  1  2
 . [X] .     3  4  5
[X] .  .     6  7  8

"""
    "You win after 5 moves."
  )


def test_a_person_who_moves_second_can_win():
  assert run(["1", "4", "7"], human_first=False)[-1].endswith("You win after 6 moves.")


def test_a_win_of_the_opponent_is_announced_by_name():
  shown = run(["3", "4", "8"], opponent_name="first")
  assert "[O][O][O]" in shown[-1]
  assert shown[-1].endswith("O (first) wins after 6 moves.")


def test_a_draw_is_announced():
  shown = run(["4", "1", "3", "6", "8"])
  assert "[" not in shown[-1]
  assert shown[-1].endswith("A draw after 9 moves.")


def test_the_opponent_may_move_first():
  shown = run(["1", "quit"], human_first=False)
  assert shown[0].startswith("You are O and move second, the agent is X.")
  assert shown[2] == "X (the agent) plays 0."
  assert "Your move (O): " in shown


@pytest.mark.parametrize("leave", ["quit", " QUIT ", EOFError(), KeyboardInterrupt()])
def test_leaving_takes_one_line(leave):
  shown = run(["4", leave])
  assert shown[-1].strip() == "You left the game after 2 moves."
  assert shown[-2] == "Your move (X): "


def test_an_interrupt_while_the_opponent_thinks_leaves_too():
  def interrupt(words):
    shown.append(words)
    if words.startswith("(the agent is getting ready"):
      raise KeyboardInterrupt

  shown = []
  play.play_in_terminal(
    TICTACTOE, FirstLegal(), read=lambda prompt: "4", write=interrupt
  )
  assert shown[-1] == "\nYou left the game after 1 move."


def test_a_wrong_entry_is_explained_and_asked_again():
  shown = run(["nonsense", "9", "0", "0", "quit"])
  after_prompt = [b for a, b in itertools.pairwise(shown) if "Your" in a]
  assert after_prompt[0] == (
    "'nonsense' is not a move: type a number from 0 to 8,\n"
    "or one of undo, hint, board, moves, help, quit."
  )
  assert after_prompt[1].startswith(
    "'9' is not on the board: type a number from 0 to 8"
  )
  assert after_prompt[3] == "cell 0 is taken: choose another one"


def test_a_full_column_is_explained():
  game = jaxgames.LineGame((2, 3), 3, gravity=True)
  shown = run(["0", "0", "quit"], player=FirstLegal(game))
  assert "column 0 is full: choose another one" in shown


def test_undo_takes_back_the_last_move_and_its_answer():
  once = run(["4", "8", "undo", "board", "quit"])
  taken_back = once.index("Taken back: your 8 and the answer 1.")
  before = run(["4", "board", "quit"])
  assert once[taken_back + 1] == before[-3]
  assert once[-1] == before[-1] == "You left the game after 2 moves."


@pytest.mark.parametrize("human_first", [True, False])
def test_undo_goes_back_to_the_persons_first_move_and_no_further(human_first):
  shown = run(["1", "8", "undo", "undo", "undo", "quit"], human_first=human_first)
  assert sum(words.startswith("Taken back") for words in shown) == 2
  assert "You have no move to take back yet." in shown
  assert shown[-1].endswith("0 moves." if human_first else "1 move.")


def test_after_undo_the_game_continues_from_the_earlier_position():
  assert run(["2", "8", "undo", "4", "6"])[-1] == run(["2", "4", "6"])[-1]


def test_hint_asks_the_hint_player_and_changes_nothing():
  adviser = FirstLegal()
  shown = run(["4", "hint", "quit"], hint_player=adviser)
  assert "Hint: 1" in shown
  assert adviser.traces.count == 1
  assert shown[-1] == "You left the game after 2 moves."


def test_a_game_goes_on_after_the_moves_that_were_shown():
  whole = run(["4", "8", "board", "moves", "quit"])
  assert "4 0 8 1" in whole
  again = run(["board", "quit"], actions=[4, 0, 8, 1])
  assert [words for words in again if "numbers" in words][-1] in whole
  assert again[-1] == whole[-1] == "You left the game after 4 moves."


def test_a_move_that_is_not_legal_is_refused_before_anything_is_written():
  shown = []
  with pytest.raises(ValueError, match="action 4 is not legal"):
    play.play_in_terminal(
      jaxgames.make("tictactoe"), FirstLegal(), actions=[4, 4], write=shown.append
    )
  assert not shown


def test_hint_asks_the_opponent_by_default():
  assert "Hint: 0" in run(["hint", "quit"])


def test_help_names_every_command_and_how_to_move():
  shown = "\n".join(run(["help", "quit"], player=FirstLegal(jaxgames.make("connect4"))))
  assert "type a column from 0 to 6" in shown
  for command in play.COMMANDS:
    assert f"\n  {command} " in shown


def test_a_player_is_compiled_once():
  player = FirstLegal()
  run(["4", "8", "undo", "hint", "7", "quit"], player=player)
  assert player.traces.count == 1


def test_the_same_seed_gives_the_same_game_and_another_seed_another():
  entries = ["4", "hint", "hint", "quit"]
  games = [run(entries, player=AnyLegal(), seed=seed) for seed in (0, 0, 1, 2, 3)]
  assert games[0] == games[1]
  assert len({tuple(shown) for shown in games}) > 1


def test_no_key_is_used_twice():
  with jax.debug_key_reuse(True):
    run(["4", "hint", "hint", "undo", "4", "quit"], player=AnyLegal())


def test_a_player_of_another_game_is_refused_before_anything_is_written():
  shown = []
  with pytest.raises(ValueError, match="cannot play"):
    play.play_in_terminal(jaxgames.make("connect4"), FirstLegal(), write=shown.append)
  assert not shown
