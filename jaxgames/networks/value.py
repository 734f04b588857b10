"""Value networks: what a board is worth to the player who has just moved."""

import functools

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.networks import activation
from jaxgames.networks import initializers
from jaxgames.networks import line_sums
from jaxgames.networks import pattern_sums

__all__ = ["ValueNetwork", "num_weights"]

# As in the ttt3d paper. One function for all networks, since equal networks must have
# equal attributes: otherwise each would be compiled again.
_INITIALIZER = initializers.uniform(0.5)


class ValueNetwork(nn.Module):
  """A multilayer perceptron whose first layer sees all cells, or the cells of lines.

  Weights are drawn uniformly from [-0.5, 0.5], as in the ttt3d paper; tables of
  patterns begin with zeros. In the shapes, `B` is the number of boards and `A` that of
  actions.

  Attributes:
    game: whose boards it evaluates; its lines make the structured layer.
    hidden: the sizes of the fully connected hidden layers.
    detectors: how many units each winning line has, connected to its cells only; with 0
      the first hidden layer is connected to all cells.
    pattern_sharings: if given, lines have tables of patterns in place of detectors, and
      this says which lines share them: see `pattern_sums.PatternSums`.
    has_sides: whether the two sides have their own tables of patterns.
    has_bias: whether units have a bias. The paper's counts of weights have none.
    steepness: of the activation; 1/2 is the logistic function scaled to [-1, 1].
    slope: of the derivative that back-propagation uses, see `activation.squash`.
    has_linear_output_gradient: whether the output's error is propagated back without
      the derivative of its activation: `activation.squash_with_linear_gradient`.
  """

  game: game_lib.LineGame
  hidden: tuple[int, ...] = ()
  detectors: int = 0
  pattern_sharings: tuple[options.PatternSharing, ...] = ()
  has_sides: bool = False
  has_bias: bool = False
  steepness: float = 0.5
  slope: float = 0.5
  has_linear_output_gradient: bool = False

  def setup(self):
    widths = (*self.hidden, 1)
    self.sums = self._make_sums(widths[0])
    if self.has_bias:
      self.bias = self.param("bias", _INITIALIZER, widths[:1])
    self.layers = [
      nn.Dense(
        width,
        use_bias=self.has_bias,
        kernel_init=_INITIALIZER,
        bias_init=_INITIALIZER,
      )
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
        self.game, width, self.detectors, self.has_bias, self.activate, _INITIALIZER
      )
    return line_sums.CellSums(self.game, width, _INITIALIZER)

  def activate(self, x: jax.Array) -> jax.Array:
    return activation.squash(x, self.steepness, self.slope)

  def __call__(self, boards: jax.Array) -> jax.Array:
    """Returns the values `[B]` of boards `[B, num_cells]`, 1 the mover's stones."""
    chex.assert_shape(boards, (None, self.game.num_cells))
    return self._finish(self.sums(boards))

  def tables(self, num_boards: int | None = None) -> chex.ArrayTree:
    """Returns what `afterstates` looks up; computed once for all boards.

    Args:
      num_boards: how many boards will be looked up, if it is known: for a few there may
        be a quicker way than by tables.
    """
    return self.sums.tables(num_boards)

  def afterstates(
    self, tables: chex.ArrayTree, boards: jax.Array, cells: jax.Array
  ) -> jax.Array:
    """Returns the values `[B, A]` of boards after a stone in one of several cells.

    The same as putting each stone on a copy of its board and calling the network, but
    only what the stone changes is computed.

    Args:
      tables: from `tables`.
      boards: `[B, num_cells]` int8, 1 the stones of the player to move.
      cells: `[B, A]` int32, an empty cell for each action; the value of any other cell
        has no meaning.
    """
    chex.assert_shape(boards, (None, self.game.num_cells))
    chex.assert_shape(cells, (boards.shape[0], None))
    sums = self.sums.after(tables, boards, cells)
    return self._finish(sums.reshape(-1, sums.shape[-1])).reshape(cells.shape)

  def layer_numbers(self, params: chex.ArrayTree) -> chex.ArrayTree:
    """Returns the layer of each of the parameters, a tree of numbers; the first is 0.

    Args:
      params: the network's parameters, or a tree of the same structure.
    """
    first_hidden = 1 if self.detectors else 0

    def number(path: tuple[jax.tree_util.DictKey, ...], _: chex.Array) -> int:
      names = [key.key for key in path]
      if names[-1] in line_sums.OF_DETECTORS:
        return 0
      later = [name for name in names if name.startswith("layers_")]
      return first_hidden + (1 + int(later[0].split("_")[1]) if later else 0)

    return jax.tree_util.tree_map_with_path(number, params)

  def _finish(self, sums: jax.Array) -> jax.Array:
    """Returns the values `[n]` from the first layer's sums `[n, width]`."""
    x = sums + self.bias[None] if self.has_bias else sums
    for layer in self.layers:
      x = layer(self.activate(x))
    if self.has_linear_output_gradient:
      return activation.squash_with_linear_gradient(x[:, 0], self.steepness)
    return self.activate(x[:, 0])


@functools.lru_cache
def num_weights(network: ValueNetwork) -> int:
  """Returns the number of trainable numbers."""
  boards = jnp.zeros((1, network.game.num_cells), jnp.int8)
  shapes = jax.eval_shape(network.init, jax.random.key(0), boards)
  return sum(leaf.size for leaf in jax.tree.leaves(shapes))
