"""What must be the same when a run is continued."""

from collections.abc import Mapping
from typing import Any

from train import config as config_lib
from train.run import directory as run_directory

__all__ = ["ARITHMETIC", "check_config", "check_environment"]

# The field of an environment that older checkpoints do not have: theirs was the first.
ARITHMETIC = "the learner's arithmetic"


def check_config(
  saved: Mapping[str, Any],
  config: config_lib.RunConfig,
  files: run_directory.RunDirectory,
) -> None:
  """Refuses a config that was changed under a run.

  Args:
    saved: the config when the run was left.
    config: as it is in the directory now.
    files: of the run.

  Raises:
    ValueError: with the fields that differ.
  """
  now = config_lib.to_mapping(config)
  changes = config_lib.differences(config_lib.migrate_saved(saved), now)
  if changes:
    raise ValueError(
      f"{files.config} was changed under the run: {'; '.join(changes)}; put it back to "
      "continue, or start another run"
    )


def check_environment(
  saved: Mapping[str, Any],
  environment: Mapping[str, Any],
  files: run_directory.RunDirectory,
  *,
  allow_different: bool,
) -> str:
  """Refuses to continue where the same bits cannot be promised.

  Args:
    saved: the environment when the run was left.
    environment: that of this process.
    files: of the run.
    allow_different: whether to continue all the same.

  Returns:
    A warning, if there is something to warn of.

  Raises:
    ValueError: with what differs.
  """
  changes = config_lib.differences({ARITHMETIC: 1, **saved}, environment)
  if not changes:
    return ""
  text = f"the same bits cannot be promised: {'; '.join(changes)}"
  if not allow_different:
    raise ValueError(
      f"{files.path} is not continued, since {text}; --allow-different does so all the "
      "same"
    )
  return f"continued all the same, but {text}"
