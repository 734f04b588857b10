"""The commands that train, and that keep what was trained."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Annotated

import rich.console
import typer

from train import config as config_lib
from train.cli import arguments
from train.cli import common

if TYPE_CHECKING:
  from train.run import loop

__all__ = ["export", "resume", "sweep", "train"]

# So many agents are named when they are trained.
MOST_NAMED = 5


def train(
  config: arguments.ConfigArgument,
  overrides: arguments.OverridesArgument = None,
  out: Annotated[
    pathlib.Path | None,
    typer.Option(metavar="DIR", help="Default: checkpoints/ and the config's name."),
  ] = None,
  devices: arguments.DevicesOption = None,
  tensorboard: arguments.TensorboardOption = False,
) -> None:
  """Trains what a config describes, then shows the results."""
  with common.errors_as_one_line():
    unchecked = config_lib.read(config, overrides or ())
    (settings,) = _check([unchecked], devices)
    from train.run import loop

    directory = out or pathlib.Path("checkpoints") / _stem(unchecked)
    console = rich.console.Console()
    outcome = loop.start(settings, directory, console, tensorboard=tensorboard)
    _finish(outcome, [directory])


def resume(
  directory: arguments.DirectoryArgument,
  devices: arguments.DevicesOption = None,
  allow_different: arguments.DifferentOption = False,
  tensorboard: arguments.TensorboardOption = False,
) -> None:
  """Continues a run from its newest good checkpoint, to the same bits."""
  with common.errors_as_one_line():
    from train.run import directory as run_directory
    from train.run import loop

    begun = run_directory.RunDirectory(directory).read_status()
    common.set_up(devices or begun.get("machine", {}).get("devices"))
    outcome = loop.resume(
      directory,
      rich.console.Console(),
      allow_different=allow_different,
      tensorboard=tensorboard,
    )
    _finish(outcome, [directory])


def sweep(
  configs: Annotated[
    list[str],
    typer.Argument(
      metavar="CONFIG... [KEY=VALUE]...",
      help="As in `train`, or a list.",
      autocompletion=arguments.complete_configs,
    ),
  ],
  out: Annotated[
    pathlib.Path, typer.Option(metavar="DIR", help="Holds a directory for each CONFIG.")
  ] = pathlib.Path("checkpoints"),
  devices: arguments.DevicesOption = None,
  allow_different: arguments.DifferentOption = False,
  tensorboard: arguments.TensorboardOption = False,
) -> None:
  """Makes many runs; the same command again continues after a stop.

  Several of these commands may share a directory: each takes the next run that no other
  is making. One that finds no run left for it ends, and leaves the report to the last.
  """
  with common.errors_as_one_line():
    runs = {out / name: named for name, named in _load_sweeps(configs, devices).items()}
    from train.run import sweep as sweep_lib

    console = rich.console.Console()
    unfinished = None
    for directory, named in runs.items():
      outcome = sweep_lib.run(
        named,
        directory,
        console,
        allow_different=allow_different,
        tensorboard=tensorboard,
      )
      unfinished = unfinished if outcome.is_finished else outcome
      if outcome.signal is not None:
        break
    _finish(unfinished or outcome, list(runs))


def export(
  agent: Annotated[
    str,
    typer.Argument(
      metavar="RUN[@TRIAL][:best]",
      help="A run's directory; without a trial, trial 0; with `best`, the agent when "
      "the mean test score was highest, not the newest one.",
    ),
  ],
  file: Annotated[
    pathlib.Path,
    typer.Argument(metavar="FILE.safetensors", help="What to write."),
  ],
  force: Annotated[
    bool, typer.Option("--force", help="Replace FILE if it is there already.")
  ] = False,
) -> None:
  """Writes an agent as one file: weights, config, and where it comes from."""
  with common.errors_as_one_line():
    from train.run import export as export_lib

    common.say(export_lib.write(agent, file, replaces=force).as_text())


def _load_sweeps(
  arguments_given: list[str], devices: int | None
) -> dict[str, list[tuple[str, config_lib.RunConfig]]]:
  """Returns the runs of each sweep by its name; all are read before one is begun."""
  overrides = [argument for argument in arguments_given if "=" in argument]
  configs = [argument for argument in arguments_given if "=" not in argument]
  if not configs:
    raise ValueError("a sweep needs a config: jaxgames sweep ttt3d/table2")
  sweeps = {
    config_lib.sweep_name(config): config_lib.read_sweep(config, overrides)
    for config in configs
  }
  checked = iter(
    _check([run for named in sweeps.values() for _, run in named], devices)
  )
  return {
    sweep_name: [(name, next(checked)) for name, _ in named]
    for sweep_name, named in sweeps.items()
  }


def _check(
  unchecked: list[config_lib.Unchecked], devices: int | None
) -> list[config_lib.RunConfig]:
  """Returns configs, after all checks: first those that need no jax."""
  from train.report import references

  for run in unchecked:
    references.check(run)
  common.set_up(devices)
  return [config_lib.check(run) for run in unchecked]


def _stem(unchecked: config_lib.Unchecked) -> str:
  return pathlib.Path(unchecked.source.name).stem


def _finish(outcome: loop.Outcome, directories: list[pathlib.Path]) -> None:
  """Shows the results of what is finished, or leaves as a signal would have it."""
  from train.report import document

  if outcome.exit_code:
    raise typer.Exit(outcome.exit_code)
  if not outcome.is_finished:
    return  # Other processes train what is left, and will show the report.
  common.show_report(document.make(directories), directories[0] / "report")
  for directory in directories:
    common.say(f"agents, to match, play or export: {_name_agents(directory)}")


def _name_agents(directory: pathlib.Path) -> str:
  """Returns the runs in a directory, each as `jaxgames match` takes it."""
  from train.run import directory as run_directory

  found = [str(files.path) for files in run_directory.find_runs(directory)]
  more = len(found) - MOST_NAMED
  named = ", ".join(found[:MOST_NAMED])
  return f"{named}, and {more} more in {directory}" if more > 0 else named
