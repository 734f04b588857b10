"""What a config may say of a Q network, whatever learns it."""

from typing import Annotated, Literal

import pydantic

import jaxgames
from jaxgames import networks
from jaxgames.networks import q

__all__ = ["Activation", "Count", "NetworkSettings"]

Activation = Literal["sigmoid", "tanh", "relu"]
Count = Annotated[int, pydantic.Field(ge=1)]


class NetworkSettings(pydantic.BaseModel):
  """A network with an output for each action; a learner gives it its defaults.

  Attributes:
    inputs: how many inputs there are; if given, the game must agree.
    hidden: sizes of the hidden layers.
    outputs: how many outputs there are; if given, the game must agree.
    activation: of the hidden layers.
    possible_moves: whether the possible moves are inputs, beside the cells.
    bias: whether units have a bias.
    weight_range: initial weights are drawn uniformly from minus this to this; if not
      given, normally, the more inputs a unit has the closer to 0.
  """

  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

  inputs: Count | None = None
  hidden: tuple[Count, ...]
  outputs: Count | None = None
  activation: Activation
  possible_moves: bool
  bias: bool
  weight_range: Annotated[float, pydantic.Field(gt=0)] | None = None

  def build(
    self,
    game: jaxgames.LineGame,
    *,
    output_activation: q.Activation,
    masks_outputs: bool,
  ) -> networks.QNetwork:
    """Returns the network for a game.

    Args:
      game: to be played.
      output_activation: of the outputs.
      masks_outputs: whether the outputs of moves that are not possible are 0.

    Raises:
      ValueError: if a number of inputs or outputs is given that is not the game's.
    """
    network = networks.QNetwork(
      game=game,
      hidden=self.hidden,
      activation=self.activation,
      output_activation=output_activation,
      sees_moves=self.possible_moves,
      masks_outputs=masks_outputs,
      has_bias=self.bias,
      weight_range=self.weight_range,
    )
    needed = {"inputs": network.num_inputs, "outputs": game.num_actions}
    for field, number in needed.items():
      given = getattr(self, field)
      if given not in (None, number):
        raise ValueError(
          f"learner.network.{field} is {given}, but on a board of shape {game.shape} "
          f"with {game.num_actions} actions the network has {number}"
        )
    return network
