"""A match between any two players named on the command line."""

from collections.abc import Sequence
import functools
import pathlib
from typing import Any

import chex
import jax
import rich.console

import jaxgames
from jaxgames import players
from jaxgames import randomness
from train.engines import client
from train.engines import registry
from train.match import device
from train.match import host
from train.match import host_player
from train.match import openings
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
  num_opening: int | None = None,
) -> result.MatchResult:
  """Plays a match: many games at once on the device, or with engines on the host.

  Args:
    game: the rules.
    a: the player whose results are returned: a name, a run's directory or an engine.
    b: its opponent.
    num_games: how many games.
    seed: the seed of all randomness except the engines'.
    limits: the engines' time limits.
    record: a file for the moves of every game, if any.
    console: where progress is shown.
    num_opening: the plies of random openings, each played with both sides; if not
      given, some where both players are deterministic, else none.

  Raises:
    ValueError: if a player cannot play this game or take openings, there are no such
      openings, or the record cannot be written.
  """
  for spec in (a, b):
    if num_opening and not registry.takes_openings(spec):
      raise ValueError(f"{spec} begins on the empty board: choose --openings 0")
  both = [None if registry.is_engine(s) else agents.make(game, s) for s in (a, b)]
  if num_opening is None:
    num_opening = _default_plies((a, b), both)
  player_a, player_b = both
  if player_a is not None and player_b is not None:
    return device.play(
      player_a,
      player_b,
      num_games=num_games,
      seed=seed,
      console=console,
      num_opening=num_opening,
      record=record,
    )
  makers = [
    functools.partial(_make, game, spec, player, limits, key)
    for spec, player, key in zip(
      (a, b), both, jax.random.split(randomness.key(seed)), strict=True
    )
  ]
  return host.play(
    game,
    *makers,
    num_games=num_games,
    console=console,
    num_opening=num_opening,
    seed=seed,
    record=record,
  )


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


def _default_plies(specs: Sequence[str], both: Sequence[players.Player | None]) -> int:
  """Returns the plies of openings: some, if games would repeat each other."""
  # An engine does not say whether it uses chance; most use none.
  may_repeat = all(player is None or player.is_deterministic for player in both)
  can_vary = all(map(registry.takes_openings, specs))
  return openings.DEFAULT_PLIES if may_repeat and can_vary else 0


def _make(
  game: jaxgames.LineGame,
  spec: str,
  player: players.Player | None,
  limits: client.Limits,
  key: chex.PRNGKey,
) -> host_player.HostPlayer:
  if player is None:
    return registry.make(game, spec, limits)
  return host_player.CompiledPlayer(player, key)
