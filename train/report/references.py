"""Checks a config's reference to a paper before training starts.

Free of jax. `train.config` does not know papers, and a report is made only after
training, so commands that start training call this module.
"""

from train import config as config_lib
from train.report import papers
from train.report import runs as runs_lib

__all__ = ["check", "find_mistake"]


def check(unchecked: config_lib.Unchecked) -> None:
  """Checks that a config's paper, table and row exist.

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
    for reference in runs_lib.read_references(config_lib.to_mapping(config)):
      field = "paper.name"
      paper = papers.load(reference.name)
      for table in reference.tables:
        field = "paper.row" if table in paper.tables else "paper.table"
        paper.find(table, reference.row, config.game)
  except ValueError as error:
    return field, str(error)
  return None
