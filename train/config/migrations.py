"""Settings and players that had other names: saved configs are read all the same.

A config that a person writes is not migrated; the error for an old name says the new one.
"""

from collections.abc import Mapping
import re
from typing import Any

__all__ = ["migrate", "new_name"]

# By kind of learner, paths under `learner` and what they are called now.
RENAMED: dict[str, dict[str, str]] = {
  "td": {
    "network.straight": "network.linear_output_gradient",
    "exploration_teaches": "exploration_target",
    "teaches_terminal": "updates_terminal",
  },
  "tabular": {"random_teaches": "random_updates", "look_every": "check_every"},
  "qlearning": {"network.possible_moves": "network.legal_moves"},
  "dqn": {
    "network.possible_moves": "network.legal_moves",
    "remembers_invalid": "stores_invalid",
  },
  "adp": {"exploration_teaches": "exploration_updates"},
}

# Values of settings, by their present path, and what they are called now.
RENAMED_VALUES: dict[str, dict[str, dict[Any, Any]]] = {
  "td": {"exploration_target": {"nothing": "none"}},
  "qlearning": {"random_answers": {"taught": "used"}},
  "dqn": {"target_moves": {"possible": "legal"}},
}

# Settings that no longer exist, and the value with which they changed nothing.
REMOVED: dict[str, dict[str, Any]] = {
  "td": {"network.sharing": "none", "network.crossings": 0},
  "adp": {"network.shapes": "classic", "opening_distance": None},
}


# Players by their former names; a spec begins with one, or has one among its options.
RENAMED_PLAYERS = {"ahead": "lookahead"}


def migrate(values: Mapping[str, Any]) -> dict[str, Any]:
  """Returns the values of a saved config with everything under its present name.

  A removed setting stays if it had an effect, so that it is refused by name.
  """
  values = {
    key: _rename_players(value) if key in ("opponent", "test", "learner") else value
    for key, value in values.items()
  }
  learner = values.get("learner")
  if not isinstance(learner, Mapping):
    return values
  kind = str(learner.get("kind"))
  flat = dict(_flatten(learner))
  renamed, new_values = RENAMED.get(kind, {}), RENAMED_VALUES.get(kind, {})
  flat = {renamed.get(path, path): value for path, value in flat.items()}
  for path, table in new_values.items():
    if path in flat and isinstance(flat[path], str):
      flat[path] = table.get(flat[path], flat[path])
  for path, neutral in REMOVED.get(kind, {}).items():
    if path in flat and flat[path] == neutral:
      del flat[path]
  return {**values, "learner": _unflatten(flat)}


def new_name(kind: str, path: str) -> str | None:
  """Returns what a setting under `learner` is called now, if it had another name."""
  return RENAMED.get(kind, {}).get(path)


def _rename_players(value: Any) -> Any:
  """Returns a config's part with the players in it under their present names."""
  if isinstance(value, Mapping):
    return {key: _rename_players(inner) for key, inner in value.items()}
  if not isinstance(value, str):
    return value
  for old, new in RENAMED_PLAYERS.items():
    value = re.sub(rf"(^|[(=]){old}(?=:)", rf"\1{new}", value)
  return value


def _flatten(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
  found: list[tuple[str, Any]] = []
  for key, value in values.items():
    if isinstance(value, Mapping):
      found += _flatten(value, f"{before}{key}.")
    else:
      found.append((f"{before}{key}", value))
  return found


def _unflatten(flat: Mapping[str, Any]) -> dict[str, Any]:
  nested: dict[str, Any] = {}
  for path, value in flat.items():
    *parts, last = path.split(".")
    inner = nested
    for part in parts:
      inner = inner.setdefault(part, {})
    inner[last] = value
  return nested
