"""How much a page may ask for, so that nobody waits long for somebody else."""

from collections.abc import Callable
import math

import jaxgames
from jaxgames.players import registry as player_registry

__all__ = [
  "CHOICES",
  "MOST_BODY_BYTES",
  "MOST_WORK",
  "THINK_SECONDS",
  "check_player",
]

# Of a request.
MOST_BODY_BYTES = 32_768
MOST_SPEC_LETTERS = 240
MOST_NESTING = 3

# Numbers that are compiled into a player's program: few, so that few are compiled.
CHOICES: dict[str, tuple[int, ...]] = {
  "simulations": (25, 50, 100, 200, 400, 1000, 2000),
  "level": (1, 2, 3),
  "width": (2, 4, 8, 16),
  "depth": (4, 8, 16, 32),
  "every": (2, 3, 4, 5, 6, 7, 8, 9, 10),
}
# Other numbers may be anything in a range.
RANGES = {"exploration": (0, 100), "temperature": (1e-6, 100), "probability": (0, 1)}

# Simulations of a search times cells of the board.
MOST_WORK = 500_000

# Of one move. A player that takes longer on the empty board is refused.
THINK_SECONDS = 5.0


def check_player(
  game: jaxgames.LineGame,
  spec: str,
  is_agent_fn: Callable[[str], bool],
  nesting: int = 0,
) -> None:
  """Checks that a player does not ask for too much.

  Args:
    game: to be played.
    spec: a player as a page names it.
    is_agent_fn: says whether a text names an agent; raises a `ValueError` if it names
      no player either.
    nesting: how many players this one is an option of.

  Raises:
    ValueError: names the option, its value and the values allowed.
  """
  if len(spec) > MOST_SPEC_LETTERS:
    raise ValueError(
      f"a player has at most {MOST_SPEC_LETTERS} letters, not {len(spec)}"
    )
  if nesting > MOST_NESTING:
    raise ValueError(f"players are at most {MOST_NESTING} deep in each other")
  if is_agent_fn(spec):
    return
  inner = player_registry.players_in(spec)
  _, options = player_registry.parse(spec)
  for name, text in options.items():
    _check_option(game, name, text)
  for player in inner:
    check_player(game, player, is_agent_fn, nesting + 1)


def _check_option(game: jaxgames.LineGame, name: str, text: str) -> None:
  if name in CHOICES and int(text) not in CHOICES[name]:
    allowed = ", ".join(map(str, CHOICES[name]))
    raise ValueError(f"{name} is one of {allowed} here, not {text}")
  if name in RANGES:
    low, high = RANGES[name]
    if not (math.isfinite(float(text)) and low <= float(text) <= high):
      raise ValueError(f"{name} is between {low} and {high} here, not {text}")
  if name == "simulations" and int(text) * game.num_cells > MOST_WORK:
    most = max(n for n in CHOICES[name] if n * game.num_cells <= MOST_WORK)
    raise ValueError(f"simulations are at most {most} on this board, not {text}")
