"""Checks a config's reference to a paper before training starts.

Free of jax. `train.config` does not know papers, and a report is made only after
training, so commands that start training call this module.
"""

from collections.abc import Collection
from typing import Any

from jaxgames import suggestions
from train import config as config_lib
from train.report import papers
from train.report import runs as runs_lib

__all__ = ["check", "check_metrics", "find_mistake"]

# What a table may show of every run, beside the metrics of its tests.
OF_EVERY_RUN = ("seconds",)


def check(unchecked: config_lib.Unchecked) -> None:
  """Checks that a config's paper, table and row exist, and what it says of them.

  Raises:
    ValueError: if one does not; one sentence with the file, the value and the nearest
      one that exists.
  """
  mistake = find_mistake(unchecked.config)
  if mistake is not None:
    raise unchecked.error(*mistake)


def find_mistake(config: config_lib.RunConfig) -> tuple[str, str] | None:
  """Returns the field and the message of the first mistake, or None."""
  field = "paper"
  try:
    _check_fields(config.paper or {})
    for reference in runs_lib.read_references(config_lib.to_mapping(config)):
      field = "paper.name"
      paper = papers.load(reference.name)
      for table in reference.tables:
        field = "paper.row" if table in paper.tables else "paper.table"
        paper.find(table, reference.row, config.game)
  except ValueError as error:
    return field, str(error)
  return None


def check_metrics(unchecked: config_lib.Unchecked, metrics: Collection[str]) -> None:
  """Checks that a run has what the columns of its paper's tables show.

  Args:
    unchecked: the config.
    metrics: the names of those that the run's tests have.

  Raises:
    ValueError: if one lacks; the report could not be made when all is trained.
  """
  config, known = unchecked.config, [*metrics, *OF_EVERY_RUN]
  for reference in runs_lib.read_references(config_lib.to_mapping(config)):
    for table in reference.tables:
      found = papers.load(reference.name).find(table, reference.row, config.game)
      for name, column in found.columns.items():
        if column.game in (None, config.game) and column.metric not in known:
          hint = suggestions.close_match(column.metric, sorted(known))
          raise unchecked.error(
            "paper.table",
            f"column {name!r} of table {table} shows {column.metric!r}, which these runs "
            f"do not have: {hint}",
          )


def _check_fields(paper: dict[str, Any]) -> None:
  for field in paper:
    if field not in runs_lib.PAPER_FIELDS:
      hint = suggestions.close_match(str(field), runs_lib.PAPER_FIELDS)
      raise ValueError(f"there is no field {field!r}: {hint}")
