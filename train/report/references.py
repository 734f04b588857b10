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
  reason = find_mistake(unchecked.config)
  if reason is not None:
    raise unchecked.error("paper", reason)


def find_mistake(config: config_lib.RunConfig) -> str | None:
  """Returns what is wrong with the paper of a config, if anything is."""
  try:
    for reference in runs.read_references(config_lib.to_mapping(config)):
      for table in reference.tables:
        papers.load(reference.name).find(table, reference.row, config.game)
  except ValueError as error:
    return str(error)
  return None
