"""What a config may say of a Q network, with any learner."""

from typing import Literal

from train.learners.common import fields

__all__ = ["Activation", "NetworkSettings"]

Activation = Literal["sigmoid", "tanh", "relu"]


class NetworkSettings(fields.Model):
  """A network with an output for each action; a learner gives it its defaults.

  Attributes:
    inputs: the number of inputs; if given, the game must agree.
    hidden: sizes of the hidden layers.
    outputs: the number of outputs; if given, the game must agree.
    activation: of the hidden layers.
    legal_moves: whether the legal moves are inputs, beside the cells.
    bias: whether units have a bias.
    weight_range: initial weights are drawn uniformly from minus this to this; if not
      given, from a normal distribution that is narrower the more inputs a unit has.
  """

  inputs: fields.Count | None = None
  hidden: tuple[fields.Count, ...]
  outputs: fields.Count | None = None
  activation: Activation
  legal_moves: bool
  bias: bool
  weight_range: fields.Positive | None = None
