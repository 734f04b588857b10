"""What a config says of a paper, checked before hours are spent on its run.

Free of jax. Configs do not know papers, and reports come when all is trained, so that
commands which begin training ask here.
"""

from train import config as config_lib
from train.report import papers
from train.report import runs

__all__ = ["check", "find_mistake"]


def check(unchecked: config_lib.Unchecked) -> None:
  """Refuses a config whose paper, table or row does not exist.

  Raises:
    ValueError: one sentence with the file, what it says, and the closest that there is.
  """
  mistake = find_mistake(unchecked.config)
  if mistake is not None:
    raise unchecked.error(*mistake)


def find_mistake(config: config_lib.RunConfig) -> tuple[str, str] | None:
  """Returns the field and the sentence of the first mistake, if there is one."""
  field = "paper"
  try:
    for reference in runs.read_references(config_lib.to_mapping(config)):
      field = "paper.name"
      paper = papers.load(reference.name)
      for table in reference.tables:
        field = "paper.row" if table in paper.tables else "paper.table"
        paper.find(table, reference.row, config.game)
  except ValueError as error:
    return field, str(error)
  return None
