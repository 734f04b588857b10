"""Value networks: what a board is worth to the player who has just moved."""

import functools
from typing import Any

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames.networks import activation
from jaxgames.networks import crossings
from jaxgames.networks import line_sums
from jaxgames.networks import pattern_sums

__all__ = ["NETWORKS", "ValueNetwork", "num_weights"]

# Table I of the ttt3d paper: detectors a line, hidden layers.
NETWORKS: dict[str, tuple[int, tuple[int, ...]]] = {
  "small_structured": (4, ()),
  "deep_structured": (4, (32,)),
  "small_unstructured": (0, (50,)),
  "deep_unstructured": (0, (95, 51)),
  "wide_unstructured": (0, (169,)),
}


def _uniform(
  key: chex.PRNGKey, shape: tuple[int, ...], dtype: Any = jnp.float32
) -> jax.Array:
  return jax.random.uniform(key, shape, dtype, minval=-0.5, maxval=0.5)


class ValueNetwork(nn.Module):
  """A multilayer perceptron on a board, its first layer plain or joined to lines.

  Weights are drawn uniformly from [-0.5, 0.5], as in the ttt3d paper; tables of
  patterns begin with zeros, and crossings with next to nothing.

  Attributes:
    game: whose boards it judges; its lines make the structured layer.
    hidden: the sizes of the fully connected hidden layers.
    detectors: how many units each winning line has, joined to its cells only; with 0
      the first hidden layer is joined to all cells.
    sharing: which lines have their detectors in common: see `line_sums.LineSums`.
    pattern_sharings: if given, lines have tables of patterns in place of detectors, and
      this says which lines share them: see `pattern_sums.PatternSums`.
    has_sides: whether the two sides have their own tables of patterns.
    crossings: how many units each empty cell has, joined to the patterns of the lines
      through it; see `crossings.CrossingSums`.
    has_bias: whether units have a bias. The paper's counts of weights have none.
    steepness: of the activation; 1/2 is the logistic function scaled to [-1, 1].
    slope: of the derivative that back-propagation uses, see `activation.squash`.
    is_straight: whether the output's error goes back without any derivative of its
      activation, see `activation.squash_straight`.
  """

  game: game_lib.LineGame
  hidden: tuple[int, ...] = ()
  detectors: int = 0
  pattern_sharings: tuple[pattern_sums.Sharing, ...] = ()
  has_sides: bool = False
  crossings: int = 0
  has_bias: bool = False
  steepness: float = 0.5
  slope: float = 0.5
  is_straight: bool = False
  sharing: line_sums.Sharing = "none"

  def setup(self):
    widths = (*self.hidden, 1)
    self.sums = self._make_sums(widths[0])
    if self.crossings:
      self.crossing_sums = crossings.CrossingSums(self.game, widths[0], self.crossings)
    if self.has_bias:
      self.bias = self.param("bias", _uniform, widths[:1])
    self.layers = [
      nn.Dense(width, use_bias=self.has_bias, kernel_init=_uniform, bias_init=_uniform)
      for width in widths[1:]
    ]

  def _make_sums(
    self, width: int
  ) -> line_sums.CellSums | line_sums.LineSums | pattern_sums.PatternSums:
    if self.pattern_sharings:
      return pattern_sums.PatternSums(
        self.game, width, self.pattern_sharings, self.has_sides
      )
    if self.detectors:
      return line_sums.LineSums(
        self.game,
        width,
        self.detectors,
        self.has_bias,
        self.activate,
        _uniform,
        self.sharing,
      )
    return line_sums.CellSums(self.game, width, _uniform)

  def _parts(self) -> list[Any]:
    """Returns the first layers, whose sums are added."""
    return [self.sums, *([self.crossing_sums] if self.crossings else [])]

  def activate(self, x: jax.Array) -> jax.Array:
    return activation.squash(x, self.steepness, self.slope)

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns the values `[B]` of boards `[B, num_cells]`, 1 the mover's stones."""
    return self._finish(
      functools.reduce(jnp.add, [part(boards) for part in self._parts()])
    )

  def tables(self) -> chex.ArrayTree:
    """Returns what `afterstates` looks up; once for all boards."""
    return tuple(part.tables() for part in self._parts())

  def afterstates(
    self, tables: chex.ArrayTree, boards: jax.Array, cells: jax.Array
  ) -> jax.Array:
    """Returns the values `[B, A]` of boards after a stone in one of several cells.

    The same as to put each stone on a copy of its board and to call the network, but
    only what the stone changes is computed.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8, 1 the stones of the player to move.
      cells: `[B, A]` int32, an empty cell for each action; of others the value means
        nothing.
    """
    after = functools.reduce(
      jnp.add,
      [
        part.after(of_part, boards, cells)
        for part, of_part in zip(self._parts(), tables, strict=True)
      ],
    )
    return self._finish(after.reshape(-1, after.shape[-1])).reshape(cells.shape)

  def _finish(self, totals: jax.Array) -> jax.Array:
    """Returns the values `[n]` from the first layer's sums `[n, width]`."""
    x = totals + self.bias[None] if self.has_bias else totals
    for layer in self.layers:
      x = layer(self.activate(x))
    if self.is_straight:
      return activation.squash_straight(x[:, 0], self.steepness)
    return self.activate(x[:, 0])


@functools.lru_cache
def num_weights(network: ValueNetwork) -> int:
  """Returns the number of trainable numbers."""
  boards = jnp.zeros((1, network.game.num_cells), jnp.int8)
  shapes = jax.eval_shape(network.init, jax.random.key(0), boards)
  return sum(leaf.size for leaf in jax.tree.leaves(shapes))
