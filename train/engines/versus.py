"""A match between any two players that the command line can name."""

import functools
import pathlib
from typing import Any

import chex
import jax
import rich.console

import jaxgames
from train.engines import client
from train.engines import registry
from train.match import device as match_lib
from train.match import host as host_match
from train.match import host_player
from train.run import agents

__all__ = ["describe", "play"]


def play(
  game: jaxgames.LineGame,
  a: str,
  b: str,
  *,
  num_games: int,
  seed: int,
  limits: client.Limits,
  record: pathlib.Path | None,
  console: rich.console.Console,
) -> match_lib.MatchResult:
  """Plays a match: compiled as a whole, unless an engine plays or moves are recorded.

  Args:
    game: the rules.
    a: the player whose results are returned: a name, a run's directory or an engine.
    b: its opponent.
    num_games: how many games.
    seed: of all randomness but the engines'.
    limits: on the engines' time.
    record: where to write the moves of every game, if anywhere.
    console: where progress is shown if it is a terminal.

  Raises:
    ValueError: if a player cannot play this game, or the record cannot be written.
  """
  if record is None and not any(map(registry.is_engine, (a, b))):
    both = [agents.make(game, spec) for spec in (a, b)]
    return match_lib.play(*both, num_games=num_games, seed=seed, console=console)
  makers = [
    functools.partial(_make, game, spec, limits, key)
    for spec, key in zip((a, b), jax.random.split(jax.random.key(seed)), strict=True)
  ]
  return host_match.play(
    game, *makers, num_games=num_games, console=console, record=record
  )


def describe(spec: str) -> dict[str, Any]:
  """Returns what is to be said of a player: its spec, its name and its agents.

  Raises:
    ValueError: if there is no such player.
  """
  if registry.is_engine(spec):
    return {"spec": spec, "name": spec, "agents": []}
  return {
    "spec": spec,
    "name": agents.describe(spec),
    "agents": agents.provenance(spec),
  }


def _make(
  game: jaxgames.LineGame,
  spec: str,
  limits: client.Limits,
  key: chex.PRNGKey,
) -> host_player.HostPlayer:
  if registry.is_engine(spec):
    return registry.make(game, spec, limits)
  return host_player.Seat(agents.make(game, spec), key)
