"""What a config may say of the TD learner: the paper's numbers and its open questions."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pydantic

import jaxgames
from jaxgames import networks
from jaxgames.networks import pattern_sums
from train.learners.common import descent
from train.learners.common import sides

__all__ = ["NetworkSettings", "Settings"]


class _Model(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class NetworkSettings(_Model):
  """A value network; the paper's five are configs under configs/ttt3d/networks.

  Attributes:
    hidden: sizes of the fully connected hidden layers.
    detectors: units for each winning line, joined to its cells only; 0 for none.
    patterns: in place of detectors, a table of what each pattern of a line is worth,
      and which lines share one: `none`, those that a `symmetry` of the board maps onto
      each other, `all`, or all by `counts`, whatever the order on the line. With
      several of these, what the tables say is summed. A pattern tells empty cells that
      are playable now from those that are not.
    sides: whether the player who moves first and the second have tables of their own.
    bias: whether units have a bias; the paper's counts of weights have none.
    steepness: of the activation; 0.5 is the logistic function scaled to [-1, 1].
    slope: what back-propagation takes for the activation's derivative at 0; the true
      one (the steepness) unless given. 1 is the derivative written as 1 - y^2.
    straight: whether the error goes back from the output as it is, not multiplied by
      the derivative of the output's activation.
  """

  hidden: tuple[Annotated[int, pydantic.Field(ge=1)], ...] = (32,)
  detectors: Annotated[int, pydantic.Field(ge=0)] = 4
  patterns: (
    pattern_sums.Sharing
    | Annotated[tuple[pattern_sums.Sharing, ...], pydantic.Field(min_length=1)]
    | None
  ) = None
  sides: bool = False
  bias: bool = False
  steepness: Annotated[float, pydantic.Field(gt=0)] = 0.5
  slope: Annotated[float, pydantic.Field(gt=0)] | None = None
  straight: bool = False

  @pydantic.model_validator(mode="before")
  @classmethod
  def _drop_retired_fields(cls, values: Any) -> Any:
    """Accepts the configs of older runs, which say that they do without."""
    if not isinstance(values, Mapping):
      return values
    retired = {"sharing": "none", "crossings": 0}
    return {
      key: value
      for key, value in values.items()
      if key not in retired or retired[key] != value
    }

  @pydantic.model_validator(mode="after")
  def _check_parts(self) -> "NetworkSettings":
    if self.patterns is not None and self.detectors:
      raise ValueError(
        f"a network has patterns or detectors, not both: with patterns {self.patterns} "
        f"detectors must be 0, not {self.detectors}"
      )
    if self.sides and self.patterns is None:
      raise ValueError("sides have tables of their own only in a network of patterns")
    return self

  def make(self, game: jaxgames.LineGame) -> networks.ValueNetwork:
    return networks.ValueNetwork(
      game=game,
      hidden=self.hidden,
      detectors=self.detectors,
      pattern_sharings=_as_tuple(self.patterns),
      has_sides=self.sides,
      has_bias=self.bias,
      steepness=self.steepness,
      slope=self.steepness if self.slope is None else self.slope,
      has_linear_output_gradient=self.straight,
    )


def _as_tuple(
  patterns: pattern_sums.Sharing | tuple[pattern_sums.Sharing, ...] | None,
) -> tuple[pattern_sums.Sharing, ...]:
  if patterns is None:
    return ()
  return (patterns,) if isinstance(patterns, str) else patterns


class Settings(_Model):
  """What the ttt3d paper says of learning, and what it leaves open.

  Attributes:
    network: judges afterstates.
    learning_rate: alpha; each game's step counts as one with this rate.
    final_learning_rate: what the rate falls to, in a straight line, until the last
      game; if not given it stays as it is.
    optimizer: plain gradient descent (`sgd`), or `adam`.
    trace: lambda; an error is also taught to the afterstates before, to each this
      times as much as to the next. 0 is the paper's TD(0).
    trace_length: how many afterstates learn from an error, the last one among them.
    discount: gamma, for each own move.
    epsilon: the share of moves that are random.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    counts_wins: whether a move that wins at once is worth 1 in the greedy choice, in
      training and in tests, as equation 2 has it; or what the network says.
    starts: against a player, in which games the learner moves first.
    exploration_teaches: what the previous afterstate is taught when the move was a
      random one: the value of that move (`chosen`), of the best (`greedy`), or
      `nothing`.
    teaches_terminal: whether the last afterstate of a game is itself taught the
      reward, and the one before it the value of the last; or, if not, the one before
      it is taught the reward.
    terminal_steps: when the end of a game is taught: `at_once`, or `spread` over the
      first turns of the next game, which have nothing else to teach, so that each game
      gives one step at each turn. By default `at_once` with one game at a time, which
      is the paper's literal algorithm, and else `spread`.
  """

  network: NetworkSettings = NetworkSettings()
  learning_rate: Annotated[float, pydantic.Field(gt=0)] = 0.005
  final_learning_rate: Annotated[float, pydantic.Field(ge=0)] | None = None
  optimizer: descent.Optimizer = "sgd"
  trace: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.0
  trace_length: Annotated[int, pydantic.Field(ge=1)] = 1
  discount: Annotated[float, pydantic.Field(ge=0, le=1)] = 1.0
  epsilon: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.1
  gradient: Literal["sum", "mean"] = "sum"
  counts_wins: bool = False
  starts: sides.Starts = "alternate"
  exploration_teaches: Literal["chosen", "greedy", "nothing"] = "chosen"
  teaches_terminal: bool = True
  terminal_steps: Literal["at_once", "spread"] | None = None

  @pydantic.model_validator(mode="after")
  def _check_trace(self) -> "Settings":
    if (self.trace > 0) != (self.trace_length > 1):
      raise ValueError(
        f"trace is {self.trace} and trace_length {self.trace_length}: a trace is longer "
        "than 1 and its lambda above 0, or there is none"
      )
    return self
