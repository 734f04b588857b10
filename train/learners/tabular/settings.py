"""What a config may say of the tabular learner: the paper's numbers, and its readings."""

from typing import Annotated, Literal

import pydantic

from train.learners.common import fields

__all__ = ["Settings"]


class Settings(fields.Model):
  """What the hybrid paper says of learning, and what it leaves open.

  Where the paper leaves a choice open, the default is the reading that gives its
  tables.

  Attributes:
    learning_rate: alpha.
    final_learning_rate: the rate falls linearly to this until the last game; constant
      if not given.
    discount: gamma, for each ply.
    win: what a won end is worth.
    draw: a drawn end.
    loss: a lost end.
    initial: the utility of a position that was never met.
    starts: whether the learner moves first, `always` or `never`.
    opening: whether the opponent, if it begins, draws its first move evenly from all
      (`random`) or chooses as always (`own`).
    random_every: every so many games the opponent plays all moves at random; 0 for
      never.
    random_games: whether those come at equal distances, from the first game on
      (`regular`), or are drawn with that probability (`drawn`).
    random_moves: the share of the opponent's moves, in all other games, that are random.
    random_updates: whether a position before a random move of the opponent is updated
      too; if not, it keeps its value, and the positions before it are updated by that.
    visits: whether every position of a game is updated (`all`), or only those that the
      learner moved to, and the end (`own`).
    values: whether a position is updated towards the value that its successor has just
      got (`fresh`), or had during the game (`old`).
    ties: which of several positions that are worth most the learner goes to, a `random`
      one or the one by the `first` action.
    patience: a trial ends after so many games without a loss; 0 for never.
    check_every: how often that is checked, in games.
    losses_count: whether that is of `all` games, or of those in which the opponent was
      itself (`scripted`).
    symmetry: whether positions that the board's symmetries map onto each other share
      one value.
    window: of how many of the last games the loss ratio is reported.
  """

  learning_rate: Annotated[float, pydantic.Field(gt=0, le=1)] = 0.25
  final_learning_rate: fields.Share | None = None
  discount: fields.Share = 1.0
  win: fields.Number = 1.0
  draw: fields.Number = 0.2
  loss: fields.Number = -1.0
  initial: fields.Number = 0.0
  starts: Literal["always", "never"] = "never"
  opening: Literal["random", "own"] = "random"
  random_every: fields.CountOrZero = 7
  random_games: Literal["regular", "drawn"] = "regular"
  random_moves: fields.Share = 0.0
  random_updates: bool = True
  visits: Literal["all", "own"] = "all"
  values: Literal["fresh", "old"] = "fresh"
  ties: Literal["random", "first"] = "random"
  patience: fields.CountOrZero = 50_000
  check_every: fields.Count = 10_000
  losses_count: Literal["all", "scripted"] = "all"
  symmetry: bool = False
  window: fields.Count = 10_000
