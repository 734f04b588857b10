"""What a config may say of the ADP learner: the gomoku paper and its open questions."""

from typing import Annotated, Literal

import pydantic

from jaxgames import options
from train.learners.common import fields

__all__ = ["NetworkSettings", "Settings", "Stage"]


class NetworkSettings(fields.Model):
  """The critic; see `networks.Critic`.

  Attributes:
    inputs: how many inputs there are; if given, what follows must agree.
    counts: how the numbers of shapes are encoded.
    turn: how it sees whose turn it is.
    first: whether it sees who moved first.
    board: whether it sees each cell.
    hidden: the number of hidden units.
    weight_range: initial weights are drawn uniformly from minus this to this.
  """

  inputs: fields.Count | None = None
  counts: options.CriticCounts = "coded"
  turn: options.CriticTurn = "shapes"
  first: bool = True
  board: bool = False
  hidden: fields.Count = 100
  weight_range: fields.Positive = 0.5


class Stage(fields.Model):
  """A part of a trial.

  Attributes:
    games: how many games it has; the last stage has no end.
    epsilon: the share of moves that are random.
    random_opening: whether first moves are random too: player 2's always, player 1's
      if it moves second. If it moves first it begins in the centre.
  """

  games: fields.Count
  epsilon: fields.Share
  random_opening: bool = False


# Section 4.1, case 1: six times 10,000 games.
PAPER_STAGES = (
  Stage(games=20_000, epsilon=0.1, random_opening=True),
  Stage(games=10_000, epsilon=0.1),
  Stage(games=10_000, epsilon=0.08),
  Stage(games=10_000, epsilon=0.07),
  Stage(games=10_000, epsilon=0.05),
)


class Settings(fields.Model):
  """What the gomoku paper says of learning, and what it leaves open.

  Attributes:
    network: the critic.
    alpha: the learning rate of equation 6. It is in the error and, by equations 11 and
      14, once more in the step: a step is `learning_rate` times alpha squared times
      the difference, as the paper has it.
    learning_rate: l1 and l2 of equations 11 and 14.
    final_learning_rate: the rate falls linearly to this until the last game; constant
      if not given.
    discount: gamma.
    win: reward when player 1 has won.
    loss: when player 2 has.
    draw: when nobody has.
    updates: how often a transition is trained.
    target: whether a position's target is computed once (`fixed`), or again before each
      of these updates (`fresh`). The paper does not say.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    minibatch: how many games share their updates. All games move by the same weights;
      then the critic is trained on their transitions minibatch by minibatch, each with
      the weights that the one before has left. All of `parallel_games` if not given.
    stages: how many moves are random, in the course of a trial.
    exploration_updates: whether the position before a random move is updated towards
      the one after it. The paper says nothing, so it is.
    distance: how far from a stone moves may be, along any axis; the paper says near.
    takes_five: whether five in a row is completed wherever it can be.
    expert: the player whose moves are the correct ones: an agent, or a player that
      chooses by the position alone. The share of correct moves is then reported.
    watches: whether the expert plays the games, and the learner only watches.
  """

  network: NetworkSettings = NetworkSettings()
  alpha: fields.Positive = 0.2
  learning_rate: fields.Positive = 0.05
  final_learning_rate: fields.FinalRate | None = None
  discount: fields.Share = 1.0
  win: fields.Share = 1.0
  loss: fields.Share = 0.0
  draw: fields.Share = 0.5
  updates: fields.Count = 50
  target: Literal["fixed", "fresh"] = "fixed"
  gradient: fields.Steps = "sum"
  minibatch: fields.Count | None = None
  stages: Annotated[tuple[Stage, ...], pydantic.Field(min_length=1)] = PAPER_STAGES
  exploration_updates: bool = True
  distance: fields.Count = 1
  takes_five: bool = True
  expert: Annotated[str | None, fields.IS_PLAYER] = None
  watches: bool = False

  @pydantic.model_validator(mode="after")
  def _check_expert(self) -> "Settings":
    if self.watches and self.expert is None:
      raise ValueError("watches is true, but there is no expert to watch")
    return self
