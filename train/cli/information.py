"""The commands that tell: what there is, what was trained, and how fast it is."""

import json
import pathlib
from typing import Annotated, Literal

import rich.box
import rich.console
import rich.filesize
import rich.markup
import rich.table
import typer

from jaxgames import registry as game_registry
from jaxgames import suggestions
from jaxgames.players import registry as player_registry
from train import config as config_lib
from train.cli import arguments
from train.cli import common
from train.config import agent_names
from train.config import names
from train.learners import registry as learner_registry
from train.run import listing

__all__ = ["bench", "config", "games", "report", "runs"]

# Of the table of runs, in letters.
LEAST_WIDTH = 140


def games() -> None:
  """Lists the games, players, agents, learners and configs that may be named."""
  console = rich.console.Console()
  table = rich.table.Table("game", "board", "line", "stones fall", title="Games")
  for name, board in game_registry.BOARDS.items():
    sides = "x".join(map(str, board.shape))
    table.add_row(name, sides, str(board.length), "yes" if board.gravity else "no")
  console.print(table)
  console.print("On another board: gomoku:size=19.", highlight=False)
  table = rich.table.Table("player", "what it does", "options", title="Players")
  for name, entry in player_registry.PLAYERS.items():
    options = [
      key if option.default is None else f"{key}={option.default}"
      for key, option in entry.options.items()
    ]
    table.add_row(name, entry.summary, "\n".join(options))
  for name in agent_names.BUNDLED:
    table.add_row(name, f"the bundled agent for {name}; others: see `jaxgames export`")
  console.print(table)
  table = rich.table.Table("learner", "what it learns", title="Learners")
  for name, kind in learner_registry.KINDS.items():
    table.add_row(name, kind.summary)
  console.print(table)
  table = rich.table.Table("folder", "configs", title="Configs")
  for folder, inside in _configs_by_folder().items():
    table.add_row(folder, "\n".join(inside))
  console.print(table)


def config(
  config: Annotated[
    str | None,
    typer.Argument(
      metavar="CONFIG",
      help="As in `train` or `sweep`.",
      autocompletion=arguments.complete_configs,
    ),
  ] = None,
  overrides: arguments.OverridesArgument = None,
  schema: Annotated[
    bool,
    typer.Option(
      "--schema", help="Print the JSON schema of run configs instead, for editors."
    ),
  ] = False,
) -> None:
  """Prints a config as it is composed, with all defaults written out."""
  if schema:
    from train.config import schema as schema_lib

    print(json.dumps(schema_lib.make(), indent=2))
    return
  if config is None:
    raise ValueError("which config? as in jaxgames config quickstart trials=2")
  from train.report import references

  unchecked = config_lib.read_sweep(config, overrides or ())
  for _, run in unchecked:
    references.check(run)
  found = [(name, config_lib.check(run)) for name, run in unchecked]
  for name, settings in found:
    # A sweep is several documents in one text.
    if len(found) > 1:
      print(f"---\n# {name}")
    print(config_lib.dump(settings), end="")


def runs(
  directory: Annotated[
    pathlib.Path,
    typer.Argument(
      metavar="[DIR]",
      help="A directory with runs anywhere below.",
      parser=arguments.as_path,
    ),
  ] = pathlib.Path("checkpoints"),
  as_json: arguments.JsonOption = False,
) -> None:
  """Lists runs: how far they are, how good, how large, and when last written."""
  rows = listing.list_runs(directory)
  if as_json:
    print(json.dumps({"runs": [row.as_json() for row in rows]}))
    return
  if not rows:
    common.say(f"there are no runs in {directory}")
    return
  # Narrower, the columns would be torn to pieces; terminals break longer lines.
  width = max(rich.console.Console().width, LEAST_WIDTH)
  rich.console.Console(width=width).print(_table_of_runs(rows))


def report(
  directories: Annotated[
    list[pathlib.Path],
    typer.Argument(
      metavar="DIR...", help="Runs, or directories of runs.", parser=arguments.as_path
    ),
  ],
  out: Annotated[
    pathlib.Path | None,
    typer.Option(
      metavar="DIR",
      help="For tables and figures. Default: report/ in the first DIR.",
      parser=arguments.as_path,
    ),
  ] = None,
  as_json: arguments.JsonOption = False,
) -> None:
  """Shows tables and figures beside the papers' numbers, of unfinished runs too."""
  from train.report import document

  found = document.make(directories)
  if as_json:
    print(json.dumps(document.as_json(found)))
  else:
    common.show_report(found, out or directories[0] / "report")


def bench(
  what: Annotated[
    Literal["all", "games", "training"], typer.Argument(help="What to measure.")
  ] = "all",
  only: Annotated[
    list[str] | None,
    typer.Option(
      metavar="NAME",
      help="Measure only this game or run of training, as ttt3d or ten_trials_16. "
      "May be given several times.",
    ),
  ] = None,
  devices: arguments.DevicesOption = None,
  as_json: arguments.JsonOption = False,
) -> None:
  """Measures speed: of games, beside peers in the same run, and of training.

  Microseconds per ply and core: wall time x usable cores / moves of both sides.
  """
  from train.bench import games as bench_games
  from train.bench import training as bench_training

  common.set_up(devices)
  console = rich.console.Console(stderr=True, quiet=as_json)

  def progress(name: str) -> None:
    console.print(f"measuring {name}")

  known = {"games": list(game_registry.BOARDS), "training": list(bench_training.RUNS)}
  chosen = _choose(known if what == "all" else {what: known[what]}, only or [])
  numbers: dict[str, float] = {}
  tables: list[rich.console.RenderableType] = []
  if chosen["games"]:
    found = bench_games.measure(chosen["games"], progress_fn=progress)
    numbers.update(found)
    tables.append(bench_games.table(found))
  if chosen["training"]:
    runs = {name: bench_training.RUNS[name] for name in chosen["training"]}
    found = bench_training.measure(runs, progress_fn=progress)
    numbers.update(found)
    tables.append(bench_training.table(found))
  if as_json:
    print(json.dumps(numbers))
  else:
    rich.console.Console().print(*tables, sep="\n")


def _choose(known: dict[str, list[str]], only: list[str]) -> dict[str, list[str]]:
  """Returns the names that are wanted of each kind; all if none is given.

  Raises:
    ValueError: if a name is not known.
  """
  every_name = [name for of_kind in known.values() for name in of_kind]
  for name in only:
    if name not in every_name:
      hint = suggestions.close_match(name, every_name)
      raise ValueError(f"--only: there is no {name!r}: {hint}")
  wanted = only or every_name
  return {
    kind: [name for name in known.get(kind, ()) if name in wanted]
    for kind in ("games", "training")
  }


def _configs_by_folder() -> dict[str, list[str]]:
  """Returns the configs that describe a run or a sweep, not only a part of one."""
  from train.report import references

  found: dict[str, list[str]] = {}
  for name in names.known():
    try:
      for _, run in config_lib.read_sweep(name):
        references.check(run)
    except ValueError:
      continue
    found.setdefault(name.rpartition("/")[0], []).append(name)
  return found


def _table_of_runs(rows: list[listing.Row]) -> rich.table.Table:
  table = rich.table.Table(box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
  table.add_column("run", overflow="fold")
  for heading in ("game", "learner"):
    table.add_column(heading, no_wrap=True)
  for heading in ("trials", "games", "tests", "score", "size"):
    table.add_column(heading, justify="right", no_wrap=True)
  table.add_column("last written", no_wrap=True)
  table.add_column("state", overflow="fold")
  for row in rows:
    table.add_row(*map(rich.markup.escape, _cells(row)))
  return table


def _cells(row: listing.Row) -> list[str]:
  """Returns a run's row of the table."""

  def of(part: int | None, whole: int | None) -> str:
    return "" if part is None or whole is None else f"{part:,}/{whole:,}"

  return [
    row.name,
    row.game or "",
    row.learner or "",
    "" if row.trials is None else f"{row.trials:,}",
    of(row.games, row.games_wanted),
    of(row.tests, row.tests_wanted),
    "" if row.score is None else f"{row.score:.1%}",
    rich.filesize.decimal(row.num_bytes),
    "" if row.written is None else f"{row.written.astimezone():%Y-%m-%d %H:%M}",
    row.state if row.problem is None else f"{row.state}: {row.problem}",
  ]
