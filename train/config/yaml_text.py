"""YAML of configs: small by promise, so that reading it is bounded in time and memory."""

from collections.abc import Mapping, Sequence
import pathlib
import re
from typing import Any

import yaml

from train.config import regular

__all__ = ["MOST_BYTES", "MOST_VALUES", "count_values", "parse", "read_text"]

# A config is small: no larger file is read as one.
MOST_BYTES = 1_000_000

# The most values in a config, where an alias counts as all that it stands for, and how
# deep they may be nested.
MOST_VALUES = 20_000
MOST_DEPTH = 40

# No setting has a number with more digits.
MOST_DIGITS = 100


def read_text(path: pathlib.Path) -> str:
  """Returns the text of a config's file.

  Raises:
    FileNotFoundError: if there is no such file.
    ValueError: if it cannot be read, is no regular file, or is too large for a config;
      one sentence.
  """
  contents = regular.read_bytes(path, most_bytes=MOST_BYTES)
  try:
    return contents.decode("utf-8")
  except UnicodeDecodeError as error:
    message = f"cannot read {path}: byte {error.start} is not UTF-8 text"
    raise ValueError(message) from error


def parse(text: str) -> Any:
  """Returns what a YAML text says.

  Raises:
    ValueError: if it is not YAML, too large or nested too deep, names a type by a tag,
      or has an alias inside of what it stands for; one sentence.
  """
  try:
    return yaml.load(text, Loader=_Loader)
  except yaml.MarkedYAMLError as error:
    mark = error.problem_mark
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    raise ValueError(f"{error.problem}{where}") from error
  except yaml.YAMLError as error:
    raise ValueError(" ".join(str(error).split())) from error


def count_values(values: Any) -> int:
  """Returns how many values there are, those with others in them among them."""
  inner: Sequence[Any] = ()
  if isinstance(values, Mapping):
    inner = [*values.keys(), *values.values()]
  elif isinstance(values, list | tuple):
    inner = values
  return 1 + sum(map(count_values, inner))


class _Loader(yaml.SafeLoader):
  """Reads YAML within bounds, refuses what stands twice, and knows that 1e6 is a number.

  What it refuses it refuses while it reads, before anything large is made.
  """

  def __init__(self, text: str):
    super().__init__(text)
    self._depth = 0
    self._num_values = 0
    # By node: those that are complete, so that others may stand for them again.
    self._sizes: dict[yaml.Node, int] = {}

  def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
    event, before = self.peek_event(), self._num_values
    if getattr(event, "tag", None) is not None:
      raise _error(f"a config has no tags, such as {event.tag}", event.start_mark)
    self._depth += 1
    if self._depth > MOST_DEPTH:
      raise _error(f"values are nested more than {MOST_DEPTH} deep", event.start_mark)
    node = super().compose_node(parent, index)
    self._depth -= 1
    if node is not None:
      self._count(node, event, before)
    return node

  def _count(self, node: yaml.Node, event: yaml.Event, before: int) -> None:
    """Counts a node with all in it; an alias, once more what it stands for."""
    if not isinstance(event, yaml.AliasEvent):
      self._num_values += 1
      self._sizes[node] = self._num_values - before
    elif node in self._sizes:
      self._num_values += self._sizes[node]
    else:
      raise _error(f"*{event.anchor} is inside of what it stands for", event.start_mark)
    if self._num_values > MOST_VALUES:
      reason = f"there are more than {MOST_VALUES:,} values, but a config is small"
      raise _error(reason, event.start_mark)

  def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
    seen = set()
    for key_node, _ in node.value:
      if key_node.tag == "tag:yaml.org,2002:merge":
        raise _error("there is no merging by <<, use extends", key_node.start_mark)
      if not isinstance(key_node, yaml.ScalarNode):
        raise _error("the name of a field must be text", key_node.start_mark)
      key = self.construct_object(key_node)
      if key in seen:
        raise _error(f"{key!r} stands twice", key_node.start_mark)
      seen.add(key)
    return super().construct_mapping(node, deep)

  def construct_number(self, node: yaml.ScalarNode) -> int:
    """Returns a whole number."""
    if len(node.value) > MOST_DIGITS:
      reason = (
        f"a number has {len(node.value):,} digits, at most {MOST_DIGITS} are read"
      )
      raise _error(reason, node.start_mark)
    return self.construct_yaml_int(node)


def _error(problem: str, mark: Any) -> yaml.MarkedYAMLError:
  return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_number)

# YAML 1.1, which PyYAML follows, wants 1.0e+6.
_Loader.add_implicit_resolver(
  "tag:yaml.org,2002:float",
  re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
  list("-+0123456789"),
)
# A date is text: no setting is a time.
_Loader.yaml_implicit_resolvers = {
  letter: [(tag, pattern) for tag, pattern in resolvers if "timestamp" not in tag]
  for letter, resolvers in _Loader.yaml_implicit_resolvers.items()
}
