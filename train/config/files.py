"""Configs as files: YAML, composition by `extends`, dotted overrides."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import pathlib
import re
from typing import Any

import yaml

from jaxgames import suggestions

__all__ = [
  "Source",
  "apply_overrides",
  "merge",
  "nest",
  "overlay",
  "read",
  "read_mapping",
]


@dataclasses.dataclass(frozen=True)
class Source:
  """The values of a config, and where each of them was written.

  Attributes:
    name: the file that was asked for.
    values: nested mappings.
    origins: the file or override behind each dotted path.
  """

  name: str
  values: Mapping[str, Any]
  origins: Mapping[str, str]

  def origin(self, path: str) -> str:
    """Returns where a field, or the mapping around it, was last written."""
    while path not in self.origins and path:
      path = path.rpartition(".")[0]
    return self.origins.get(path, self.name)


def read(path: pathlib.Path) -> Source:
  """Reads a config and all that it extends; what comes later wins.

  Raises:
    ValueError: if a file cannot be read or extends itself.
  """
  return _read(path, ())


def read_mapping(path: pathlib.Path) -> dict[str, Any]:
  """Reads one YAML file, whose top level is a mapping.

  Raises:
    ValueError: if there is no such file, or something else is in it.
  """
  try:
    values = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
  except FileNotFoundError:
    beside = {str(other): None for other in sorted(path.parent.glob("*.yaml"))}
    hint = f": {suggestions.close_match(str(path), beside)}" if beside else ""
    raise ValueError(f"no config {path}{hint}") from None
  except (OSError, UnicodeDecodeError) as error:
    raise ValueError(f"cannot read {path}: {error}") from error
  except yaml.YAMLError as error:
    raise ValueError(f"{path} is not YAML: {_one_line(error)}") from error
  if not isinstance(values, dict):
    raise ValueError(f"{path} must hold fields with values, not {values!r}")
  return values


def apply_overrides(source: Source, overrides: Sequence[str]) -> Source:
  """Returns a config with values from the command line in place of its own.

  Args:
    source: the config.
    overrides: dotted paths with YAML values, `test.every=1000`.
  """
  values, origins = source.values, dict(source.origins)
  for override in overrides:
    path, equals, text = override.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")):
      raise ValueError(f"override {override!r} is not of the form field.name=value")
    try:
      value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
      message = f"the value of override {override!r} is not YAML: {_one_line(error)}"
      raise ValueError(message) from error
    values = merge(values, nest({path: value}))
    origins[path] = f"{source.name} with {override}"
  return Source(source.name, values, origins)


def overlay(source: Source, values: Mapping[str, Any], origin: str) -> Source:
  """Returns a config with values of another file in place of its own.

  Args:
    source: the config.
    values: by names that may be dotted.
    origin: where they are written.
  """
  nested = nest(values)
  origins = {**source.origins, **dict.fromkeys(_leaves(nested), origin)}
  return Source(source.name, merge(source.values, nested), origins)


def merge(base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
  """Returns both mappings as one, and so for the mappings in them; `other` wins."""
  merged = dict(base)
  for key, value in other.items():
    old = merged.get(key)
    is_deep = isinstance(old, Mapping) and isinstance(value, Mapping)
    merged[key] = merge(old, value) if is_deep else value  # type: ignore[arg-type]
  return merged


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
  """Returns mappings in mappings for dotted names.

  >>> nest({"test.every": 10, "seed": 1})
  {'test': {'every': 10}, 'seed': 1}
  """
  nested: dict[str, Any] = {}
  for path, value in values.items():
    inner = nest(value) if isinstance(value, Mapping) else value
    for part in reversed(str(path).split(".")):
      inner = {part: inner}
    nested = merge(nested, inner)
  return nested


def _read(path: pathlib.Path, inside: tuple[pathlib.Path, ...]) -> Source:
  here = path.resolve()
  if here in inside:
    chain = " -> ".join(other.name for other in (*inside[inside.index(here) :], here))
    raise ValueError(f"{path} extends itself: {chain}")
  values = read_mapping(path)
  extends = values.pop("extends", [])
  extends = [extends] if isinstance(extends, str) else extends
  if not isinstance(extends, list) or not all(isinstance(e, str) for e in extends):
    raise ValueError(f"{path}: extends is {extends!r} but must be one or more files")
  merged: dict[str, Any] = {}
  origins: dict[str, str] = {}
  for name in extends:
    other = _read(path.parent / name, (*inside, here))
    merged = merge(merged, other.values)
    origins |= other.origins
  origins |= dict.fromkeys(_paths(values), str(path))
  return Source(str(path), merge(merged, values), origins)


def _paths(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
  for key, value in values.items():
    yield f"{before}{key}"
    if isinstance(value, Mapping):
      yield from _paths(value, f"{before}{key}.")


def _leaves(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
  """Yields the paths of values, not of the mappings around them.

  Those are still where they were: what is missing there is missing in the first file.
  """
  for key, value in values.items():
    if isinstance(value, Mapping):
      yield from _leaves(value, f"{before}{key}.")
    else:
      yield f"{before}{key}"


def _one_line(error: yaml.YAMLError) -> str:
  if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
    return " ".join(str(error).split())
  mark = error.problem_mark
  return f"{error.problem} in line {mark.line + 1}, column {mark.column + 1}"


class _Loader(yaml.SafeLoader):
  """Reads YAML, refuses a key that stands twice, and knows that 1e6 is a number."""

  def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
    keys = [self.construct_object(key, deep=True) for key, _ in node.value]
    for place, key in enumerate(keys):
      if key in keys[:place]:
        mark = node.value[place][0].start_mark
        raise yaml.constructor.ConstructorError(
          None, None, f"{key!r} stands twice", mark
        )
    return super().construct_mapping(node, deep)


# YAML 1.1, which PyYAML follows, wants 1.0e+6.
_Loader.add_implicit_resolver(
  "tag:yaml.org,2002:float",
  re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
  list("-+0123456789"),
)
