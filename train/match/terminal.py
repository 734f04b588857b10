"""A person against an agent, in the terminal."""

from collections.abc import Callable, Sequence
import dataclasses

import jax
import numpy as np

from jaxgames import game as game_lib
from jaxgames import randomness
from jaxgames.display import notation
from jaxgames.display import text
from jaxgames.players import base
from train.match import host_player

__all__ = ["play_in_terminal"]

COMMANDS = {
  "undo": "takes back your last move and the answer to it",
  "hint": "says what an agent would do in your place",
  "board": "shows the board again",
  "moves": "shows the moves so far, for --moves or a page of `jaxgames serve`",
  "help": "shows this",
  "quit": "leaves the game",
}

_OTHER_ENTRIES = f"or one of {', '.join(COMMANDS)}."


def play_in_terminal(
  game: game_lib.LineGame,
  opponent: base.Player,
  *,
  human_first: bool = True,
  actions: Sequence[int] = (),
  hint_player: base.Player | None = None,
  opponent_name: str = "the agent",
  seed: int = 0,
  read: Callable[[str], str] = input,
  write: Callable[[str], None] = print,
) -> None:
  """Plays one game of a person against a player, and says who won.

  The end of the input and Ctrl-C leave the game as `quit` does.

  Args:
    game: the rules.
    opponent: the player to beat.
    human_first: whether the person moves first.
    actions: moves that were made already, of both sides.
    hint_player: the player asked for hints; the opponent if None.
    opponent_name: the opponent's name; a remark in brackets is shown only once.
    seed: the seed of all random choices.
    read: shows a prompt and returns a line, as `input` does.
    write: shows lines, as `print` does.

  Raises:
    ValueError: if a player is for another game, or a move is not legal.
  """
  adviser = opponent if hint_player is None else hint_player
  for player in (opponent, adviser):
    if player.game != game:
      raise ValueError(f"a player for {player.game} cannot play {game}")
  key_opponent, key_adviser = jax.random.split(randomness.key(seed))
  table = _Table(
    game=game,
    human=0 if human_first else 1,
    opponent=host_player.CompiledPlayer(opponent, key_opponent),
    opponent_name=opponent_name,
    adviser=host_player.CompiledPlayer(adviser, key_adviser),
    positions=[game.init()],
  )
  for action in actions:
    table.play(action)
  try:
    _greet(table, write)
    while not table.state.is_over:
      if table.is_human_to_move:
        if not _ask(table, read, write):
          break
      else:
        _answer(table, write)
    write(_say_end(table))
  except (EOFError, KeyboardInterrupt):
    # The cursor is still behind the prompt.
    write("\n" + _say_end(table))


@dataclasses.dataclass
class _Table:
  """A game in play.

  Attributes:
    game: the rules.
    human: the person's side, 0 moves first and 1 second.
    opponent: the person's opponent.
    opponent_name: its name.
    adviser: the player that gives hints.
    positions: all positions so far, the empty board first.
    actions: the moves between them.
  """

  game: game_lib.LineGame
  human: int
  opponent: host_player.CompiledPlayer
  opponent_name: str
  adviser: host_player.CompiledPlayer
  positions: list[game_lib.State]
  actions: list[int] = dataclasses.field(default_factory=list)

  @property
  def state(self) -> game_lib.State:
    return self.positions[-1]

  @property
  def is_human_to_move(self) -> bool:
    return len(self.actions) % 2 == self.human

  @property
  def opponent_title(self) -> str:
    return f"{'OX'[self.human]} ({self.short_name})"

  @property
  def short_name(self) -> str:
    return self.opponent_name.partition(" (")[0]

  @property
  def picture(self) -> str:
    return "\n" + text.draw(self.game, self.state) + "\n"

  def name(self, action: int) -> str:
    return notation.action_name(self.game, action)

  def play(self, action: int) -> None:
    self.positions.append(self.game.step(self.state, action))
    self.actions.append(action)


def _greet(table: _Table, write: Callable[[str], None]) -> None:
  order = "move first" if table.human == 0 else "move second"
  write(
    f"You are {'XO'[table.human]} and {order}, {table.opponent_name} is "
    f"{'OX'[table.human]}. The first with {table.game.length} in a line wins.\n"
    f"Type {notation.describe_actions(table.game)},\n{_OTHER_ENTRIES}"
  )
  if table.is_human_to_move or table.actions:
    write(table.picture)


def _ask(
  table: _Table, read: Callable[[str], str], write: Callable[[str], None]
) -> bool:
  """Executes what the person types; returns False if they quit."""
  entry = read(f"Your move ({'XO'[table.human]}): ").strip()
  command = entry.lower()
  if command == "quit":
    return False
  if command == "undo":
    _undo(table, write)
  elif command == "hint":
    write(f"Hint: {table.name(table.adviser.choose(table.state, table.actions))}")
  elif command == "board":
    write(table.picture)
  elif command == "moves":
    write(notation.write_moves(table.game, table.actions) or "There is no move yet.")
  elif command == "help":
    _help(table, write)
  else:
    _move(table, entry, write)
  return True


def _move(table: _Table, entry: str, write: Callable[[str], None]) -> None:
  """Makes the person's move, or explains why it is not legal."""
  try:
    action = notation.parse_action(table.game, entry)
  except ValueError as error:
    write(f"{error},\n{_OTHER_ENTRIES}")
    return
  if not np.asarray(table.game.legal_actions(table.state))[action]:
    kind, fault = ("column", "full") if table.game.gravity else ("cell", "taken")
    write(f"{kind} {table.name(action)} is {fault}: choose another one")
    return
  table.play(action)


def _answer(table: _Table, write: Callable[[str], None]) -> None:
  """Makes the opponent's move."""
  if not table.opponent.is_compiled:
    write(f"({table.short_name} is getting ready; later moves are quicker)")
  table.play(table.opponent.choose(table.state, table.actions))
  write(f"{table.opponent_title} plays {table.name(table.actions[-1])}.")
  if not table.state.is_over:
    write(table.picture)


def _undo(table: _Table, write: Callable[[str], None]) -> None:
  if len(table.actions) < 2:
    write("You have no move to take back yet.")
    return
  answer, own = table.actions.pop(), table.actions.pop()
  del table.positions[-2:]
  write(f"Taken back: your {table.name(own)} and the answer {table.name(answer)}.")
  write(table.picture)


def _help(table: _Table, write: Callable[[str], None]) -> None:
  write(f"Make a move: type {notation.describe_actions(table.game)}.")
  if table.game.gravity:
    write("A stone falls down to the lowest free place.")
  write(
    "Or type\n" + "\n".join(f"  {name:<6} {does}" for name, does in COMMANDS.items())
  )


def _say_end(table: _Table) -> str:
  """Returns the last lines: who won, or that the game was left."""
  num_moves = len(table.actions)
  moves = f"{num_moves} {'move' if num_moves == 1 else 'moves'}"
  if not table.state.is_over:
    return f"You left the game after {moves}."
  winner = int(table.state.winner)
  if winner == 0:
    result = "A draw"
  elif winner == (1, -1)[table.human]:
    result = "You win"
  else:
    result = f"{table.opponent_title} wins"
  return f"{table.picture}\n{result} after {moves}."
