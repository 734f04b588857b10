"""Optional TensorBoard logs."""

from collections.abc import Mapping, Sequence
import pathlib
from typing import Any

__all__ = ["Writer"]

# The fields that identify a line are not curves.
IDENTITY = ("test", "trial", "games")


class Writer:
  """Writes test results, a curve for every trial and metric."""

  def __init__(self, directory: pathlib.Path, *, first_games: int = 0):
    """Opens a log.

    Args:
      directory: the directory of the log.
      first_games: when a run is resumed, later points of its curves are dropped.

    Raises:
      ValueError: if tensorboardX is not installed.
    """
    try:
      import tensorboardX
    except ImportError as error:
      raise ValueError(
        "TensorBoard needs the package tensorboardX: pip install 'jaxgames[tensorboard]'"
      ) from error
    self._writer = tensorboardX.SummaryWriter(str(directory), purge_step=first_games)

  def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
    """Writes the lines of one test."""
    for line in lines:
      for name, value in line.items():
        if name not in IDENTITY and value is not None:
          tag = f"{name}/trial_{line['trial']}"
          self._writer.add_scalar(tag, value, line["games"])
    self._writer.flush()

  def close(self) -> None:
    self._writer.close()
