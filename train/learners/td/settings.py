"""What a config may say of the TD learner: the paper's numbers and its open questions."""

from typing import Annotated, Literal

import pydantic

from jaxgames import options
from train.learners.common import fields

__all__ = ["NetworkSettings", "Settings"]


class NetworkSettings(fields.Model):
  """A value network; the paper's five are configs under configs/ttt3d/networks.

  Attributes:
    hidden: sizes of the fully connected hidden layers.
    detectors: units for each winning line, connected to its cells only; 0 for none.
    patterns: in place of detectors, a table with a value for each pattern of a line,
      and which lines share one: `none`, those that a `symmetry` of the board maps onto
      each other, `all`, or all by `counts`, whatever the order on the line. With
      several of these, the values of the tables are summed. A pattern distinguishes
      empty cells that are playable now from those that are not.
    sides: whether the player who moves first and the second have tables of their own.
    bias: whether units have a bias; the paper's counts of weights have none.
    steepness: of the activation; 0.5 is the logistic function scaled to [-1, 1].
    slope: the activation's derivative at 0 in back-propagation; the true one (the
      steepness) unless given. 1 is the derivative written as 1 - y^2.
    linear_output_gradient: whether back-propagation treats the output's activation as
      linear, so that its derivative is 1.
  """

  hidden: tuple[fields.Count, ...] = (32,)
  detectors: fields.CountOrZero = 4
  patterns: (
    options.PatternSharing
    | Annotated[tuple[options.PatternSharing, ...], pydantic.Field(min_length=1)]
    | None
  ) = None
  sides: bool = False
  bias: bool = False
  steepness: fields.Positive = 0.5
  slope: fields.Positive | None = None
  linear_output_gradient: bool = False

  @property
  def pattern_tables(self) -> tuple[options.PatternSharing, ...]:
    """The sharing of each table of patterns."""
    if self.patterns is None:
      return ()
    return (self.patterns,) if isinstance(self.patterns, str) else self.patterns

  @property
  def num_layers(self) -> int:
    """The number of layers with weights: of detectors if there are any, hidden, output."""
    return (1 if self.detectors else 0) + len(self.hidden) + 1

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


class Settings(fields.Model):
  """What the ttt3d paper says of learning, and what it leaves open.

  Attributes:
    network: the value of afterstates.
    learning_rate: alpha; each game's step counts as one with this rate.
    final_learning_rate: the rate falls linearly to this until the last game; constant
      if not given.
    layer_rates: what the rate is multiplied by in each layer, from the first (of
      detectors, if there are any) to the output; 1 in all if not given.
    optimizer: plain gradient descent (`sgd`), `adam`, or temporal coherence: the rate
      of each weight is multiplied by |sum of its changes| / sum of |changes|
      (`coherence`), or by e to the 2.7 times that minus 1 (`coherence_exponential`).
    trace: lambda; an error also updates the afterstates before, each by this times as
      much as the next. 0 is the paper's TD(0).
    trace_length: how many afterstates an error updates, the last one among them.
    discount: gamma, for each own move.
    epsilon: the share of moves that are random.
    gradient: whether the steps of games that share the network are summed, or their
      mean is taken.
    minibatch: how many games share a step of gradient descent. All games move by the
      same weights; then their updates are made minibatch by minibatch, each with the
      weights that the one before has left. All of `parallel_games` if not given.
    counts_wins: whether a move that wins at once is worth 1 in the greedy choice, in
      training and in tests, as equation 2 has it; or what the network says.
    starts: against a player, in which games the learner moves first.
    exploration_target: the target of the previous afterstate after a random move: the
      value of that move (`chosen`), of the best (`greedy`), or `none`: no update.
    updates_terminal: whether the last afterstate of a game is itself updated towards
      the reward, and the one before it towards the value of the last; or, if not, the
      one before it is updated towards the reward.
    terminal_steps: when the end of a game makes its updates: `at_once`, or `spread`
      over the first steps of the next game, which have no other updates, so that each
      game makes one update in each step. By default `at_once` with one game at a time,
      which is the paper's literal algorithm, and else `spread`.
  """

  network: NetworkSettings = NetworkSettings()
  learning_rate: fields.Rate = 0.005
  final_learning_rate: fields.FinalRate | None = None
  layer_rates: tuple[fields.FinalRate, ...] | None = None
  optimizer: fields.Optimizer = "sgd"
  trace: fields.Share = 0.0
  trace_length: fields.Count = 1
  discount: fields.Share = 1.0
  epsilon: fields.Share = 0.1
  gradient: fields.Steps = "sum"
  minibatch: fields.Count | None = None
  counts_wins: bool = False
  starts: fields.Starts = "alternate"
  exploration_target: Literal["chosen", "greedy", "none"] = "chosen"
  updates_terminal: bool = True
  terminal_steps: Literal["at_once", "spread"] | None = None

  @pydantic.model_validator(mode="after")
  def _check_layer_rates(self) -> "Settings":
    num_layers = self.network.num_layers
    if self.layer_rates is not None and len(self.layer_rates) != num_layers:
      raise ValueError(
        f"layer_rates {list(self.layer_rates)} are {len(self.layer_rates)}, but the "
        f"network has {num_layers} layers"
      )
    return self

  @pydantic.model_validator(mode="after")
  def _check_trace(self) -> "Settings":
    if (self.trace > 0) != (self.trace_length > 1):
      raise ValueError(
        f"trace is {self.trace} and trace_length {self.trace_length}: a trace is longer "
        "than 1 and its lambda above 0, or there is none"
      )
    return self
