"""Q networks: what each move of a position is worth to the player to move."""

from collections.abc import Callable

import chex
import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxgames import game as game_lib
from jaxgames import options
from jaxgames.networks import initializers

__all__ = ["ACTIVATIONS", "Activation", "QNetwork"]

Activation = options.Activation

ACTIVATIONS: dict[Activation, Callable[[jax.Array], jax.Array]] = {
  "sigmoid": jax.nn.sigmoid,
  "tanh": jnp.tanh,
  "relu": jax.nn.relu,
  "identity": lambda x: x,
}


class QNetwork(nn.Module):
  """A multilayer perceptron with one output for each action.

  The qlearn paper's has 18 inputs, N sigmoid units and 9 sigmoid outputs.

  Attributes:
    game: whose positions it evaluates.
    hidden: the sizes of the hidden layers.
    activation: of the hidden layers.
    output_activation: of the outputs.
    sees_moves: whether the possible moves are inputs, beside the cells.
    masks_outputs: whether outputs are multiplied by the possible moves, so that those
      of other moves are 0.
    has_bias: whether units have a bias.
    weight_range: weights are drawn uniformly from minus this to this; if not given,
      normally, with a variance of one over the number of a unit's inputs.
  """

  game: game_lib.LineGame
  hidden: tuple[int, ...]
  activation: Activation = "sigmoid"
  output_activation: Activation = "sigmoid"
  sees_moves: bool = True
  masks_outputs: bool = True
  has_bias: bool = False
  weight_range: float | None = None

  @property
  def num_inputs(self) -> int:
    return self.game.num_cells + (self.game.num_actions if self.sees_moves else 0)

  def setup(self):
    kernel_init = nn.initializers.lecun_normal()
    bias_init = nn.initializers.zeros
    if self.weight_range is not None:
      kernel_init = bias_init = initializers.uniform(self.weight_range)
    self.layers = [
      nn.Dense(
        width, use_bias=self.has_bias, kernel_init=kernel_init, bias_init=bias_init
      )
      for width in (*self.hidden, self.game.num_actions)
    ]

  def __call__(self, boards: jax.Array, is_legal: jax.Array) -> jax.Array:
    """Returns the values of all moves, `[B, num_actions]` float32.

    Args:
      boards: `[B, num_cells]` int8, 1 the stones of the player to move, -1 the other's.
      is_legal: `[B, num_actions]` bool, the possible moves.
    """
    chex.assert_shape(boards, (None, self.game.num_cells))
    chex.assert_shape(is_legal, (boards.shape[0], self.game.num_actions))
    moves = is_legal.astype(jnp.float32)
    x = boards.astype(jnp.float32)
    if self.sees_moves:
      x = jnp.concatenate([x, moves], axis=1)
    for layer in self.layers[:-1]:
      x = ACTIVATIONS[self.activation](layer(x))
    values = ACTIVATIONS[self.output_activation](self.layers[-1](x))
    return values * moves if self.masks_outputs else values
