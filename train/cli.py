"""The `jaxgames` command."""

from collections.abc import Iterator
import contextlib
import json
import os
import pathlib
import sys
from typing import Annotated

import rich.console
import rich.table
import typer

import jaxgames
from jaxgames import players
from train import config as config_lib
from train.bench import games as bench
from train.bench import training as bench_training
from train.engines import brain as brain_lib
from train.engines import client
from train.engines import versus
from train.learners import registry as learner_registry
from train.match import terminal as play_lib
from train.report import document as report_lib
from train.run import agents
from train.run import devices as devices_lib
from train.run import directory as run_directory
from train.run import loop
from train.run import sweep as sweep_lib

__all__ = ["app", "main"]

app = typer.Typer(
  help="Self-play training for line games: tic-tac-toe to Gomoku.",
  no_args_is_help=True,
  add_completion=False,
  pretty_exceptions_enable=False,
)

PLAYER_HELP = (
  "a name with options, as mcts:simulations=200 (see `jaxgames games`), or the "
  "directory of a run, as DIR or DIR@TRIAL"
)

ENGINE_HELP = (
  "for gomoku, engine:COMMAND, a program that speaks Gomocup's protocol, or "
  "engine:bsdgames (on gomoku:size=19)"
)

GameArgument = Annotated[
  str,
  typer.Argument(
    metavar="GAME",
    help=f"One of {', '.join(jaxgames.GAMES)}; on another board, gomoku:size=19.",
  ),
]
ConfigArgument = Annotated[
  pathlib.Path, typer.Argument(metavar="CONFIG", help="A YAML file under configs/.")
]
OverridesArgument = Annotated[
  list[str] | None,
  typer.Argument(metavar="[KEY=VALUE]...", help="As test.every=1000 trials=2."),
]
DirectoryArgument = Annotated[
  pathlib.Path, typer.Argument(metavar="DIR", help="The directory of a run.")
]
JsonOption = Annotated[
  bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same games.", min=0)]
DevicesOption = Annotated[
  int | None,
  typer.Option(
    help="Without an accelerator: how many cores share the trials. All by default, "
    "or as many as the run was begun with.",
    min=1,
  ),
]
DifferentOption = Annotated[
  bool,
  typer.Option(
    "--allow-different",
    help="Go on with another jax or other devices, where the same bits cannot be "
    "promised.",
  ),
]
TensorboardOption = Annotated[
  bool, typer.Option("--tensorboard", help="Write curves for TensorBoard too.")
]


@app.command()
def games() -> None:
  """Lists the games, players and learners that configs may name."""
  console = rich.console.Console()
  table = rich.table.Table("game", "board", "line", "stones fall", title="Games")
  for name, game in jaxgames.GAMES.items():
    sides = "x".join(map(str, game.shape))
    table.add_row(name, sides, str(game.length), "yes" if game.gravity else "no")
  console.print(table)
  console.print("On another board: gomoku:size=19.", highlight=False)
  table = rich.table.Table("player", "what it does", "options", title="Players")
  for name, entry in players.PLAYERS.items():
    options = [
      key if option.default is None else f"{key}={option.default}"
      for key, option in entry.options.items()
    ]
    table.add_row(name, entry.summary, "\n".join(options))
  console.print(table)
  table = rich.table.Table("learner", "what it learns", title="Learners")
  for name, kind in learner_registry.KINDS.items():
    table.add_row(name, kind.summary)
  console.print(table)


@app.command()
def train(
  config: ConfigArgument,
  overrides: OverridesArgument = None,
  out: Annotated[
    pathlib.Path | None,
    typer.Option(metavar="DIR", help="Default: checkpoints/ and the config's name."),
  ] = None,
  devices: DevicesOption = None,
  tensorboard: TensorboardOption = False,
) -> None:
  """Trains as a config says, then shows the results."""
  with _errors_as_one_line():
    _set_up(devices)
    settings = config_lib.load(config, overrides or ())
    directory = out or pathlib.Path("checkpoints") / config.stem
    console = rich.console.Console()
    outcome = loop.start(settings, directory, console, tensorboard=tensorboard)
    _finish(outcome, [directory])


@app.command()
def resume(
  directory: DirectoryArgument,
  devices: DevicesOption = None,
  allow_different: DifferentOption = False,
  tensorboard: TensorboardOption = False,
) -> None:
  """Goes on with a run from its newest good checkpoint, to the same bits."""
  with _errors_as_one_line():
    begun = run_directory.RunDirectory(directory).read_status()
    _set_up(devices or begun.get("machine", {}).get("devices"))
    outcome = loop.resume(
      directory,
      rich.console.Console(),
      allow_different=allow_different,
      tensorboard=tensorboard,
    )
    _finish(outcome, [directory])


@app.command()
def sweep(
  arguments: Annotated[
    list[str],
    typer.Argument(
      metavar="CONFIG... [KEY=VALUE]...", help="As in `train`, or a list."
    ),
  ],
  out: Annotated[
    pathlib.Path, typer.Option(metavar="DIR", help="Holds a directory for each CONFIG.")
  ] = pathlib.Path("checkpoints"),
  devices: DevicesOption = None,
  allow_different: DifferentOption = False,
  tensorboard: TensorboardOption = False,
) -> None:
  """Makes many runs; stopped and called again, it does what is left."""
  with _errors_as_one_line():
    _set_up(devices)
    overrides = [argument for argument in arguments if "=" in argument]
    configs = [pathlib.Path(a) for a in arguments if "=" not in a]
    if not configs:
      raise ValueError(
        "a sweep needs a config: jaxgames sweep configs/ttt3d/table2.yaml"
      )
    # All are read before the first is begun.
    runs = {
      out / config_lib.sweep_name(config): config_lib.load_sweep(config, overrides)
      for config in configs
    }
    console = rich.console.Console()
    for directory, named in runs.items():
      outcome = sweep_lib.run(
        named,
        directory,
        console,
        allow_different=allow_different,
        tensorboard=tensorboard,
      )
      if not outcome.is_finished:
        break
    _finish(outcome, list(runs))


@app.command()
def report(
  directories: Annotated[
    list[pathlib.Path],
    typer.Argument(metavar="DIR...", help="Runs, or directories of runs."),
  ],
  out: Annotated[
    pathlib.Path | None,
    typer.Option(
      metavar="DIR", help="For tables and figures. Default: report/ in the first DIR."
    ),
  ] = None,
  as_json: JsonOption = False,
) -> None:
  """Shows tables and figures beside the papers' numbers, of unfinished runs too."""
  with _errors_as_one_line():
    found = report_lib.make(directories)
    if as_json:
      print(json.dumps(report_lib.as_json(found)))
    else:
      _show(found, out or directories[0] / "report")


@app.command("match")
def match(
  game: GameArgument,
  a: Annotated[
    str, typer.Argument(metavar="A", help=f"A player: {PLAYER_HELP}; or {ENGINE_HELP}.")
  ],
  b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
  num_games: Annotated[int, typer.Option("--games", help="How many.", min=1)] = 1000,
  seed: SeedOption = 0,
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
  as_json: JsonOption = False,
) -> None:
  """Lets two players play each other, taking turns in moving first."""
  with _errors_as_one_line():
    result = versus.play(
      jaxgames.make(game),
      a,
      b,
      num_games=num_games,
      seed=seed,
      limits=client.Limits(turn=turn_seconds, start=start_seconds),
      record=record,
      console=rich.console.Console(stderr=True, quiet=as_json),
    )
  if as_json:
    print(json.dumps(result.as_json()))
  else:
    console = rich.console.Console()
    console.print(result.as_table(game, a, b))
    for line in result.forfeits_as_lines():
      console.print(line, highlight=False, markup=False, soft_wrap=True)


@app.command("brain")
def brain(
  player: Annotated[
    str | None,
    typer.Argument(
      metavar="[PLAYER]",
      help=f"Who plays: {PLAYER_HELP}. Default: the agent that comes with the project.",
    ),
  ] = None,
  fallback: Annotated[
    list[str] | None,
    typer.Option(
      metavar="PLAYER",
      help="Who plays where PLAYER is too slow for the time limit; may be repeated, "
      "from strong to weak. Default for mcts: fewer simulations.",
    ),
  ] = None,
  seed: SeedOption = 0,
) -> None:
  """Plays Gomoku as an engine: Gomocup's protocol on standard input and output."""
  with _errors_as_one_line():
    devices_lib.enable_compilation_cache()
    chosen = player or agents.default_opponent("gomoku")
    specs = [chosen, *(fallback or ())]
    brain_lib.run(brain_lib.make_players_fn(specs), name=player or "agent", seed=seed)


@app.command("play")
def play(
  game: GameArgument,
  against: Annotated[
    str | None,
    typer.Option(
      help=f"The opponent: {PLAYER_HELP}. Default: an agent that comes with the "
      "project, or tree search."
    ),
  ] = None,
  second: Annotated[bool, typer.Option("--second", help="Move second.")] = False,
  seed: SeedOption = 0,
) -> None:
  """Lets you play against an agent in the terminal."""
  with _errors_as_one_line():
    the_game = jaxgames.make(game)
    name = against or "the agent"
    opponent = agents.make(the_game, against or agents.default_opponent(game))
    # Hints come from who is perfect, or else from the best at hand; if that is the
    # opponent, it is not loaded twice.
    adviser = None
    if players.PLAYERS["expert"].plays(the_game):
      adviser = agents.make(the_game, "expert")
    elif against is not None:
      adviser = agents.make(the_game, agents.default_opponent(game))
    play_lib.play_in_terminal(
      the_game,
      opponent,
      human_first=not second,
      hint_player=adviser,
      opponent_name=name,
      seed=seed,
    )


@app.command("bench")
def bench_command(
  what: Annotated[
    str, typer.Argument(metavar="[all|games|training]", help="What to measure.")
  ] = "all",
  devices: DevicesOption = None,
  as_json: JsonOption = False,
) -> None:
  """Measures speed: of games, beside peers in the same run, and of training."""
  with _errors_as_one_line():
    if what not in ("all", "games", "training"):
      raise ValueError(f"bench measures all, games or training, not {what!r}")
    _set_up(devices)
    console = rich.console.Console(stderr=True, quiet=as_json)
    numbers: dict[str, float] = {}
    tables = []
    for name, part in (("games", bench), ("training", bench_training)):
      if what in ("all", name):
        found = part.measure(progress_fn=lambda run: console.print(f"measuring {run}"))
        numbers.update(found)
        tables.append(part.table(found))
  if as_json:
    print(json.dumps(numbers))
  else:
    rich.console.Console().print(*tables, sep="\n")


def main() -> None:
  """Runs the command line."""
  app()


def _set_up(num_devices: int | None) -> None:
  """Chooses devices and turns the compilation cache on, before jax is used."""
  devices_lib.set_cpu_devices(num_devices or os.cpu_count() or 1)
  devices_lib.enable_compilation_cache()


def _finish(outcome: loop.Outcome, directories: list[pathlib.Path]) -> None:
  """Shows the results of what is finished, or leaves as a signal would have it."""
  if outcome.exit_code:
    raise typer.Exit(outcome.exit_code)
  _show(report_lib.make(directories), directories[0] / "report")
  for directory in directories:
    text = f"agents, to match or play: {directory}"
    rich.console.Console().print(text, highlight=False, markup=False, soft_wrap=True)


def _show(found: report_lib.Report, directory: pathlib.Path) -> None:
  """Prints a report, writes it, and says where it is."""
  console = rich.console.Console()
  report_lib.print_to(console, found)
  for path in report_lib.write(found, directory):
    console.print(f"written: {path}", highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _errors_as_one_line() -> Iterator[None]:
  """Ends the program with the sentence of an error, not with its traceback."""
  try:
    yield
  except ValueError as error:
    print(f"jaxgames: {error}", file=sys.stderr)
    raise typer.Exit(2) from error
  except KeyboardInterrupt as error:
    raise typer.Exit(130) from error
