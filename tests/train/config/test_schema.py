"""The schema that editors read, held against configs that load."""

import json

import pytest
import yaml

from tests.support import paths
from train.config import names
from train.config import schema
from train.learners import registry

TYPES = {
  "array": list,
  "boolean": bool,
  "integer": int,
  "null": type(None),
  "number": int | float,
  "object": dict,
  "string": str,
}


def fits(value, rule, whole) -> bool:
  """Says whether a value fits; knows those words of JSON schema that we use."""
  if "$ref" in rule:
    return fits(value, whole["$defs"][rule["$ref"].rpartition("/")[2]], whole)
  if "anyOf" in rule and not any(fits(value, one, whole) for one in rule["anyOf"]):
    return False
  if "const" in rule and value != rule["const"]:
    return False
  if "enum" in rule and value not in rule["enum"]:
    return False
  if "type" in rule and not isinstance(value, TYPES[rule["type"]]):
    return False
  if isinstance(value, list):
    return all(fits(item, rule.get("items", {}), whole) for item in value)
  if isinstance(value, dict):
    fields, others = rule.get("properties", {}), rule.get("additionalProperties", {})
    if others is False and not fields.keys() >= value.keys():
      return False
    other = others if isinstance(others, dict) else {}
    return all(fits(item, fields.get(key, other), whole) for key, item in value.items())
  return "minimum" not in rule or value >= rule["minimum"]


@pytest.mark.parametrize("name", names.known())
def test_every_config_fits(name):
  path = paths.ROOT / "configs" / f"{name}.yaml"
  values = yaml.safe_load(path.read_text(encoding="utf-8"))
  if "runs" not in values:  # A sweep is something else.
    assert fits(values, schema.make(), schema.make())


@pytest.mark.parametrize(
  "values",
  [
    {"gmae": "ttt3d"},
    {"trials": 0},
    {"test": {"every": 0}},
    {"trials": "two"},
    {"learner": {"kind": "tdd"}},
    {"learner": {"kind": "tabular", "network": {}}},
    {"learner": {"network": {"hiden": [3]}}},
    {"test": {"starts": "sometimes"}},
  ],
)
def test_mistakes_do_not_fit(values):
  assert not fits(values, schema.make(), schema.make())


def test_it_is_json_with_every_learner():
  text = json.dumps(schema.make())
  found = json.loads(text)["properties"]["learner"]["anyOf"]
  assert [one["properties"]["kind"]["const"] for one in found] == sorted(registry.KINDS)
