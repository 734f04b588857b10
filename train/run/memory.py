"""The memory that runs and matches need at least, estimated before it is taken.

A system may grant more memory than there is, and end the process when it is used; then
nothing can be said any more. So what cannot fit is refused first. The estimates are
lower bounds: what they let pass may still not fit, but what they refuse never does.
"""

from collections.abc import Iterable, Iterator, Sequence
import math
import os
import pathlib
import resource
from typing import Any, NamedTuple

import jax
import numpy as np
import rich.filesize

import jaxgames
from jaxgames import players
from jaxgames import search
from jaxgames.players import base as players_base
from train import config as config_lib
from train.learners import base

__all__ = ["available", "check_match", "check_program", "check_run"]

# Of a game in play: its position, its random numbers; and a value of each action.
GAME_BYTES, ACTION_BYTES = 64, 4

_CGROUPS = pathlib.Path("/sys/fs/cgroup")

# By the version of control groups: the files with the limit and with what is in use, and
# the line of memory.stat with what would be given back.
_CGROUP_FILES = {
  1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
  2: ("memory.max", "memory.current", "inactive_file"),
}


class _Need(NamedTuple):
  """Memory, and what it is for.

  Attributes:
    num_bytes: how much.
    purpose: what for, in words.
    remedy: the settings that would need less.
  """

  num_bytes: int
  purpose: str
  remedy: str


def check_run(
  config: config_lib.RunConfig,
  learner: base.Learner,
  opponents: Iterable[players.Player],
) -> None:
  """Refuses a run that cannot fit into memory.

  Args:
    config: of the run.
    learner: its learner.
    opponents: the players of its tests.

  Raises:
    ValueError: says how much it needs, what for, and what there is.
  """
  # Trials are not trained and tested at the same time.
  playing = max(_of_training(config), _of_tests(config, opponents))
  _refuse([playing])  # First: the shapes of very many games take long to compute.
  # Of jax's own generator, which needs nothing of the size of what it draws.
  state = jax.eval_shape(learner.init, jax.random.key(0), np.int32(0))
  _refuse([_of_states(config, state), playing])


def check_match(both: Sequence[players.Player], num_games: int) -> None:
  """Refuses a match, or a single game, whose searches cannot fit into memory.

  Args:
    both: the players.
    num_games: games that are played at once.

  Raises:
    ValueError: says how much it needs and what there is.
  """
  # Each player is to move in one half of the games.
  half = -(-num_games // 2)
  num_bytes = half * sum(map(_search_bytes, both))
  purpose = f"the searches of {_counted(num_games, 'game')} at once"
  _refuse([_Need(num_bytes, purpose, "fewer simulations")])


def check_program(compiled: jax.stages.Compiled) -> None:
  """Refuses a compiled program that cannot fit into the host's memory.

  Raises:
    ValueError: says how much it needs and what there is.
  """
  needed = compiled.memory_analysis()
  if needed is None or jax.default_backend() != "cpu":
    return  # Accelerators refuse by themselves what does not fit.
  num_bytes = (
    needed.temp_size_in_bytes + needed.output_size_in_bytes - needed.alias_size_in_bytes
  )
  remedy = "fewer trials, parallel_games or test.games, or a smaller network,"
  _refuse([_Need(num_bytes, "what it computes at once", remedy)])


def available() -> int | None:
  """Returns the bytes that may still be taken, if that can be found out.

  On accelerators those of all devices, else those of the host: what is free, or what
  the limits of the process or of its control groups leave of it.
  """
  stats = [device.memory_stats() for device in jax.local_devices()]
  if jax.default_backend() != "cpu" and all(stats):
    return sum(found["bytes_limit"] - found["bytes_in_use"] for found in stats)
  found = [number for number in (_free(), _of_process(), *_of_cgroups()) if number]
  return min(found, default=None)


def _refuse(needs: Sequence[_Need]) -> None:
  """Raises an error if what is needed at the same time is more than there is."""
  total, free = sum(need.num_bytes for need in needs), available()
  if free is None or total <= free:
    return
  most = max(needs)
  raise ValueError(
    f"this needs at least {rich.filesize.decimal(total)} of memory, "
    f"{rich.filesize.decimal(most.num_bytes)} of it for {most.purpose}, but there are "
    f"{rich.filesize.decimal(free)}: {most.remedy} would need less"
  )


# What runs need.


def _of_states(config: config_lib.RunConfig, state: Any) -> _Need:
  one = sum(_leaf_bytes(leaf) for leaf in jax.tree.leaves(state))
  purpose = (
    f"the states of {_counted(config.num_trials, 'trial')}, "
    f"{rich.filesize.decimal(one)} each"
  )
  remedy = "fewer trials or parallel_games, or a smaller network,"
  # On the host a second copy is there while a checkpoint is written.
  num_copies = 2 if jax.default_backend() == "cpu" else 1
  return _Need(num_copies * config.num_trials * one, purpose, remedy)


def _leaf_bytes(leaf: jax.ShapeDtypeStruct) -> int:
  # A random key counts as the words that it consists of.
  is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
  return math.prod(leaf.shape) * (8 if is_key else leaf.dtype.itemsize)


def _of_training(config: config_lib.RunConfig) -> _Need:
  num_games = config.num_trials * config.parallel_games
  num_bytes = num_games * _game_bytes(jaxgames.make(config.game))
  remedy = "fewer trials or parallel_games"
  return _Need(num_bytes, f"{_counted(num_games, 'game')} at once", remedy)


def _of_tests(
  config: config_lib.RunConfig, opponents: Iterable[players.Player]
) -> _Need:
  num_games = config.num_trials * config.test.games
  # The opponent is to move in one half of the games.
  searches = max(map(_search_bytes, opponents), default=0) // 2
  num_bytes = num_games * (_game_bytes(jaxgames.make(config.game)) + searches)
  remedy = "fewer trials, test.games or simulations"
  return _Need(num_bytes, f"{_counted(num_games, 'game')} of a test at once", remedy)


def _game_bytes(game: jaxgames.LineGame) -> int:
  return GAME_BYTES + ACTION_BYTES * game.num_actions


def _counted(number: int, noun: str) -> str:
  return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _search_bytes(player: Any) -> int:
  """Returns what the tree of a search needs, and those of the players inside."""
  simulations = vars(player).get("simulations")
  own = search.tree_bytes(player.game, simulations) if simulations else 0
  return own + sum(map(_search_bytes, _players_in(player)))


def _players_in(player: Any) -> Iterator[Any]:
  """Yields the players that a player is made of."""
  for value in vars(player).values():
    for inner in value if isinstance(value, tuple) else (value,):
      if isinstance(inner, players_base.PlayerBase):
        yield inner


# What there is.


def _free() -> int | None:
  """Returns the memory of the machine that is free, or could be at once."""
  try:
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
      if line.startswith("MemAvailable:"):
        return 1024 * int(line.split()[1])
  except (OSError, ValueError, IndexError):
    pass
  try:  # Without Linux's list, all that there is.
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
  except (OSError, ValueError):
    return None


def _of_process() -> int | None:
  """Returns what the limit of this process's memory leaves, if it has one."""
  limit, _ = resource.getrlimit(resource.RLIMIT_AS)
  if limit == resource.RLIM_INFINITY:
    return None
  try:
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
  except (OSError, ValueError, IndexError):
    return limit
  return max(limit - used * resource.getpagesize(), 1)


def _of_cgroups(root: pathlib.Path = _CGROUPS) -> Iterator[int]:
  """Yields what the limits of this process's control groups leave."""
  try:
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
  except OSError:
    return
  for line in lines:
    _, controllers, path = line.split(":", 2)
    if controllers not in ("", "memory"):
      continue
    version, top = (1, root / "memory") if controllers else (2, root)
    group = top / path.lstrip("/")
    # A container may not see its own path, but the limit at the top.
    for place in (group, *group.parents):
      if place.is_relative_to(top):
        yield from _of_cgroup(place, version)


def _of_cgroup(group: pathlib.Path, version: int) -> Iterator[int]:
  limit_file, used_file, given_back = _CGROUP_FILES[version]
  try:
    limit = int((group / limit_file).read_text())
    used = int((group / used_file).read_text())
    stat = (group / "memory.stat").read_text().split()
    used -= int(stat[stat.index(given_back) + 1])
  except (OSError, ValueError, IndexError):
    return  # There is no such group, or no limit: the text is "max".
  yield max(limit - used, 1)
