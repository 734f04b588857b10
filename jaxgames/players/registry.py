"""Players by name, as configs and the command line give them.

A player is written as a name with options, `mcts:simulations=200,exploration=1`. Where
an option is a player with options of its own, it stands in brackets:
`sometimes:player=(mcts:simulations=50),other=random,probability=0.9`.
"""

from collections.abc import Callable, Mapping
import dataclasses
import functools
import inspect
from typing import Any

from jaxgames import game as game_lib
from jaxgames import suggestions
from jaxgames.exact import graph
from jaxgames.players import base
from jaxgames.players import expert
from jaxgames.players import guided
from jaxgames.players import ladder
from jaxgames.players import lookahead
from jaxgames.players import mcts
from jaxgames.players import mixture
from jaxgames.players import random
from jaxgames.players import rules

__all__ = ["PLAYERS", "Entry", "make", "parse"]


@dataclasses.dataclass(frozen=True)
class Entry:
  """A named kind of player.

  Attributes:
    make_fn: makes one from a game and options; its keyword arguments, their types and
      defaults are the options.
    summary: one line for people.
    plays_fn: whether it can play a game.
  """

  make_fn: Callable[..., base.Player]
  summary: str
  plays_fn: Callable[[game_lib.LineGame], bool] = lambda game: True

  @property
  def options(self) -> Mapping[str, inspect.Parameter]:
    parameters = inspect.signature(self.make_fn).parameters
    return {name: parameters[name] for name in parameters if name != "game"}


# Makes a player that an option of another one names.
MakeFn = Callable[[game_lib.LineGame, str], base.Player]


def make(
  game: game_lib.LineGame, spec: str, make_fn: MakeFn | None = None
) -> base.Player:
  """Returns the player that a text names.

  >>> make(game_lib.make("connect4"), "attack-defense:ties=random").rules
  ('win', 'block')

  Args:
    game: to be played.
    spec: a name with options.
    make_fn: for players among the options, which may have more to choose from; if not
      given, this function.

  Raises:
    ValueError: if the name or an option is unknown or has an impossible value, or if
      such a player cannot play this game.
  """
  name, texts = parse(spec)
  if name not in PLAYERS:
    raise ValueError(f"no player {name!r}: {suggestions.close_match(name, PLAYERS)}")
  entry = PLAYERS[name]
  options = {}
  for key, text in texts.items():
    if key not in entry.options:
      known = (
        suggestions.close_match(key, entry.options) if entry.options else "it has none"
      )
      raise ValueError(f"player {name!r} has no option {key!r}: {known}")
    kind = entry.options[key].annotation
    if kind is base.Player:
      is_bracketed = text.startswith("(") and text.endswith(")")
      options[key] = (make_fn or make)(game, text[1:-1] if is_bracketed else text)
    else:
      options[key] = _convert(name, key, text, kind)
  for key, parameter in entry.options.items():
    if parameter.default is inspect.Parameter.empty and key not in options:
      raise ValueError(f"player {name!r} needs the option {key!r}")
  try:
    return entry.make_fn(game, **options)
  except ValueError as error:
    raise ValueError(f"player {spec!r}: {error}") from error


def parse(spec: str) -> tuple[str, dict[str, str]]:
  """Splits the text for a player into its name and its options.

  >>> parse("mcts:simulations=200")
  ('mcts', {'simulations': '200'})
  """
  name, _, rest = spec.strip().partition(":")
  options: dict[str, str] = {}
  for part in _split_outside_brackets(rest):
    key, equals, value = part.partition("=")
    if not equals or not key.strip():
      raise ValueError(f"in player {spec!r}, {part!r} is not of the form option=value")
    if key.strip() in options:
      raise ValueError(f"in player {spec!r}, the option {key.strip()!r} stands twice")
    options[key.strip()] = value.strip()
  return name, options


def _split_outside_brackets(text: str) -> list[str]:
  """Splits at commas that are not inside brackets."""
  parts, depth, start = [], 0, 0
  for place, letter in enumerate(text):
    depth += (letter == "(") - (letter == ")")
    if depth < 0:
      break
    if letter == "," and depth == 0:
      parts.append(text[start:place])
      start = place + 1
  if depth:
    raise ValueError(f"the brackets in {text!r} do not match")
  return [*parts, text[start:]] if text.strip() else parts


def _convert(name: str, key: str, text: str, kind: Any) -> Any:
  """Returns an option's value in the type that its maker declares."""
  if kind not in (int, float):
    return text
  try:
    return kind(text)
  except ValueError:
    wanted = "a whole number" if kind is int else "a number"
    raise ValueError(f"player {name!r}: {key} must be {wanted}, not {text!r}") from None


def _make_combined(game: game_lib.LineGame, ties: str = "first") -> base.Player:
  names = ("attack", "defense", "attack-defense", "defense-attack")
  return mixture.OnePerGame(
    tuple(rules.from_script(name, game, ties) for name in names)
  )


def _make_mcts(
  game: game_lib.LineGame, simulations: int = 200, exploration: float = 2.0
) -> base.Player:
  _check_search(simulations, exploration)
  return mcts.Mcts(game, simulations, exploration)


def _make_ahead(
  game: game_lib.LineGame, player: base.Player, width: int = 8, depth: int = 16
) -> base.Player:
  del game
  for name, number in (("width", width), ("depth", depth)):
    if number < 1:
      raise ValueError(f"{name} must be at least 1, not {number}")
  return lookahead.Ahead(_rater(player), width, depth)


def _make_guided(
  game: game_lib.LineGame,
  player: base.Player,
  simulations: int = 200,
  exploration: float = 0.5,
  temperature: float = 0.05,
) -> base.Player:
  del game
  _check_search(simulations, exploration)
  if not 0 < temperature < float("inf"):
    raise ValueError(f"temperature must be above 0, not {temperature}")
  return guided.Guided(_rater(player), simulations, exploration, temperature)


def _check_search(simulations: int, exploration: float) -> None:
  if simulations < 1:
    raise ValueError(f"simulations must be at least 1, not {simulations}")
  if not 0 <= exploration < float("inf"):
    raise ValueError(f"exploration must be 0 or more, not {exploration}")


def _rater(player: base.Player) -> lookahead.Rater:
  if not isinstance(player, lookahead.Rater):
    raise ValueError(
      "its player must rate moves, as ladder:level=2 or a trained network"
    )
  return player


def _make_sometimes(
  game: game_lib.LineGame, player: base.Player, other: base.Player, probability: float
) -> base.Player:
  del game
  if not 0 <= probability <= 1:
    raise ValueError(f"probability must be from 0 to 1, not {probability}")
  return mixture.SomeMoves(player, other, probability)


def _make_every(
  game: game_lib.LineGame, player: base.Player, other: base.Player, every: int
) -> base.Player:
  del game
  if every < 1:
    raise ValueError(f"every must be at least 1, not {every}")
  return mixture.EveryNthGame(player, other, every)


def _script(name: str, summary: str) -> Entry:
  return Entry(functools.partial(rules.from_script, name), summary)


PLAYERS: dict[str, Entry] = {
  "random": Entry(random.Random, "any legal move"),
  "attack": _script("attack", "wins if it can, else random"),
  "defense": _script("defense", "blocks if it must, else random"),
  "attack-defense": _script("attack-defense", "wins, else blocks, else random"),
  "defense-attack": _script("defense-attack", "blocks, else wins, else random"),
  "combined": Entry(_make_combined, "one of the four above, drawn for each game"),
  "benchmark": _script(
    "benchmark", "wins, else blocks, else plays under no winning cell of the opponent"
  ),
  "expert": Entry(expert.solve, "perfect play of a solved game", graph.is_small),
  "ladder": Entry(
    ladder.make,
    "for Gomoku, levels 1 to 3: sees fives; open threes; some moves ahead",
    ladder.plays,
  ),
  "mcts": Entry(_make_mcts, "tree search with random rollouts"),
  "ahead": Entry(
    _make_ahead, "tries the best moves of `player` by letting it play on for both sides"
  ),
  "guided": Entry(_make_guided, "tree search guided by the ratings of `player`"),
  "sometimes": Entry(
    _make_sometimes, "as `player`, but each move with a probability as `other`"
  ),
  "every": Entry(_make_every, "as `player`, but every n-th game as `other`"),
}
