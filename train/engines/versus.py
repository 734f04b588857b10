"""A match between any two players named on the command line."""

import functools
import pathlib
from typing import Any

import chex
import jax
import rich.console

import jaxgames
from jaxgames import randomness
from train.engines import client
from train.engines import registry
from train.match import device
from train.match import host
from train.match import host_player
from train.match import result
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
) -> result.MatchResult:
  """Plays a match: compiled as a whole, unless an engine plays or moves are recorded.

  Args:
    game: the rules.
    a: the player whose results are returned: a name, a run's directory or an engine.
    b: its opponent.
    num_games: how many games.
    seed: the seed of all randomness except the engines'.
    limits: the engines' time limits.
    record: a file for the moves of every game, if any.
    console: shows progress if it is a terminal.

  Raises:
    ValueError: if a player cannot play this game, or the record cannot be written.
  """
  if record is None and not any(map(registry.is_engine, (a, b))):
    both = [agents.make(game, spec) for spec in (a, b)]
    return device.play(*both, num_games=num_games, seed=seed, console=console)
  makers = [
    functools.partial(_make, game, spec, limits, key)
    for spec, key in zip((a, b), jax.random.split(randomness.key(seed)), strict=True)
  ]
  return host.play(game, *makers, num_games=num_games, console=console, record=record)


def describe(spec: str) -> dict[str, Any]:
  """Describes a player: its spec, its name and its trained agents.

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
  return host_player.CompiledPlayer(agents.make(game, spec), key)
