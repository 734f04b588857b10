"""The checks of a config that need the game: whether its players can play it.

They import jax, so `load` makes them last, when all that is cheap to check is right.
"""

from collections.abc import Callable, Iterator
from typing import Any

import jaxgames
from jaxgames import players
from jaxgames.exact import graph as graph_lib
from jaxgames.players import base
from jaxgames.players import registry as player_registry
from train.config import agent_names
from train.config import run
from train.learners.common import fields

__all__ = ["check_exact", "find_mistake"]


def find_mistake(config: run.RunConfig) -> tuple[str, str] | None:
  """Returns the field and the sentence of the first mistake, if there is one.

  Agents of runs are not loaded; they are checked when the run makes its players.
  """
  game = jaxgames.make(config.game)
  for field, check_fn in _checks(game, config):
    try:
      check_fn()
    except ValueError as error:
      return field, str(error)
  return None


def _checks(
  game: jaxgames.LineGame, config: run.RunConfig
) -> Iterator[tuple[str, Callable[[], Any]]]:
  specs = [
    ("opponent", spec) for spec in config.opponents.values() if spec != fields.SELF_PLAY
  ]
  specs.append(("test.against", config.test.against))
  specs += [("test.also_against", spec) for spec in config.test.also_against.values()]
  for field, spec in specs:
    if not agent_names.agents_in(spec):
      yield field, lambda spec=spec: players.make(game, spec)  # type: ignore[misc]
  yield "test.exact", lambda: check_exact(game, config.test.exact)


def check_exact(game: jaxgames.LineGame, opponents: tuple[str, ...]) -> None:
  """Refuses what cannot be tested exactly."""
  if opponents and not graph_lib.is_small(game):
    raise ValueError("this game has too many positions for exact tests")
  for spec in opponents:
    if not base.chooses_by_position(players.make(game, spec)):
      raise ValueError(f"{spec!r} does not choose evenly by the position alone")
  found = [player_registry.parse(spec)[0] for spec in opponents]
  if len(set(found)) < len(found):
    raise ValueError(f"two of {', '.join(opponents)} have the same name")
