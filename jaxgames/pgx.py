"""The line games as pgx environments, for programs that are written for pgx.

Needs the extra `pgx`. Nothing else in this package imports this module.
"""

from typing import Any

import chex
from flax import struct
import jax
import jax.numpy as jnp

from jaxgames import bits
from jaxgames import game as game_lib

try:
  import pgx.core
except ImportError as error:
  raise ImportError(
    "jaxgames.pgx needs pgx, which is not installed: pip install 'jaxgames[pgx]'"
  ) from error

__all__ = ["LineGameEnv", "State", "make"]


@struct.dataclass
class State(pgx.core.State):
  """A position as pgx sees it; the fields without an underscore are pgx's own.

  Attributes:
    current_player: `[]` int32, which of the two agents moves; the first is drawn.
    observation: `[*shape, 2]` bool, the current player's stones and the other's.
    rewards: `[2]` float32 for each agent, not zero only when the game ends.
    terminated: `[]` bool.
    truncated: `[]` bool, never set.
    legal_action_mask: `[num_actions]` bool; all set once the game is over.
  """

  _position: game_lib.State
  _game: game_lib.LineGame = struct.field(pytree_node=False)

  @property
  def env_id(self) -> str:
    return _env_id(self._game)

  def to_svg(
    self, *, color_theme: str | None = None, scale: float | None = None
  ) -> str:
    """Returns the board as SVG; of a batch, the first board.

    Args:
      color_theme: part of pgx's interface, not used.
      scale: likewise.
    """
    del color_theme, scale
    # Only drawing needs it.
    from jaxgames.display import svg

    num_batch_axes = jnp.ndim(self.current_player)
    position = jax.tree.map(lambda leaf: leaf[(0,) * num_batch_axes], self._position)
    return svg.draw(self._game, position)

  def save_svg(
    self, filename: Any, *, color_theme: str | None = None, scale: float | None = None
  ) -> None:
    """Writes the board into a file, as `to_svg` draws it."""
    with open(filename, "w", encoding="utf-8") as file:
      file.write(self.to_svg(color_theme=color_theme, scale=scale))


class LineGameEnv(pgx.core.Env):
  """A line game as a pgx environment.

  A move that is not legal ends the game with pgx's penalty and leaves the board and
  the current player as they were.

  Attributes:
    game: the rules.
  """

  def __init__(self, game: game_lib.LineGame):
    super().__init__()
    self.game = game

  @property
  def id(self) -> str:
    return _env_id(self.game)

  @property
  def version(self) -> str:
    return f"v{self.game.version}"

  @property
  def num_players(self) -> int:
    return 2

  # pgx itself would derive the next two from a played game.

  @property
  def num_actions(self) -> int:
    return self.game.num_actions

  @property
  def observation_shape(self) -> tuple[int, ...]:
    return (*self.game.shape, 2)

  def _init(self, key: chex.PRNGKey) -> State:
    return State(
      current_player=jax.random.bernoulli(key).astype(jnp.int32),
      observation=jnp.zeros(self.observation_shape, jnp.bool_),
      rewards=jnp.zeros(2, jnp.float32),
      terminated=jnp.bool_(False),
      truncated=jnp.bool_(False),
      legal_action_mask=jnp.ones(self.num_actions, jnp.bool_),
      _step_count=jnp.int32(0),
      _position=self.game.init(),
      _game=self.game,
    )

  def _step(self, state: State, action: chex.Array, key: chex.PRNGKey | None) -> State:
    del key
    position = self.game.step(state._position, action)
    # A move that is not legal changes nothing; pgx's own `step` ends such a game.
    has_moved = position.num_moves != state._position.num_moves
    mover = state.current_player
    sign = jnp.where(mover == jnp.arange(2), jnp.float32(1), jnp.float32(-1))
    return state.replace(
      current_player=jnp.where(has_moved, 1 - mover, mover),
      rewards=jnp.where(position.winner != 0, sign, jnp.float32(0)),
      terminated=position.is_over,
      legal_action_mask=self.game.legal_actions(position),
      _position=position,
    )

  def _observe(self, state: State, player_id: chex.Array) -> jax.Array:
    position, is_current = state._position, player_id == state.current_player
    own = bits.select(is_current, position.own, position.other)
    other = bits.select(is_current, position.other, position.own)
    planes = [bits.unpack(stones, self.game.num_cells) for stones in (own, other)]
    return jnp.stack(planes, axis=-1).reshape(self.observation_shape)


def make(name: str) -> LineGameEnv:
  """Returns the environment of a named game.

  >>> make("ttt3d").id
  'jaxgames_ttt3d'
  """
  return LineGameEnv(game_lib.make(name))


def _env_id(game: game_lib.LineGame) -> str:
  """Returns a name that no game of pgx has."""
  for name, named in game_lib.GAMES.items():
    if game == named:
      return f"jaxgames_{name}"
  shape = "x".join(map(str, game.shape))
  return f"jaxgames_{shape}_{game.length}" + ("_gravity" if game.gravity else "")
