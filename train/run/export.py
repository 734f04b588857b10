"""An agent of a run, written as one file that every command takes for a player."""

import dataclasses
import pathlib

from train import config as config_lib
from train.config import agent_names
from train.run import agent_file
from train.run import agents

__all__ = ["Exported", "write"]


@dataclasses.dataclass(frozen=True)
class Exported:
  """What was written.

  Attributes:
    path: the file.
    agent: what is in it.
    num_bytes: the file's size.
  """

  path: pathlib.Path
  agent: agents.Agent
  num_bytes: int

  def as_text(self) -> str:
    """Returns one line for people."""
    agent, facts = self.agent, self.agent.provenance
    parts = [
      f"{agent.config.game} agent of {facts.get('run')}",
      f"learner {agent.config.learner.kind}",
      f"trial {facts.get('trial')}",
    ]
    if facts.get("games") is not None:
      parts.append(f"{facts['games']:,} games")
    if facts.get("mean_score") is not None:
      parts.append(f"mean score of its run {facts['mean_score']:.1%}")
    return f"written: {self.path} ({', '.join(parts)}, {self.num_bytes:,} bytes)"


def write(spec: str, path: pathlib.Path | str, *, replaces: bool = False) -> Exported:
  """Writes an agent into a file: its weights, its config and where it comes from.

  Args:
    spec: the agent, as in `agents.load`.
    path: of the file, which ends in `.safetensors`.
    replaces: whether a file that is there already is replaced.

  Raises:
    ValueError: if there is no such agent, or the file is not to be written.
  """
  path = pathlib.Path(path)
  if path.suffix != agent_names.SUFFIX:
    raise ValueError(f"an agent's file ends in {agent_names.SUFFIX}, not as {path}")
  if path.exists() and not replaces:
    raise ValueError(f"{path} is there already; --force replaces it")
  agent = agents.load(spec)
  config = config_lib.to_mapping(agent.config)
  agent_file.write(path, agent.parameters, config, agent.provenance)
  return Exported(path, agent, path.stat().st_size)
