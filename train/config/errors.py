"""Sentences for people about what is wrong with a config."""

from collections.abc import Sequence
import inspect
import typing
from typing import Any

import pydantic
import pydantic_core

from jaxgames import suggestions
from train.config import files as config_files
from train.config import migrations
from train.learners import registry as learner_registry

__all__ = ["field_error", "sentence"]

# What pydantic calls a type, and what people do.
PLAIN = {
  "valid dictionary": "it must be fields with values",
  "valid integer": "it must be a whole number",
  "valid list": "it must be a list",
  "valid number": "it must be a number",
  "valid string": "it must be text",
  "valid tuple": "it must be a list",
}


def sentence(
  error: pydantic.ValidationError,
  source: config_files.Source,
  model: type[pydantic.BaseModel],
  kind: str,
) -> str:
  """Returns the first mistake, where it was written, and what is allowed.

  Args:
    error: from validation of the source.
    source: the config.
    model: what it was validated as.
    kind: the learner's, whose settings stand under `learner`.
  """
  first = error.errors()[0]
  parts = [str(part) for part in first["loc"]]
  path = ".".join(parts)
  where = source.origin(path)
  if first["type"] == "missing":
    return f"{where}: the field {path} is missing"
  if first["type"] == "extra_forbidden":
    new_name = migrations.new_name(kind, path.removeprefix("learner."))
    if new_name is not None:
      return f"{where}: there is no field {path}: it is now called learner.{new_name}"
    entry = learner_registry.KINDS.get(kind)
    nested = {"learner": entry.settings} if entry is not None else {}
    known = _fields(model, parts[:-1], nested)
    hint = f": {suggestions.close_match(parts[-1], known)}" if known else ""
    return f"{where}: there is no field {path}{hint}"
  if first["type"] == "value_error":
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {path}: {message}" if path else f"{where}: {message}"
  wanted = str(first["msg"]).replace("Input should be", "it must be")
  for kind, plain in PLAIN.items():
    wanted = plain if kind in wanted else wanted
  return f"{where}: {path} is {first['input']!r}, but {wanted}{_closest(first)}"


def field_error(
  model: type[pydantic.BaseModel], field: str, value: Any, error: ValueError
) -> pydantic.ValidationError:
  """Returns an error about one field of a nested model, for use in validators."""
  details = pydantic_core.InitErrorDetails(
    type="value_error", loc=(field,), input=value, ctx={"error": error}
  )
  return pydantic.ValidationError.from_exception_data(model.__name__, [details])


def _closest(first: Any) -> str:
  """Returns a hint at the closest of the values that are allowed, if there is one."""
  if first["type"] != "literal_error" or not isinstance(first["input"], str):
    return ""
  allowed = str(first["ctx"]["expected"]).replace(" or ", ", ").split(", ")
  known = {value.strip("'"): None for value in allowed}
  hint = suggestions.close_match(first["input"], known)
  return f" ({hint.split('? ')[0]}?)" if hint.startswith("did you mean") else ""


def _fields(
  model: type[pydantic.BaseModel],
  path: Sequence[str],
  nested: dict[str, type[pydantic.BaseModel]],
) -> dict[str, Any]:
  """Returns the fields that are known at a place of the config."""
  models = [model]
  before = ""
  for part in path:
    before = f"{before}.{part}" if before else part
    found = [
      inner
      for outer in models
      if part in outer.model_fields
      for inner in _models(outer.model_fields[part].annotation)
    ]
    # A part that is no field is the name of a union's member.
    models = [nested[before]] if before in nested else found or models
  fields: dict[str, Any] = {}
  for outer in models:
    fields |= outer.model_fields
  return fields


def _models(annotation: Any) -> list[type[pydantic.BaseModel]]:
  """Returns the models named in a type."""
  if inspect.isclass(annotation) and issubclass(annotation, pydantic.BaseModel):
    return [annotation]
  return [model for inner in typing.get_args(annotation) for model in _models(inner)]
