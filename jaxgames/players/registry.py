"""Players by name, as configs and the command line give them; free of jax.

A player is written as a name with options, `mcts:simulations=200,exploration=1`. Where
an option is a player with options of its own, it stands in brackets:
`sometimes:player=(mcts:simulations=50),other=random,probability=0.9`.

The module of a player is imported when one is made, so that names and options can be
checked without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import importlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jaxgames import suggestions

if TYPE_CHECKING:
  from jaxgames import game as game_lib
  from jaxgames.players import base

__all__ = ["PLAYERS", "Entry", "Option", "check", "make", "parse", "players_in"]

# How deep players may stand in the options of others.
MOST_DEPTH = 20

# The bounds of numbers: on devices they have 32 bits.
MOST_INT = 2**31 - 1
MOST_FLOAT = 3e38


class Option(NamedTuple):
  """What a player can be given.

  Attributes:
    kind: the type of its value; a `player` is written as in a spec of its own.
    default: its value where none is given.
    is_required: whether it must be given.
  """

  kind: Literal["int", "float", "text", "player"]
  default: int | float | str | None = None
  is_required: bool = False


@dataclasses.dataclass(frozen=True)
class Entry:
  """A named kind of player.

  Attributes:
    summary: one line for people.
    maker: `module:function`, which makes one from a game and all options by keyword.
    options: by name.
    arguments: what the maker is given besides.
    condition: `module:function`, which says whether it can play a game; if not given,
      it plays all.
  """

  summary: str
  maker: str
  options: Mapping[str, Option] = dataclasses.field(default_factory=dict)
  arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  condition: str | None = None

  def make(self, game: game_lib.LineGame, **options: Any) -> base.Player:
    """Returns a player; options that are not given have their defaults."""
    defaults = {key: option.default for key, option in self.options.items()}
    return _load(self.maker)(game, **self.arguments, **{**defaults, **options})

  def plays(self, game: game_lib.LineGame) -> bool:
    """Returns whether it can play a game."""
    return self.condition is None or _load(self.condition)(game)


# Makes a player that an option of another one names.
MakeFn = Callable[["game_lib.LineGame", str], "base.Player"]


def make(
  game: game_lib.LineGame, spec: str, make_fn: MakeFn | None = None
) -> base.Player:
  """Returns the player that a text names.

  >>> import jaxgames
  >>> make(jaxgames.make("connect4"), "attack-defense:ties=random").rules
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
  entry, values = _read(spec)
  for key, value in values.items():
    if entry.options[key].kind == "player":
      values[key] = (make_fn or make)(game, value)
  try:
    return entry.make(game, **values)
  except ValueError as error:
    raise ValueError(f"player {spec!r}: {error}") from error


def check(spec: str, is_other_fn: Callable[[str], bool] | None = None) -> None:
  """Checks the names and options of a player, and of players among its options.

  Whether numbers are in range and the game can be played is known once it is made.

  Args:
    spec: a name with options.
    is_other_fn: says whether a text names a player that is not of this registry, and so
      is not checked here.

  Raises:
    ValueError: if a name or an option is unknown, missing or of another type.
  """
  if is_other_fn is not None and is_other_fn(spec):
    return
  for inner in players_in(spec):
    check(inner, is_other_fn)


def players_in(spec: str) -> list[str]:
  """Returns the players among the options of a player.

  >>> players_in("sometimes:player=(mcts:simulations=50),other=random,probability=0.9")
  ['mcts:simulations=50', 'random']

  Raises:
    ValueError: if the name or an option is unknown, missing or of another type.
  """
  entry, values = _read(spec)
  return [value for key, value in values.items() if entry.options[key].kind == "player"]


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


def _read(spec: str) -> tuple[Entry, dict[str, Any]]:
  """Returns a player's entry and the options given; players among them are texts."""
  name, texts = parse(spec)
  if name not in PLAYERS:
    raise ValueError(f"no player {name!r}: {suggestions.close_match(name, PLAYERS)}")
  options = PLAYERS[name].options
  for key in texts:
    if key not in options:
      known = suggestions.close_match(key, options) if options else "it has none"
      raise ValueError(f"player {name!r} has no option {key!r}: {known}")
  for key, option in options.items():
    if option.is_required and key not in texts:
      raise ValueError(f"player {name!r} needs the option {key!r}")
  values = {key: _convert(name, key, text, options[key]) for key, text in texts.items()}
  return PLAYERS[name], values


def _split_outside_brackets(text: str) -> list[str]:
  """Splits at commas that are not inside brackets."""
  parts, depth, start = [], 0, 0
  for place, letter in enumerate(text):
    depth += (letter == "(") - (letter == ")")
    if depth < 0:
      break
    if depth > MOST_DEPTH:
      raise ValueError(f"players are nested more than {MOST_DEPTH} deep")
    if letter == "," and depth == 0:
      parts.append(text[start:place])
      start = place + 1
  if depth:
    raise ValueError(f"the brackets in {text!r} do not match")
  return [*parts, text[start:]] if text.strip() else parts


def _convert(name: str, key: str, text: str, option: Option) -> int | float | str:
  """Returns an option's value in its type; a player without its brackets."""
  if option.kind == "player":
    is_bracketed = text.startswith("(") and text.endswith(")")
    return text[1:-1] if is_bracketed else text
  if option.kind == "text":
    return text
  is_whole = option.kind == "int"
  wanted, most = ("a whole number", MOST_INT) if is_whole else ("a number", MOST_FLOAT)
  try:
    number = int(text) if is_whole else float(text)
  except ValueError:
    raise ValueError(f"player {name!r}: {key} must be {wanted}, not {text!r}") from None
  if not -most <= number <= most:  # Nor is nan.
    raise ValueError(
      f"player {name!r}: {key} must be {wanted} of at most {most}, not {text!r}"
    )
  return number


def _load(reference: str) -> Callable[..., Any]:
  """Returns the function that `module:function` names."""
  module, _, function = reference.partition(":")
  return getattr(importlib.import_module(module), function)


def _script(name: str, summary: str) -> Entry:
  return Entry(
    summary,
    "jaxgames.players.rules:make",
    {"ties": Option("text")},
    arguments={"script": name},
  )


_PLAYER = Option("player", is_required=True)

PLAYERS: dict[str, Entry] = {
  "random": Entry("any legal move", "jaxgames.players.random:make"),
  "attack": _script("attack", "wins if it can, else random"),
  "defense": _script("defense", "blocks if it must, else random"),
  "attack-defense": _script("attack-defense", "wins, else blocks, else random"),
  "defense-attack": _script("defense-attack", "blocks, else wins, else random"),
  "combined": Entry(
    "one of the four above, drawn for each game",
    "jaxgames.players.rules:make_combined",
    {"ties": Option("text", "first")},
  ),
  "benchmark": _script(
    "benchmark", "wins, else blocks, else plays under no winning cell of the opponent"
  ),
  "expert": Entry(
    "perfect play of a solved game",
    "jaxgames.players.expert:make",
    {"ties": Option("text", "random")},
    condition="jaxgames.exact.graph:is_small",
  ),
  "ladder": Entry(
    "for Gomoku, levels 1 to 3: sees fives; open threes; some moves ahead",
    "jaxgames.players.ladder:make",
    {"level": Option("int", 1)},
    condition="jaxgames.players.ladder:plays",
  ),
  "mcts": Entry(
    "tree search with random rollouts",
    "jaxgames.players.mcts:make",
    {"simulations": Option("int", 200), "exploration": Option("float", 2.0)},
  ),
  "lookahead": Entry(
    "tries the best moves of `player` by letting it continue for both sides",
    "jaxgames.players.lookahead:make",
    {"player": _PLAYER, "width": Option("int", 8), "depth": Option("int", 16)},
  ),
  "guided": Entry(
    "tree search guided by the ratings of `player`",
    "jaxgames.players.guided:make",
    {
      "player": _PLAYER,
      "simulations": Option("int", 200),
      "exploration": Option("float", 0.5),
      "temperature": Option("float", 0.05),
    },
  ),
  "sometimes": Entry(
    "as `player`, but each move with a probability as `other`",
    "jaxgames.players.mixture:make_sometimes",
    {
      "player": _PLAYER,
      "other": _PLAYER,
      "probability": Option("float", is_required=True),
    },
  ),
  "every": Entry(
    "as `player`, but every n-th game as `other`",
    "jaxgames.players.mixture:make_every",
    {"player": _PLAYER, "other": _PLAYER, "every": Option("int", is_required=True)},
  ),
}
