"""The trainer: configs, learners, runs, and everything around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  import pathlib

  from train.report import notebook
  from train.run import agents

__all__ = ["load_agent", "load_run"]


def load_agent(path: pathlib.Path | str) -> agents.Agent:
  """Loads a trained agent.

  Args:
    path: a run's directory, perhaps with a trial, `DIR@TRIAL` or `DIR@TRIAL:best`; an
      agent's file; or an agent that comes with the package, `ttt3d` or `gomoku`.

  Returns:
    A player with `act(state, key)`, `values(state)` and its `parameters`.

  Raises:
    ValueError: if there is no such agent.
  """
  # Imported here: it imports jax, and this package is imported by every command.
  from train.run import agents

  return agents.load(path)


def load_run(path: pathlib.Path | str) -> notebook.RunView:
  """Reads a run, finished or not; a notebook shows its facts and its curve.

  Args:
    path: the run's directory.

  Raises:
    ValueError: if a file is missing or invalid.
  """
  # Imported here, as above.
  from train.report import notebook

  return notebook.load_run(path)
