"""Configs as files: YAML, composition by `extends`, dotted overrides."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import os
import pathlib
from typing import Any

from jaxgames import suggestions
from train.config import yaml_text

__all__ = [
  "Source",
  "apply_overrides",
  "merge",
  "nest",
  "overlay",
  "read",
  "read_mapping",
]

# How many files a config may extend, each through the one before.
MOST_EXTENDED = 20


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
  return _read(path, (), {})


def read_mapping(path: pathlib.Path) -> dict[str, Any]:
  """Reads one YAML file, whose top level is a mapping.

  Raises:
    ValueError: if there is no such file, or something else is in it.
  """
  try:
    text = yaml_text.read_text(path)
  except FileNotFoundError:
    beside = {str(other): None for other in sorted(path.parent.glob("*.yaml"))}
    hint = f": {suggestions.close_match(str(path), beside)}" if beside else ""
    raise ValueError(f"no config {path}{hint}") from None
  try:
    values = yaml_text.parse(text)
  except ValueError as error:
    raise ValueError(f"{path} is not YAML: {error}") from error
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
      value = yaml_text.parse(text)
    except ValueError as error:
      message = f"the value of override {override!r} is not YAML: {error}"
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


def _read(
  path: pathlib.Path,
  inside: tuple[pathlib.Path, ...],
  known: dict[pathlib.Path, Source],
) -> Source:
  """Reads a config.

  Args:
    path: of the file.
    inside: the files that extend it, the outermost first.
    known: what was read before, since several may extend the same.
  """
  values = read_mapping(path)
  here = pathlib.Path(os.path.realpath(path))
  if here in inside:
    chain = " -> ".join(other.name for other in (*inside[inside.index(here) :], here))
    raise ValueError(f"{path} extends itself: {chain}")
  if len(inside) == MOST_EXTENDED:
    raise ValueError(
      f"{path}: a config extends at most {MOST_EXTENDED} others, one through the other"
    )
  if here not in known:
    known[here] = _compose(path, values, (*inside, here), known)
  return known[here]


def _compose(
  path: pathlib.Path,
  values: dict[str, Any],
  inside: tuple[pathlib.Path, ...],
  known: dict[pathlib.Path, Source],
) -> Source:
  """Returns a file's values over those of the files that it extends."""
  extends = values.pop("extends", [])
  extends = [extends] if isinstance(extends, str) else extends
  if not isinstance(extends, list) or not all(isinstance(e, str) for e in extends):
    raise ValueError(f"{path}: extends is {extends!r} but must be one or more files")
  merged: dict[str, Any] = {}
  origins: dict[str, str] = {}
  for name in extends:
    other = _read(path.parent / name, inside, known)
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
