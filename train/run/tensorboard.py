"""Curves for TensorBoard, if they are wanted."""

from collections.abc import Mapping, Sequence
import pathlib
from typing import Any

__all__ = ["Writer"]

# What identifies a line is no curve.
IDENTITY = ("test", "trial", "games")


class Writer:
  """Writes the numbers of tests, a curve for every trial and metric."""

  def __init__(self, directory: pathlib.Path, *, first_games: int = 0):
    """Opens a log.

    Args:
      directory: where the log is kept.
      first_games: curves of an interrupted run are cut back to here.

    Raises:
      ValueError: if the writer is not installed.
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
