"""The commands that play."""

import json
import pathlib
from typing import Annotated

import rich.console
import typer

from train.cli import arguments
from train.cli import common

__all__ = ["brain", "match", "play"]


def match(
  game: arguments.GameArgument,
  a: Annotated[
    str,
    typer.Argument(
      metavar="A",
      help=f"A player: {arguments.PLAYER_HELP}; or {arguments.ENGINE_HELP}.",
      autocompletion=arguments.complete_players,
    ),
  ],
  b: Annotated[
    str,
    typer.Argument(
      metavar="B", help="Its opponent.", autocompletion=arguments.complete_players
    ),
  ],
  num_games: Annotated[int, typer.Option("--games", help="How many.", min=1)] = 1000,
  num_opening: Annotated[
    int | None,
    typer.Option(
      "--openings",
      metavar="PLIES",
      help="Begin with as many random plies, the same with both sides, for each two "
      "games. Default: 4 where both players are deterministic, since they would repeat "
      "the same two games; else 0.",
      min=0,
    ),
  ] = None,
  seed: arguments.SeedOption = 0,
  turn_seconds: Annotated[
    float, typer.Option(help="What an engine may think about a move.")
  ] = 30.0,
  start_seconds: Annotated[
    float, typer.Option(help="What an engine may take to get ready.")
  ] = 60.0,
  record: Annotated[
    pathlib.Path | None,
    typer.Option(metavar="FILE", help="Write the moves of every game, a line each."),
  ] = None,
  as_json: arguments.JsonOption = False,
) -> None:
  """Plays a match between two players, who take turns in moving first."""
  import jaxgames
  from train.engines import client
  from train.engines import versus
  from train.run import devices

  devices.enable_compilation_cache()
  result = versus.play(
    jaxgames.make(game),
    a,
    b,
    num_games=num_games,
    seed=seed,
    limits=client.Limits(turn=turn_seconds, start=start_seconds),
    record=record,
    console=rich.console.Console(stderr=True),
    num_opening=num_opening,
  )
  both = {"a": versus.describe(a), "b": versus.describe(b)}
  if as_json:
    print(json.dumps({**result.as_json(), "players": both}))
  else:
    names = [described["name"] for described in both.values()]
    rich.console.Console().print(result.as_table(game, *names))
    for line in result.as_lines():
      common.say(line)


def brain(
  player: Annotated[
    str | None,
    typer.Argument(
      metavar="[PLAYER]",
      help=f"The player: {arguments.PLAYER_HELP}. Default: the bundled agent.",
      autocompletion=arguments.complete_players,
    ),
  ] = None,
  fallback: Annotated[
    list[str] | None,
    typer.Option(
      metavar="PLAYER",
      help="Plays where PLAYER is too slow for the time limit; may be repeated, from "
      "strong to weak. Default for mcts: fewer simulations.",
      autocompletion=arguments.complete_players,
    ),
  ] = None,
  seed: arguments.SeedOption = 0,
) -> None:
  """Plays Gomoku as an engine: Gomocup's protocol on standard input and output."""
  from train.engines import brain as brain_lib
  from train.run import agents
  from train.run import devices

  devices.enable_compilation_cache()
  chosen = player or agents.default_opponent("gomoku")
  make_players_fn = brain_lib.make_players_fn([chosen, *(fallback or ())])
  brain_lib.run(make_players_fn, name=agents.describe(chosen), seed=seed)


def play(
  game: arguments.GameArgument,
  against: Annotated[
    str | None,
    typer.Option(
      help=f"The opponent: {arguments.PLAYER_HELP}. Default: the bundled agent, or "
      "tree search.",
      autocompletion=arguments.complete_players,
    ),
  ] = None,
  second: Annotated[bool, typer.Option("--second", help="Move second.")] = False,
  moves: Annotated[
    str,
    typer.Option(
      help='Go on after these, as "3 3 2", or a line of `match --record`; pages of '
      "`jaxgames serve` copy them."
    ),
  ] = "",
  seed: arguments.SeedOption = 0,
) -> None:
  """Plays a game between you and an agent in the terminal."""
  import jaxgames
  from jaxgames import players
  from jaxgames.display import notation
  from train.match import terminal
  from train.run import agents
  from train.run import devices

  devices.enable_compilation_cache()
  the_game = jaxgames.make(game)
  actions = notation.parse_moves(the_game, moves)
  the_game.from_moves(actions)  # Checked before a player is loaded.
  best = agents.default_opponent(game)
  # Hints come from a perfect player, or else from the best at hand; if that is the
  # opponent, it is not loaded twice.
  adviser = None
  if players.PLAYERS["expert"].plays(the_game):
    adviser = agents.make(the_game, "expert")
  elif against is not None:
    adviser = agents.make(the_game, best)
  terminal.play_in_terminal(
    the_game,
    agents.make(the_game, against or best),
    human_first=not second,
    actions=actions,
    hint_player=adviser,
    opponent_name=agents.describe(against or best),
    seed=seed,
  )
