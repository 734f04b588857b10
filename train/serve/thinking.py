"""Players that are asked for a move, or for what they think of all moves."""

import dataclasses
import functools
import time
from typing import Any, Literal, Protocol, runtime_checkable

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import players
from jaxgames import randomness
from jaxgames import search
from jaxgames.exact import graph
from jaxgames.exact import numbering
from jaxgames.exact import solver

__all__ = ["Kind", "Mind", "Thoughts", "judge_exactly"]

# Plies of an expected continuation.
NUM_EXPECTED = 8

# Stands for a move after the end of a game.
OVER = -1

Source = Literal["exact", "search", "player"]

# What a player may be asked for.
Kind = Literal["move", "thoughts"]


@runtime_checkable
class Searcher(players.Player, Protocol):
  """A player whose moves are tree searches."""

  def grow(self, state: jaxgames.State, key: chex.PRNGKey) -> search.Tree:
    """Returns the tree of a position; the key is consumed."""
    ...


@dataclasses.dataclass(frozen=True)
class Thoughts:
  """What is thought of a position.

  Attributes:
    values: `[num_actions]`, what each action is worth to the mover; None where it is not
      legal or not considered.
    low: the lowest value there can be, a sure loss; the highest is 1.
    source: whether values are proven, the means of a search, or the player's own.
    line: the actions that are expected to follow.
    plies: where values are proven, `[num_actions]` moves until the end of the game; None
      for draws.
  """

  values: tuple[float | None, ...]
  low: float
  source: Source
  line: tuple[int, ...]
  plies: tuple[int | None, ...] | None = None

  def as_json(self) -> dict[str, Any]:
    """Returns plain values."""
    return dataclasses.asdict(self)


class Mind:
  """A player compiled for one position at a time: its moves, its thoughts, or both.

  Attributes:
    player: the player.
    has_values: whether it can be asked what it thinks.
    seconds: how long each kind of question took on the empty board, once compiled.
  """

  def __init__(self, player: players.Player):
    """Compiles nothing yet."""
    self.player = player
    self.has_values = _has_values(player)
    self.seconds: dict[Kind, float] = {}
    self._programs: dict[str, Any] = {}

  def is_ready(self, kind: Kind) -> bool:
    """Returns whether a kind of question has nothing left to compile."""
    return kind in self.seconds or (kind == "thoughts" and not self.has_values)

  def prepare(self, kind: Kind) -> None:
    """Compiles what a kind of question needs and times it, unless that was done."""
    if self.is_ready(kind):
      return
    state = self.player.game.init()
    if kind == "move":
      self._programs["act"] = _compile(_act, self.player, state, jnp.uint32(0))
    else:
      think_fn = _grow if isinstance(self.player, Searcher) else _rate
      self._programs["think"] = _compile(think_fn, self.player, state)
      if not isinstance(self.player, Searcher):
        self._programs["expect"] = _compile(_expect, self._quick_player, state)
    ask_fn = functools.partial(self.act, seed=0) if kind == "move" else self.think
    ask_fn(state)  # Transfers the weights, so it is not timed.
    begin = time.perf_counter()
    ask_fn(state)
    self.seconds[kind] = time.perf_counter() - begin

  def act(self, state: jaxgames.State, seed: int) -> int:
    """Returns its move; the same position and seed give the same."""
    return int(self._programs["act"](self.player, state, jnp.uint32(seed)))

  def think(self, state: jaxgames.State) -> Thoughts:
    """Returns what it thinks of a position that is not over."""
    found = self._programs["think"](self.player, state)
    if isinstance(self.player, Searcher):
      return _read_tree(jax.tree.map(np.asarray, found))
    values = np.asarray(found)
    # A critic's values are chances to win.
    low = 0.0 if isinstance(self.player, players.CriticGreedy) else -1.0
    best = int(np.argmax(values))
    after = self.player.game.step(state, np.int32(best))
    expected = np.asarray(self._programs["expect"](self._quick_player, after))
    line = (best, *(int(action) for action in expected if action != OVER))
    return Thoughts(_plain(values), low, "player", line)

  @property
  def _quick_player(self) -> players.Player:
    """Who continues for both sides: a quicker version of the player, if there is one."""
    return next(iter(self.player.faster()), self.player)


def judge_exactly(game: jaxgames.LineGame, state: jaxgames.State) -> Thoughts:
  """Returns the proven values of a small game's position that is not over.

  Raises:
    ValueError: if the game is too large.
  """
  scores = _exact_scores(game, state)
  line: list[int] = []
  after, theirs = state, scores
  while len(line) < NUM_EXPECTED and not after.is_over:
    line.append(max(theirs, key=lambda action: theirs[action]))
    after = game.step(after, np.int32(line[-1]))
    theirs = _exact_scores(game, after)
  actions = range(game.num_actions)
  return Thoughts(
    values=tuple(
      float(np.sign(scores[action])) if action in scores else None for action in actions
    ),
    low=-1.0,
    source="exact",
    line=tuple(line),
    plies=tuple(
      -solver.LOSS - abs(scores[action]) if scores.get(action) else None
      for action in actions
    ),
  )


def _exact_scores(game: jaxgames.LineGame, state: jaxgames.State) -> dict[int, int]:
  """Returns for each legal action how it ends, as in `solver.Solution.score`."""
  solution, of_game = solver.solve(game), graph.of(game)
  index = of_game.indices[int(_number(game, state))]
  legal = int(of_game.legal_actions[index])
  scores = {}
  for action in range(game.num_actions):
    if legal >> action & 1:
      after = of_game.numbers[of_game.successors[index, action]]
      theirs = int(solution.score[after])
      scores[action] = -theirs + int(np.sign(theirs))
  return scores


@functools.partial(jax.jit, static_argnums=0)
def _number(game: jaxgames.LineGame, state: jaxgames.State) -> chex.Array:
  return numbering.number(game, state)


def _act(player: players.Player, state: jaxgames.State, seed: chex.Array) -> jax.Array:
  # A game's memory depends on the game's seed alone, so it need not be kept.
  key_begin, key_moves = jax.random.split(randomness.key(seed))
  memory = player.begin(key_begin, (seed & np.uint32(0xFFFF)).astype(jnp.int32))
  key_move = jax.random.fold_in(key_moves, state.num_moves)
  return player.act(memory, state, key_move)


def _expect(player: players.Player, state: jaxgames.State) -> jax.Array:
  """Returns `[NUM_EXPECTED - 1]` int32, how a player continues for both sides."""

  def ply(state: jaxgames.State, _: None) -> tuple[jaxgames.State, jax.Array]:
    action = _act(player, state, jnp.uint32(0))
    after = player.game.step(state, action)
    return after, jnp.where(state.is_over, jnp.int32(OVER), action)

  return jax.lax.scan(ply, state, length=NUM_EXPECTED - 1)[1]


def _rate(player: players.Player, state: jaxgames.State) -> jax.Array:
  return player.values(state)


def _grow(player: Searcher, state: jaxgames.State) -> tuple[jax.Array, ...]:
  tree = player.grow(state, jax.random.fold_in(randomness.key(0), state.num_moves))
  return jnp.asarray(tree.visits), jnp.asarray(tree.results), jnp.asarray(tree.children)


def _has_values(player: players.Player) -> bool:
  if isinstance(player, Searcher):
    return True
  try:
    jax.eval_shape(player.values, player.game.init())
  except ValueError:
    return False
  return True


def _compile(function: Any, *arguments: Any) -> Any:
  """Compiles a function for arguments like these; it is forgotten with its owner."""
  return jax.jit(functools.partial(function)).lower(*arguments).compile()


def _read_tree(tree: tuple[np.ndarray, ...]) -> Thoughts:
  """Returns the means of the root's moves, and the most visited line."""
  visits, results, children = tree
  means = np.where(visits[0] > 0, results[0] / np.maximum(visits[0], 1), -np.inf)
  line: list[int] = []
  node = 0
  while len(line) < NUM_EXPECTED and node != search.NO_CHILD and visits[node].any():
    line.append(int(np.argmax(visits[node])))
    node = int(children[node, line[-1]])
  return Thoughts(_plain(means), -1.0, "search", tuple(line))


def _plain(values: np.ndarray) -> tuple[float | None, ...]:
  return tuple(round(float(v), 5) if np.isfinite(v) else None for v in values)
