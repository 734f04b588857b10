"""The `jaxgames` command."""

from collections.abc import Iterator
import contextlib
import json
import sys
from typing import Annotated

import rich.console
import rich.table
import typer

import jaxgames
from jaxgames import players
from train import bench
from train import match
from train import play

__all__ = ["app", "main"]

app = typer.Typer(
  help="Self-play training for line games: tic-tac-toe to Gomoku.",
  no_args_is_help=True,
  add_completion=False,
  pretty_exceptions_enable=False,
)

GameArgument = Annotated[
  str, typer.Argument(metavar="GAME", help=f"One of {', '.join(jaxgames.GAMES)}.")
]
JsonOption = Annotated[
  bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same games.", min=0)]

PLAYER_HELP = "a name with options, as `mcts:simulations=200`; see `jaxgames games`"


@app.command()
def games() -> None:
  """Lists the games and players that configs and commands may name."""
  console = rich.console.Console()
  table = rich.table.Table("game", "board", "line", "stones fall", title="Games")
  for name, game in jaxgames.GAMES.items():
    sides = "x".join(map(str, game.shape))
    table.add_row(name, sides, str(game.length), "yes" if game.gravity else "no")
  console.print(table)
  table = rich.table.Table("player", "what it does", "options", title="Players")
  for name, entry in players.PLAYERS.items():
    options = [
      key
      if option.default is option.empty or option.default is None
      else f"{key}={option.default}"
      for key, option in entry.options.items()
    ]
    table.add_row(name, entry.summary, "\n".join(options))
  console.print(table)


@app.command("match")
def match_command(
  game: GameArgument,
  a: Annotated[str, typer.Argument(metavar="A", help=f"A player: {PLAYER_HELP}.")],
  b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
  num_games: Annotated[int, typer.Option("--games", help="How many.", min=1)] = 1000,
  seed: SeedOption = 0,
  as_json: JsonOption = False,
) -> None:
  """Lets two players play each other, taking turns in moving first."""
  with _errors_as_one_line():
    the_game = jaxgames.make(game)
    both = players.make(the_game, a), players.make(the_game, b)
    console = rich.console.Console(stderr=True, quiet=as_json)
    result = match.play(*both, num_games=num_games, seed=seed, console=console)
  if as_json:
    print(json.dumps(result.as_json()))
  else:
    rich.console.Console().print(result.as_table(game, a, b))


@app.command("play")
def play_command(
  game: GameArgument,
  against: Annotated[
    str | None, typer.Option(help=f"The opponent: {PLAYER_HELP}.")
  ] = None,
  second: Annotated[bool, typer.Option("--second", help="Move second.")] = False,
  seed: SeedOption = 0,
) -> None:
  """Lets you play against an agent in the terminal."""
  with _errors_as_one_line():
    the_game = jaxgames.make(game)
    opponent_name = against or "mcts:simulations=1000"
    opponent = players.make(the_game, opponent_name)
    adviser = players.make(the_game, _strongest(the_game))
  play.play_in_terminal(
    the_game,
    opponent,
    human_first=not second,
    hint_player=adviser,
    opponent_name=opponent_name,
    seed=seed,
  )


@app.command("bench")
def bench_command(as_json: JsonOption = False) -> None:
  """Measures speed, as ratios against peers in the same run."""
  console = rich.console.Console(stderr=True, quiet=as_json)
  numbers = bench.measure(progress_fn=lambda name: console.print(f"measuring {name}"))
  if as_json:
    print(json.dumps(numbers))
  else:
    rich.console.Console().print(bench.table(numbers))


def main() -> None:
  """Runs the command line."""
  app()


def _strongest(game: jaxgames.LineGame) -> str:
  """Returns the strongest player that needs no training."""
  can_solve = players.PLAYERS["expert"].plays_fn(game)
  return "expert" if can_solve else "mcts:simulations=2000"


@contextlib.contextmanager
def _errors_as_one_line() -> Iterator[None]:
  """Ends the program with the sentence of an error, not with its traceback."""
  try:
    yield
  except ValueError as error:
    print(f"jaxgames: {error}", file=sys.stderr)
    raise typer.Exit(2) from error
