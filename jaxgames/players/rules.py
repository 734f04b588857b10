"""Players by rule: they look one move ahead, at threats read off bit boards."""

from typing import Literal, cast, get_args

from flax import struct
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.players import base
from jaxgames.players import mixture
from jaxgames.players import ordered

__all__ = ["Rule", "Rules", "make", "make_combined"]

Rule = Literal["win", "block", "safe"]

# The scripted players of the hybrid paper, section 2.4, and the benchmark of the ttt3d
# paper, section V.A: which rules, in which order, and how equals are chosen.
SCRIPTS: dict[str, tuple[tuple[Rule, ...], options.Ties]] = {
  "attack": (("win",), "first"),
  "defense": (("block",), "first"),
  "attack-defense": (("win", "block"), "first"),
  "defense-attack": (("block", "win"), "first"),
  "benchmark": (("win", "block", "safe"), "random"),
}
# Those of which the hybrid paper's combined player is made.
COMBINED = ("attack", "defense", "attack-defense", "defense-attack")


@struct.dataclass
class Rules(base.Chooser):
  """Follows the first rule that has a move to offer, and plays at random if none has.

  The rules: `win` completes a line; `block` takes a cell with which the opponent would
  complete one; `safe` avoids cells on top of which the opponent would (any move, if
  all are such cells, and always on boards without gravity).

  Attributes:
    game: the game played.
    rules: in order of precedence.
    ties: which of several wins or blocks to play: a `random` one, or the `first`,
      found line by line without gravity and column by column with it.
  """

  game: game_lib.LineGame = struct.field(pytree_node=False)
  rules: tuple[Rule, ...] = struct.field(pytree_node=False)
  ties: options.Ties = struct.field(pytree_node=False, default="random")

  def choices(self, state: game_lib.State) -> bits.Words:
    playable = self.game.playable_cells(state)
    # From the last rule to the first, so that the first with an offer prevails.
    chosen = playable
    for rule in reversed(self.rules):
      cells = self._offer(rule, state, playable)
      offered = cells
      if self.ties == "first" and rule != "safe":
        offered = self._first_completion(_stones(rule, state), cells)
      chosen = bits.select(bits.contains_any(cells), offered, chosen)
    return chosen

  def _offer(
    self, rule: Rule, state: game_lib.State, playable: bits.Words
  ) -> bits.Words:
    """Returns the cells among the playable ones that a rule recommends."""
    completing = self.game.winning_cells(_stones(rule, state))
    if rule != "safe":
      return bits.intersection(playable, completing)
    if not self.game.gravity:
      return playable
    return bits.difference(playable, self.game.below(completing))

  def _first_completion(self, stones: bits.Words, cells: bits.Words) -> bits.Words:
    """Returns the one of some cells that a search in order would find first."""
    if self.game.gravity:
      return base.first_of(self.game, cells)
    lines = self.game.lines
    stone_on = bits.unpack(stones, self.game.num_cells)[lines]
    is_offered = bits.unpack(cells, self.game.num_cells)[lines]
    has_all_but_one = stone_on.sum(axis=1) == self.game.length - 1
    is_found = has_all_but_one & is_offered.any(axis=1)
    line = jnp.argmax(is_found)
    hole = jnp.argmax(is_offered[line])
    return bits.single(jnp.asarray(lines)[line, hole], self.game.num_words)


def _stones(rule: Rule, state: game_lib.State) -> bits.Words:
  """Returns the stones of the side whose lines a rule watches."""
  return state.own if rule == "win" else state.other


def make(
  game: game_lib.LineGame, *, script: str, ties: str | None
) -> Rules | ordered.Ordered:
  """Returns one of the scripted players.

  Args:
    game: the game to play.
    script: a key of `SCRIPTS`.
    ties: one of `options.ScriptTies`; if none is given, the script's own way.

  Raises:
    ValueError: if there is no such way.
  """
  rules, own_ties = SCRIPTS[script]
  chosen = own_ties if ties is None else ties
  if chosen not in get_args(options.ScriptTies):
    raise ValueError(f"ties must be first, random or game, not {ties!r}")
  if chosen == "game":
    return ordered.Ordered(Rules(game, rules, "random"))
  return Rules(game, rules, cast(options.Ties, chosen))


def make_combined(game: game_lib.LineGame, *, ties: str) -> mixture.OnePerGame:
  """Returns the hybrid paper's player that draws one of its scripts for each game."""
  return mixture.OnePerGame(
    tuple(make(game, script=script, ties=ties) for script in COMBINED)
  )
