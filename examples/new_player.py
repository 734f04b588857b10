"""Writes a player of one's own, and lets it play a thousand games against random.

This one prefers the cells that lie on most winning lines, and wins where it can.
"""

import chex
from flax import struct
import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames import arena
from jaxgames import players
from jaxgames.players import base
from jaxgames.players import value_greedy


# A player is a frozen dataclass that jax knows as a pytree: fields with arrays are
# leaves, so that other weights need no other program; all else is marked as not a node.
# `Memoryless` is for players that begin every game alike; it also has defaults for all
# that a player can be asked beside its moves.
@struct.dataclass
class LineCounter(base.Memoryless):
  """Plays the legal move whose cell lies on most winning lines.

  Attributes:
    game: the rules.
    weights: `[num_cells]` float32, on how many lines each cell lies.
  """

  game: jaxgames.LineGame = struct.field(pytree_node=False)
  weights: chex.Array

  def act(
    self, memory: base.Memory, state: jaxgames.State, key: chex.PRNGKey
  ) -> jax.Array:
    del memory
    # Noise below the difference of any two weights decides between equal moves.
    noise = jax.random.uniform(key, (self.game.num_actions,), maxval=0.5)
    return jnp.argmax(self.values(state) + noise).astype(jnp.int32)

  def values(self, state: jaxgames.State) -> jax.Array:
    # One position at a time: the arena batches players with `jax.vmap`.
    cells = self.game.landing_cells(state)
    # A full column has no cell left; its value is replaced below.
    values = self.weights[jnp.minimum(cells, self.game.num_cells - 1)]
    values = jnp.where(value_greedy.winning_actions(self.game, state), 100.0, values)
    return jnp.where(self.game.legal_actions(state), values, -jnp.inf)


def make(game: jaxgames.LineGame) -> LineCounter:
  # On the host, once, with numpy: it depends on the game and not on a position.
  counts = np.bincount(game.lines.ravel(), minlength=game.num_cells)
  return LineCounter(game, jnp.asarray(counts, jnp.float32))


def main() -> None:
  game = jaxgames.make("ttt3d")
  player = make(game)
  print("values of the first moves:")
  print(np.asarray(player.values(game.init())).reshape(4, 4))
  for opponent in ("random", "attack-defense"):
    score = arena.play_match(
      player, players.make(game, opponent), jax.random.key(0), num_games=1000
    )
    wins, draws, losses = (int(count.sum()) for count in score[:3])
    print(f"against {opponent}: {wins} won, {draws} drawn, {losses} lost")


if __name__ == "__main__":
  main()
