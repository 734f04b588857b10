"""What a player is, what each can be asked, and the choice that most of them share."""

from collections.abc import Callable
import dataclasses
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import bits
from jaxgames import game as game_lib
from jaxgames import markup
from jaxgames.exact import graph as graph_lib

__all__ = [
  "Chooser",
  "Memory",
  "Memoryless",
  "Player",
  "PlayerBase",
  "chooses_by_position",
  "draw",
  "draw_allowed",
  "draw_from",
  "first_of",
  "fold",
  "tabulate",
  "unfold",
]

# What a player decides at the start of a game and keeps until its end.
Memory = Any


class Player(Protocol):
  """A way to play: a frozen pytree whose arrays (weights, tables) are leaves.

  `begin`, `act` and `values` are pure, take one game, and are batched by `jax.vmap`.
  `PlayerBase` has defaults for all but `game`, `begin` and `act`.
  """

  @property
  def game(self) -> game_lib.LineGame:
    """The game that it plays."""
    ...

  @property
  def is_search(self) -> bool:
    """Whether its moves are searches that need no weights, only the position."""
    ...

  @property
  def is_deterministic(self) -> bool:
    """Whether its move follows from the position, in every game, with every key."""
    ...

  @property
  def parts(self) -> "tuple[Player, ...]":
    """The players of which it draws one for each whole game; usually itself."""
    ...

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> Memory:
    """Returns what the player keeps in mind for one game.

    Args:
      key: consumed.
      game_number: `[]` int32, which game of a series this is, from 0.
    """
    ...

  def act(self, memory: Memory, state: game_lib.State, key: chex.PRNGKey) -> jax.Array:
    """Returns a legal action, `[]` int32; any number once the game is over.

    Args:
      memory: from `begin`.
      state: a position in which the player is to move.
      key: consumed.
    """
    ...

  def values(self, state: game_lib.State) -> jax.Array:
    """Returns what each action is worth to the player to move.

    Returns:
      `[num_actions]` float32, -inf for actions that are not legal or not considered.

    Raises:
      ValueError: if the player has no values.
    """
    ...

  def map_players(self, fn: "Callable[[Player], Player]") -> "Player":
    """Returns the same mixture of other players; itself, if it is no mixture.

    Args:
      fn: applied to each of the players that it is made of.
    """
    ...

  def faster(self) -> "tuple[Player, ...]":
    """Returns quicker and weaker players that may stand in for it, strong ones first."""
    ...

  def on(self, game: game_lib.LineGame) -> "Player":
    """Returns the same player for another board.

    Raises:
      ValueError: if it cannot play there.
    """
    ...


class PlayerBase:
  """Defaults for what a player can be asked beside its moves; see `Player`."""

  if TYPE_CHECKING:
    # Subclasses have a field or a property. As a property at run time this would keep
    # dataclasses from setting the field.
    @property
    def game(self) -> game_lib.LineGame: ...

    def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> Memory: ...

    def act(
      self, memory: Memory, state: game_lib.State, key: chex.PRNGKey
    ) -> jax.Array: ...

  @property
  def is_search(self) -> bool:
    return False

  @property
  def is_deterministic(self) -> bool:
    return False

  @property
  def parts(self) -> tuple[Player, ...]:
    return (self,)

  def values(self, state: game_lib.State) -> jax.Array:
    del state
    raise ValueError(f"a player of kind {type(self).__name__} has no values of actions")

  def map_players(self, fn: Callable[[Player], Player]) -> Player:
    del fn
    return self

  def faster(self) -> tuple[Player, ...]:
    return ()

  def _repr_html_(self) -> str:
    """Returns what notebooks show: what it plays, its settings and its size."""
    facts: dict[str, object] = {"plays": str(self.game)}
    if dataclasses.is_dataclass(self):
      for field in dataclasses.fields(self):
        value = getattr(self, field.name)
        if isinstance(value, int | float | str | tuple):
          facts[field.name] = value
    size = sum(np.size(leaf) for leaf in jax.tree.leaves(self) if np.ndim(leaf))
    return markup.card(type(self).__name__, {**facts, "numbers": size or None})

  def on(self, game: game_lib.LineGame) -> Player:
    if game != self.game:
      raise ValueError(f"this player plays on the board of {self.game}, not {game}")
    return self


class Memoryless(PlayerBase):
  """A player that begins every game alike."""

  def begin(self, key: chex.PRNGKey, game_number: chex.Array) -> Memory:
    del key, game_number
    return ()


class Chooser(Memoryless):
  """A player that chooses by the position alone: among some cells, each as likely."""

  def choices(self, state: game_lib.State) -> bits.Words:
    """Returns the playable cells that it chooses from; some, while there are any."""
    raise NotImplementedError

  def act(self, memory: Memory, state: game_lib.State, key: chex.PRNGKey) -> jax.Array:
    del memory
    return self.choose(state, jax.random.bits(key, (), jnp.uint32))

  def choose(self, state: game_lib.State, random: chex.Array) -> jax.Array:
    """Returns its action, `[]` int32, by 32 random bits, `[]` uint32."""
    cells = self.choices(state)
    return self.game.action_of(bits.nth(cells, draw_from(random, bits.count(cells))))

  def action_sets(self, graph: graph_lib.Graph) -> jax.Array:
    """Returns `[num_states]` uint32, what it chooses from in each position of a game."""

    def actions(state: game_lib.State) -> jax.Array:
      (word,) = fold(self.game, self.choices(state))
      return word

    return jax.vmap(actions)(graph.states)


def chooses_by_position(player: Player) -> TypeGuard[Chooser]:
  """Returns whether a player chooses by the position alone, so that it has a table."""
  return isinstance(player, Chooser)


def tabulate(player: Player) -> np.ndarray:
  """Returns `[num_states]` uint32, what a player chooses from, on the host.

  Raises:
    ValueError: if the player does not choose by the position alone, or its game is too
      large.
  """
  if not chooses_by_position(player):
    raise ValueError(f"{player} does not choose evenly by the position alone")
  return np.asarray(_action_sets(player, graph_lib.of(player.game)))


@jax.jit
def _action_sets(player: Chooser, graph: graph_lib.Graph) -> jax.Array:
  return player.action_sets(graph)


def draw(key: chex.PRNGKey, limit: chex.Array) -> jax.Array:
  """Returns a number from 0 up to, not including, `limit`, each as likely.

  Args:
    key: consumed.
    limit: `[]` int32, below 2^16.
  """
  return draw_from(jax.random.bits(key, (), jnp.uint32), limit)


def draw_from(random: chex.Array, limit: chex.Array) -> jax.Array:
  """Returns a number from 0 up to, not including, `limit`, from 32 random bits.

  Args:
    random: `[]` uint32.
    limit: `[]` int32, below 2^16.
  """
  # The upper half of a product of 32 by 16 bits, exact without 64-bit integers.
  limit = limit.astype(jnp.uint32)
  low = (random & 0xFFFF) * limit
  high = (random >> 16) * limit
  return ((high + (low >> 16)) >> 16).astype(jnp.int32)


def draw_allowed(random: chex.Array, is_allowed: chex.Array) -> jax.Array:
  """Returns one of `[n]` allowed places, each as likely; 0 if there is none.

  Args:
    random: `[]` uint32, 32 random bits.
    is_allowed: `[n]` bool.
  """
  chex.assert_rank([random, is_allowed], [0, 1])
  rank = draw_from(random, is_allowed.sum(dtype=jnp.int32))
  place = jnp.cumsum(is_allowed, dtype=jnp.int32)
  return jnp.argmax(place > rank).astype(jnp.int32)


def fold(game: game_lib.LineGame, cells: bits.Words) -> bits.Words:
  """Returns the actions that put a stone into one of the playable cells."""
  # Under gravity each action has one playable cell at most, so all levels may be laid
  # on top of each other.
  levels = [
    bits.shift_down(cells, i * game.num_actions)
    for i in range(game.num_cells // game.num_actions)
  ]
  floor = bits.constant((1 << game.num_actions) - 1, game.num_words)
  return bits.intersection(bits.union(*levels), floor)


def unfold(game: game_lib.LineGame, actions: bits.Words) -> bits.Words:
  """Returns all cells that some actions could put a stone into."""
  levels = [
    bits.shift_up(actions, i * game.num_actions)
    for i in range(game.num_cells // game.num_actions)
  ]
  return bits.union(*levels)


def first_of(game: game_lib.LineGame, cells: bits.Words) -> bits.Words:
  """Returns the one of some playable cells that has the lowest action."""
  first = bits.single(bits.first(fold(game, cells)), game.num_words)
  return bits.intersection(unfold(game, first), cells)
