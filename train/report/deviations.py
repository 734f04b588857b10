"""How runs were made otherwise than the row of a paper that they stand beside."""

from collections.abc import Mapping
from typing import Any

from train.report import papers
from train.report import runs as runs_lib

__all__ = ["find"]


def find(record: runs_lib.Record, table: papers.Table, row: str) -> tuple[str, ...]:
  """Returns how the trials of a row deviate from the paper's; usually not at all.

  Fewer trials, fewer games and other settings are deviations; more of the former are
  not. A run that is not finished has the games that it has so far.

  Args:
    record: the trials.
    table: the paper's.
    row: the row's name. One without numbers in the paper has nothing to deviate from.
  """
  if not table.values.get(row):
    return ()
  found = []
  if len(record.trials) < table.trials:
    found.append(f"{len(record.trials):,} of {table.trials:,} trials")
  settings = {
    **record.run.settings,
    "games": _num_games(record),
    "opponent": _opponent(record, row),
  }
  for name, wanted in table.made_with(row).items():
    value = _look_up(settings, name)
    if not wanted.allows(value):
      is_now = papers.format_setting(value)
      found.append(f"{name} is {is_now}, not {wanted.as_text()}")
  return tuple(found)


def _num_games(record: runs_lib.Record) -> int:
  """Returns the games of each trial; of a finished run as many as planned."""
  # A finished run may have played a few more, as the last test waits for whole games;
  # trials that ended early had nothing left to learn.
  status = record.run.status
  return status.games_wanted if record.is_finished else record.run.games_done


def _opponent(record: runs_lib.Record, row: str) -> Any:
  """Returns the opponent in training; of several, that of the row."""
  opponent = record.run.settings.get("opponent", "self")
  return opponent.get(row) if isinstance(opponent, Mapping) else opponent


def _look_up(settings: Mapping[str, Any], name: str) -> Any:
  """Returns the setting of a dotted name; None if there is none."""
  value: Any = settings
  for part in name.split("."):
    value = value.get(part) if isinstance(value, Mapping) else None
  return value
