"""A JSON schema of run configs, with which editors complete and check YAML files."""

from typing import Any

import pydantic.json_schema

from train.config import run
from train.learners import registry as learner_registry

__all__ = ["make"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES = "#/$defs/{model}"
_BOUNDS = {
  "ge": "minimum",
  "gt": "exclusiveMinimum",
  "le": "maximum",
  "lt": "exclusiveMaximum",
}
_EXTENDS = {
  "description": "Files, relative to this one, whose fields this one has too.",
  "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
}


def make() -> dict[str, Any]:
  """Returns the schema of a file that describes a run.

  No field is required: a file may extend others that have it. So a learner without its
  `kind` fits if it fits any.
  """
  models = {
    kind: entry.settings for kind, entry in sorted(learner_registry.KINDS.items())
  }
  every: list[type[pydantic.BaseModel]] = [run.RunConfig, *models.values()]
  # All at once, so that models of the same name get names that differ.
  references, shared = pydantic.json_schema.models_json_schema(
    [(model, "validation") for model in every], ref_template=_REFERENCES
  )
  definitions = shared["$defs"]

  def own(model: type[pydantic.BaseModel]) -> dict[str, Any]:
    name = references[model, "validation"]["$ref"].rpartition("/")[2]
    return definitions[name]

  learners = [_with_kind(own(model), kind) for kind, model in models.items()]
  whole = own(run.RunConfig)
  schema = {
    "$schema": _DIALECT,
    **whole,
    "title": "A run of jaxgames",
    "properties": {
      "extends": _EXTENDS,
      **whole["properties"],
      "learner": {"description": "The way to learn.", "anyOf": learners},
    },
    "$defs": definitions,
  }
  return _drop_unused(_clean(schema))


def _with_kind(settings: dict[str, Any], kind: str) -> dict[str, Any]:
  """Returns a learner's settings with `kind` among them, as they stand in a file."""
  summary = learner_registry.KINDS[kind].summary
  return {
    **settings,
    "title": kind,
    "description": summary,
    "properties": {"kind": {"const": kind}, **settings["properties"]},
  }


def _clean(value: Any) -> Any:
  """Returns a schema without lists of required fields, its bounds in JSON's words."""
  if isinstance(value, list):
    return [_clean(item) for item in value]
  if not isinstance(value, dict):
    return value
  is_number = value.get("type") in ("integer", "number")
  return {
    # Around our own validators pydantic leaves bounds as they are called in Python.
    _BOUNDS.get(key, key) if is_number else key: _clean(item)
    for key, item in value.items()
    # A field that is called so would have a schema, not a list.
    if not (key == "required" and isinstance(item, list))
  }


def _drop_unused(schema: dict[str, Any]) -> dict[str, Any]:
  """Returns a schema with those definitions only that something refers to."""
  definitions = schema["$defs"]
  used: set[str] = set()
  found = _references({**schema, "$defs": {}})
  while found:
    used |= found
    found = set().union(*(_references(definitions[name]) for name in found)) - used
  kept = {name: definitions[name] for name in sorted(used)}
  return {**schema, "$defs": kept}


def _references(value: Any) -> set[str]:
  if isinstance(value, dict):
    inner = set().union(*map(_references, value.values()))
    target = value.get("$ref")
    return inner | {target.rpartition("/")[2]} if isinstance(target, str) else inner
  return set().union(*map(_references, value)) if isinstance(value, list) else set()
