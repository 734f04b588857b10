"""What a config may say of the Q learner: the paper's numbers and its open questions."""

from typing import Annotated, Literal

import pydantic

import jaxgames
from jaxgames import networks
from train.learners.common import q_settings

__all__ = ["NetworkSettings", "Settings"]

_Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class NetworkSettings(q_settings.NetworkSettings):
  """The paper's network: 18 inputs, one layer of N hidden nodes, 9 outputs.

  Outputs are sigmoids, and those of moves that are not possible are 0. How large N must
  be is to be found by experiment. The paper's sums have no bias, and its first weights
  are said to be small.
  """

  hidden: tuple[q_settings.Count, ...] = (36,)
  activation: q_settings.Activation = "sigmoid"
  possible_moves: bool = True
  bias: bool = False
  weight_range: Annotated[float, pydantic.Field(gt=0)] | None = 0.1

  def make(self, game: jaxgames.LineGame) -> networks.QNetwork:
    """Returns the network for a game."""
    return self.build(game, output_activation="sigmoid", masks_outputs=True)


class Settings(pydantic.BaseModel):
  """What the qlearn paper says of learning, and what it leaves open.

  Attributes:
    network: judges moves.
    discount: gamma, for each own move.
    win: what a side's last move is worth in a won game.
    loss: in a lost one. Outputs are above 0, and 0 is for moves that are not possible.
    draw: in a drawn one. The paper says nothing; by default what a move is worth of
      which nothing is known.
    learning_rate: of gradient descent on half the sum of squared errors over the
      examples of a step. The paper has no number.
    final_learning_rate: what the rate falls to, in a straight line, until the last
      game; if not given it stays as it is.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    steps: how gradient descent goes through a game's training set, from the last move
      to the first: one step for the whole `set`, one for each `position` with its
      copies, or one for each `example`.
    passes: how often it goes through the set before the next game.
    symmetric_copies: whether the set has the copies that the board's symmetries make
      of each example, or the game as it was played alone.
    epsilon: the share of moves that are random. The paper relies on moves not yet
      tried, which are worth about 0.5, to be more than those tried.
    final_epsilon: what that share changes to, in a straight line, until the last game;
      if not given it stays as it is.
    random_answers: whether a move counts as any other when the answer to it was a
      random one and not the best (`taught`); or if its output then stays what it was
      (`ignored`), so that moves are worth what they are against best play, however many
      are random.
    margin: moves whose outputs are lower than the highest by no more than this are as
      good, and one of them is drawn. The paper draws while outputs are about equal.
  """

  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

  network: NetworkSettings = NetworkSettings()
  discount: _Share = 0.5
  win: _Share = 1.0
  loss: _Share = 0.1
  draw: _Share = 0.5
  learning_rate: Annotated[float, pydantic.Field(gt=0)] = 0.1
  final_learning_rate: Annotated[float, pydantic.Field(ge=0)] | None = None
  gradient: Literal["sum", "mean"] = "sum"
  steps: Literal["set", "position", "example"] = "set"
  passes: q_settings.Count = 1
  symmetric_copies: bool = True
  epsilon: _Share = 0.0
  final_epsilon: _Share | None = None
  random_answers: Literal["taught", "ignored"] = "taught"
  margin: _Share = 0.0
