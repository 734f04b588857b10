"""The commands that train, and that keep what was trained."""

from __future__ import annotations

from collections.abc import Collection
import pathlib
from typing import TYPE_CHECKING, Annotated

import rich.console
import typer

from train import config as config_lib
from train.cli import arguments
from train.cli import common
from train.run import places

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
    typer.Option(
      metavar="DIR",
      help="Default: checkpoints/ and the config's name.",
      parser=arguments.as_path,
    ),
  ] = None,
  devices: arguments.DevicesOption = None,
  tensorboard: arguments.TensorboardOption = False,
) -> None:
  """Trains what a config describes, then shows the results."""
  unchecked = config_lib.read(config, overrides or ())
  directory = out or pathlib.Path("checkpoints") / _stem(unchecked)
  places.check_run(directory)
  (settings,) = _check([unchecked], devices)
  from train.run import loop

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
  from train.run import loop

  common.set_up(devices or loop.num_devices(directory))
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
    pathlib.Path,
    typer.Option(
      metavar="DIR",
      help="Holds a directory for each CONFIG.",
      parser=arguments.as_path,
    ),
  ] = pathlib.Path("checkpoints"),
  devices: arguments.DevicesOption = None,
  allow_different: arguments.DifferentOption = False,
  tensorboard: arguments.TensorboardOption = False,
) -> None:
  """Makes many runs; the same command again continues after a stop.

  Several of these commands may share a directory: each takes the next run that no other
  is making. One that finds no run left for it ends, and leaves the report to the last.
  """
  runs = _load_sweeps(configs, out, devices)
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
    typer.Argument(
      metavar="FILE.safetensors", help="What to write.", parser=arguments.as_path
    ),
  ],
  force: Annotated[
    bool, typer.Option("--force", help="Replace FILE if it is there already.")
  ] = False,
) -> None:
  """Writes an agent as one file: weights, config, and where it comes from."""
  from train.run import export as export_lib

  common.say(export_lib.write(agent, file, replaces=force).as_text())


def _load_sweeps(
  arguments_given: list[str], out: pathlib.Path, devices: int | None
) -> dict[pathlib.Path, list[tuple[str, config_lib.RunConfig]]]:
  """Returns the runs by the directory of their sweep; all are read before one begins."""
  overrides = [argument for argument in arguments_given if "=" in argument]
  configs = [argument for argument in arguments_given if "=" not in argument]
  if not configs:
    raise ValueError("a sweep needs a config: jaxgames sweep ttt3d/table2")
  sweeps = {
    out / config_lib.sweep_name(config): config_lib.read_sweep(config, overrides)
    for config in configs
  }
  directories = [path / name for path, named in sweeps.items() for name, _ in named]
  places.check_sweep(out, directories)
  runs = [run for named in sweeps.values() for _, run in named]
  checked = iter(_check(runs, devices, directories))
  return {
    path: [(name, next(checked)) for name, _ in named] for path, named in sweeps.items()
  }


def _check(
  unchecked: list[config_lib.Unchecked],
  devices: int | None,
  directories: Collection[pathlib.Path] = (),
) -> list[config_lib.RunConfig]:
  """Returns configs, after all checks: first those that need no jax.

  Args:
    unchecked: the configs.
    devices: from the command line.
    directories: of the runs, whose agents are not there yet.
  """
  from train.report import references

  for run in unchecked:
    references.check(run)
  common.set_up(devices)
  configs = [config_lib.check(run) for run in unchecked]
  from train.run import preflight

  for run in unchecked:
    if not preflight.needs_run_of(run.config, directories):
      references.check_metrics(run, preflight.check(run.config))
  return configs


def _stem(unchecked: config_lib.Unchecked) -> str:
  return pathlib.Path(unchecked.source.name).stem


def _finish(outcome: loop.Outcome, directories: list[pathlib.Path]) -> None:
  """Shows the results of what is finished, or leaves as a signal would have it."""
  from train.report import document

  if outcome.signal and not outcome.is_finished:
    raise typer.Exit(outcome.exit_code)
  if not outcome.is_finished:
    return  # Other processes train what is left, and will show the report.
  common.show_report(document.make(directories), directories[0] / "report")
  for directory in directories:
    common.say(f"agents, to match, play or export: {_name_agents(directory)}")
  if outcome.has_diverged:
    common.say(f"in {outcome.directory} all trials of a run have diverged: see above")
    raise typer.Exit(outcome.exit_code)


def _name_agents(directory: pathlib.Path) -> str:
  """Returns the runs in a directory, each as `jaxgames match` takes it."""
  from train.run import directory as run_directory

  found = [str(files.path) for files in run_directory.find_runs(directory)]
  more = len(found) - MOST_NAMED
  named = ", ".join(found[:MOST_NAMED])
  return f"{named}, and {more} more in {directory}" if more > 0 else named
