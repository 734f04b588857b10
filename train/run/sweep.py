"""Many runs, one after another."""

from collections.abc import Mapping, Sequence
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
  does what is left. Several processes may make one sweep: each takes the next run that
  no other is making, and looks again at those of others when it has come to the end,
  in case one was stopped. It does not wait for them.

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
  options = {"allow_different": allow_different, "tensorboard": tensorboard}
  left = list(range(len(sweep)))
  num_before = None
  # As long as one was made or has ended, another one may be free by now.
  while left and len(left) != num_before:
    num_before = len(left)
    left, stopped = _make_free(sweep, left, directory, console, options)
    if stopped is not None:
      return stopped
  if left:
    names = ", ".join(sweep[place][0] for place in left)
    text = f"{directory}: still trained by other processes: {names}; nothing else to do"
    console.print(text, markup=False, highlight=False, soft_wrap=True)
  diverged = [name for name, _ in sweep if _has_diverged(directory / name)]
  return loop.Outcome(directory, is_finished=not left, has_diverged=bool(diverged))


def _make_free(
  sweep: Sequence[tuple[str, config_lib.RunConfig]],
  places: Sequence[int],
  directory: pathlib.Path,
  console: rich.console.Console,
  options: Mapping[str, bool],
) -> tuple[list[int], loop.Outcome | None]:
  """Makes the runs that no other process is making.

  Args:
    sweep: names and configs.
    places: those to be made.
    directory: of the sweep.
    console: where progress is shown.
    options: of `loop.resume`.

  Returns:
    The places of runs that others are making; and how the sweep ends, if it was stopped.
  """
  taken = []
  for place in places:
    text = f"the same command again (run {place + 1} of {len(sweep)})"
    following = _next_config(sweep[place + 1 :], directory)
    try:
      outcome = _make(*sweep[place], directory, console, options, text, following)
    except run_directory.TakenError:
      taken.append(place)
      continue
    if outcome is not None and outcome.signal is not None:
      # The run itself may have come to its end, but then others were not begun.
      is_finished = outcome.is_finished and place == len(sweep) - 1 and not taken
      if outcome.is_finished and not is_finished:
        console.print(f"stopped; to continue: {text}", markup=False, highlight=False)
      end = loop.Outcome(directory, is_finished=is_finished, signal=outcome.signal)
      return taken, end
  return taken, None


def _make(
  name: str,
  config: config_lib.RunConfig,
  directory: pathlib.Path,
  console: rich.console.Console,
  options: Mapping[str, bool],
  how_to_resume: str,
  next_config: config_lib.RunConfig | None,
) -> loop.Outcome | None:
  """Starts or resumes a run; returns None if it is finished already.

  Raises:
    TakenError: if another process is making it.
  """
  files = run_directory.RunDirectory(directory / name)
  if files.read_status().get("is_finished"):
    return None
  common: dict[str, Any] = {
    "tensorboard": options["tensorboard"],
    "how_to_resume": how_to_resume,
    "next_config": next_config,
  }
  if files.path.exists():
    # Before anything is prepared for it; let go at once, as the loop takes it itself.
    with files.locked():
      pass
  if not files.holds_run:
    return loop.start(config, files.path, console, **common)
  different = options["allow_different"]
  return loop.resume(files.path, console, allow_different=different, **common)


def _has_diverged(path: pathlib.Path) -> bool:
  """Returns whether no trial of a run came to its end."""
  status = run_directory.RunDirectory(path).read_status()
  return bool(status.get("diverged")) and len(status["diverged"]) == status["trials"]


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
  if not files.holds_run:
    return
  # Read as a config: what was left out then has its default now.
  saved = config_lib.to_mapping(loop.load_config(files)[0])
  changes = config_lib.differences(saved, config_lib.to_mapping(config))
  if changes:
    raise ValueError(
      f"{files.path} was begun with another config: {'; '.join(changes)}; choose "
      "another directory, or remove it"
    )
