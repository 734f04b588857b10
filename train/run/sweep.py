"""Many runs, one after another."""

from collections.abc import Sequence
import pathlib
from typing import Any

import rich.console

from train import config as config_lib
from train.run import directory as run_directory
from train.run import loop

__all__ = ["run"]


def run(
  sweep: Sequence[tuple[str, config_lib.RunConfig]],
  directory: pathlib.Path | str,
  console: rich.console.Console,
  *,
  allow_different: bool = False,
  tensorboard: bool = False,
) -> loop.Outcome:
  """Makes all runs that are not made yet, each in a directory of its name.

  What is finished is skipped and what was begun is continued, so the same call again
  does what is left.

  Args:
    sweep: names and configs.
    directory: where the runs' directories are.
    console: where progress is shown.
    allow_different: see `loop.resume`.
    tensorboard: see `loop.resume`.

  Returns:
    How the sweep ended; it is finished when all runs are.

  Raises:
    ValueError: if a run there was begun with another config.
  """
  directory = pathlib.Path(directory)
  # All are looked at before hours are spent on the first.
  for name, config in sweep:
    _check_same_config(config, run_directory.RunDirectory(directory / name))
  for place, (name, config) in enumerate(sweep, start=1):
    files = run_directory.RunDirectory(directory / name)
    if files.read_status().get("is_finished"):
      continue
    text = f"the same command again (run {place} of {len(sweep)})"
    options: dict[str, Any] = {
      "tensorboard": tensorboard,
      "how_to_resume": text,
      "next_config": _next_config(sweep[place:], directory),
    }
    if files.holds_run:
      options["allow_different"] = allow_different
      outcome = loop.resume(files.path, console, **options)
    else:
      outcome = loop.start(config, files.path, console, **options)
    if outcome.signal is not None:
      # The run itself may have come to its end, but then others were not begun.
      is_finished = outcome.is_finished and place == len(sweep)
      if outcome.is_finished and not is_finished:
        console.print(f"stopped; to continue: {text}", markup=False, highlight=False)
      return loop.Outcome(directory, is_finished=is_finished, signal=outcome.signal)
  return loop.Outcome(directory, is_finished=True)


def _next_config(
  sweep: Sequence[tuple[str, config_lib.RunConfig]], directory: pathlib.Path
) -> config_lib.RunConfig | None:
  """Returns the config of the first run that is not begun, if there is one."""
  for name, config in sweep:
    if not run_directory.RunDirectory(directory / name).holds_run:
      return config
  return None


def _check_same_config(
  config: config_lib.RunConfig, files: run_directory.RunDirectory
) -> None:
  if not files.config.exists():
    return
  # Read as a config: what was left out then has its default now.
  saved = config_lib.to_mapping(config_lib.load_saved(files.config))
  changes = config_lib.differences(saved, config_lib.to_mapping(config))
  if changes:
    raise ValueError(
      f"{files.path} was begun with another config: {'; '.join(changes)}; choose "
      "another directory, or remove it"
    )
