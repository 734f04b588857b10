"""What a config may say of the ADP learner: the gomoku paper and its open questions."""

from typing import Annotated, Literal

import pydantic

import jaxgames
from jaxgames import networks
from jaxgames import suggestions
from jaxgames.gomoku import shapes as shapes_lib
from train.learners.common import q_settings

__all__ = ["NetworkSettings", "Settings", "Stage"]

_Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class _Model(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class NetworkSettings(_Model):
  """The critic; see `networks.Critic`.

  Attributes:
    inputs: how many inputs there are; if given, what follows must agree.
    shapes: the list of shapes whose numbers describe a position.
    counts: how these numbers are given.
    turn: how it is told whose turn it is.
    first: whether it is told who moved first.
    board: whether it is told each cell.
    hidden: the number of hidden units.
    weight_range: initial weights are drawn uniformly from minus this to this.
  """

  inputs: q_settings.Count | None = None
  shapes: str = "classic"
  counts: Literal["coded", "plain", "none"] = "coded"
  turn: Literal["shapes", "two", "none"] = "shapes"
  first: bool = True
  board: bool = False
  hidden: q_settings.Count = 100
  weight_range: Annotated[float, pydantic.Field(gt=0)] = 0.5

  @pydantic.field_validator("shapes")
  @classmethod
  def _check_shapes(cls, name: str) -> str:
    if name not in shapes_lib.SETS:
      raise ValueError(
        f"no shapes {name!r}: {suggestions.close_match(name, shapes_lib.SETS)}"
      )
    return name

  def make(self, game: jaxgames.LineGame) -> networks.Critic:
    """Returns the critic for a game.

    Raises:
      ValueError: if a number of inputs is given that is another, or there is none.
    """
    critic = networks.Critic(
      game=game,
      shapes=self.shapes,
      counts=self.counts,
      turn=self.turn,
      sees_first=self.first,
      sees_board=self.board,
      hidden=self.hidden,
      weight_range=self.weight_range,
    )
    if self.inputs not in (None, critic.num_inputs):
      raise ValueError(
        f"learner.network.inputs is {self.inputs}, but this network has "
        f"{critic.num_inputs}"
      )
    if critic.num_inputs == 0:
      raise ValueError("learner.network has no inputs: it must be told something")
    return critic


class Stage(_Model):
  """A part of a trial.

  Attributes:
    games: how many games it has; what comes after the last stage is as the last one.
    epsilon: the share of moves that are random.
    random_opening: whether first moves are random too: player 2's always, player 1's
      if it moves second. If it moves first it begins in the centre.
  """

  games: q_settings.Count
  epsilon: _Share
  random_opening: bool = False


# Section 4.1, case 1: six times 10,000 games.
PAPER_STAGES = (
  Stage(games=20_000, epsilon=0.1, random_opening=True),
  Stage(games=10_000, epsilon=0.1),
  Stage(games=10_000, epsilon=0.08),
  Stage(games=10_000, epsilon=0.07),
  Stage(games=10_000, epsilon=0.05),
)


class Settings(_Model):
  """What the gomoku paper says of learning, and what it leaves open.

  Attributes:
    network: the critic.
    alpha: the learning rate of equation 6. It is in the error and, by equations 11 and
      14, once more in the step: a step is `learning_rate` times alpha squared times
      the difference, as the paper has it.
    learning_rate: l1 and l2 of equations 11 and 14.
    final_learning_rate: what it falls to, in a straight line, until the last game; if
      not given it stays as it is.
    discount: gamma.
    win: reward when player 1 has won.
    loss: when player 2 has.
    draw: when nobody has.
    updates: how often a transition is trained.
    target: whether the value that a position is taught is computed once (`fixed`), or
      again before each of these times (`fresh`). The paper does not say.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    stages: how much is left to chance, in the course of a trial.
    exploration_teaches: whether the position before a random move is taught what came
      of it. The paper says nothing, so it is.
    distance: how far from a stone moves may be, along any axis; the paper says near.
    opening_distance: the same for random first moves; anywhere if not given.
    takes_five: whether five in a row is completed wherever it can be.
    expert: whose moves are the correct ones: a run's directory, or a player that is
      told by its choices. The share of moves that are correct is then reported.
    watches: whether the expert plays the games, and the learner only watches.
  """

  network: NetworkSettings = NetworkSettings()
  alpha: Annotated[float, pydantic.Field(gt=0)] = 0.2
  learning_rate: Annotated[float, pydantic.Field(gt=0)] = 0.05
  final_learning_rate: Annotated[float, pydantic.Field(ge=0)] | None = None
  discount: _Share = 1.0
  win: _Share = 1.0
  loss: _Share = 0.0
  draw: _Share = 0.5
  updates: q_settings.Count = 50
  target: Literal["fixed", "fresh"] = "fixed"
  gradient: Literal["sum", "mean"] = "sum"
  stages: Annotated[tuple[Stage, ...], pydantic.Field(min_length=1)] = PAPER_STAGES
  exploration_teaches: bool = True
  distance: q_settings.Count = 1
  opening_distance: q_settings.Count | None = None
  takes_five: bool = True
  expert: str | None = None
  watches: bool = False

  @pydantic.model_validator(mode="after")
  def _check_expert(self) -> "Settings":
    if self.watches and self.expert is None:
      raise ValueError("watches is true, but there is no expert to watch")
    return self
