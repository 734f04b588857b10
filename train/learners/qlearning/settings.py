"""What a config may say of the Q learner: the paper's numbers and its open questions."""

from typing import Literal

from train.learners.common import fields
from train.learners.common import q_settings

__all__ = ["NetworkSettings", "Settings"]


class NetworkSettings(q_settings.NetworkSettings):
  """The paper's network: 18 inputs, one layer of N hidden nodes, 9 outputs.

  Outputs are sigmoids, and those of moves that are not legal are 0. How large N must
  be is to be found by experiment. The paper's sums have no bias, and its first weights
  are said to be small.
  """

  hidden: tuple[fields.Count, ...] = (36,)
  activation: q_settings.Activation = "sigmoid"
  legal_moves: bool = True
  bias: bool = False
  weight_range: fields.Positive | None = 0.1


class Settings(fields.Model):
  """What the qlearn paper says of learning, and what it leaves open.

  Attributes:
    network: the values of moves.
    discount: gamma, for each own move.
    win: what a side's last move is worth in a won game.
    loss: in a lost one. Outputs are above 0, and 0 is for moves that are not legal.
    draw: in a drawn one. The paper says nothing; by default the value of a move that
      was never tried.
    learning_rate: of gradient descent on half the sum of squared errors over the
      examples of a step. The paper has no number.
    final_learning_rate: the rate falls linearly to this until the last game; constant
      if not given.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    minibatch: how many games share their steps. All games are played by the same
      weights; then training goes through the sets minibatch by minibatch, each with the
      weights that the one before has left. All of `parallel_games` if not given.
    steps: how gradient descent goes through a game's training set, from the last move
      to the first: one step for the whole `set`, one for each `position` with its
      copies, or one for each `example`.
    passes: how often it goes through the set before the next game.
    symmetric_copies: whether the set has the copies that the board's symmetries make
      of each example, or the game as it was played alone.
    epsilon: the share of moves that are random. The paper relies on moves not yet
      tried, which are worth about 0.5, to be more than those tried.
    final_epsilon: that share changes linearly to this until the last game; constant if
      not given.
    random_answers: whether the output of a move has a target as any other when the
      answer to it was a random one and not the best (`used`), or then stays what it was
      (`ignored`), so that moves are worth what they are against best play, however many
      are random.
    margin: moves whose outputs are lower than the highest by no more than this are as
      good, and one of them is drawn. The paper draws while outputs are about equal.
  """

  network: NetworkSettings = NetworkSettings()
  discount: fields.Share = 0.5
  win: fields.Share = 1.0
  loss: fields.Share = 0.1
  draw: fields.Share = 0.5
  learning_rate: fields.Rate = 0.1
  final_learning_rate: fields.FinalRate | None = None
  gradient: fields.Steps = "sum"
  minibatch: fields.Count | None = None
  steps: Literal["set", "position", "example"] = "set"
  passes: fields.Count = 1
  symmetric_copies: bool = True
  epsilon: fields.Share = 0.0
  final_epsilon: fields.Share | None = None
  random_answers: Literal["used", "ignored"] = "used"
  margin: fields.Share = 0.0
