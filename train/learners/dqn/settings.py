"""What a config may say of the DQN learner: the paper's numbers, its open questions."""

from typing import Literal

import pydantic

from jaxgames import options
from train.learners.common import fields
from train.learners.common import q_settings

__all__ = ["NetworkSettings", "Settings"]


class NetworkSettings(q_settings.NetworkSettings):
  """A Q network; the paper's have 9 inputs, 9 outputs, and two or three layers.

  The paper has no sizes and says nothing of activations; outputs have none here.
  """

  hidden: tuple[fields.Count, ...] = (64,)
  activation: q_settings.Activation = "relu"
  legal_moves: bool = False
  bias: bool = True


class Settings(fields.Model):
  """What the dqn paper says of learning, and what it leaves open.

  Attributes:
    network: the values of moves.
    invalid: what becomes of moves that are not legal. The agent chooses among all moves
      and, where the one chosen is not legal, chooses again in the same position: it
      gets a negative reward (`penalized`) or none (`ignored`). Or it chooses among the
      legal ones (`masked`).
    stores_invalid: whether choices of moves that are not legal are stored in the
      replay memory. The paper says both. By default only if they are penalized, since
      else they would change nothing.
    target_moves: the moves over which the target is the highest value: `all` of them,
      or the `legal` ones. The paper masks the online network and says nothing of the
      target network.
    win: reward for a won game.
    draw: for a drawn one.
    loss: for a lost one.
    invalid_reward: for a move that is not legal, where it is penalized.
    discount: gamma, for each own move. The paper has no number; the values near -10
      that it shows are 0.5 / (1 - 0.95) below 0.
    replay: how many transitions the memory holds.
    warmup: how many it must hold before learning begins; if not given, a batch.
    batch: transitions in a step of gradient descent, on their mean squared error.
    updates: steps of gradient descent after each move of all games.
    target_every: steps after which the target network becomes a copy of the online one.
    double: whether the online network chooses the move whose value the target network
      gives.
    symmetries: whether each drawn transition is turned and mirrored at random.
    optimizer: as of learner td; the paper says nothing.
    learning_rate: of the optimizer.
    final_learning_rate: the rate falls linearly to this until the last game; constant
      if not given.
    epsilon: the share of moves that are random, at the beginning.
    final_epsilon: what it falls to.
    epsilon_games: games in which the rest above `final_epsilon` falls to 1/e of itself.
    starts: the games that the learner begins; in the paper's example its stones are
      the first. In self-play it plays both sides.
    searches: in a small game, how many searches of each position an opponent that
      searches makes before training, one of which is drawn at each of its moves; if not
      given it searches at each move anew, which is slow.
    evaluation_epsilon: the share of random moves in evaluation. The paper has 0.1 where
      moves are not masked, and says nothing where they are.
    evaluation_games: games of an evaluation.
    evaluation_opponent: the player on the other side.
  """

  network: NetworkSettings = NetworkSettings()
  invalid: Literal["penalized", "ignored", "masked"] = "masked"
  stores_invalid: bool | None = None
  target_moves: Literal["all", "legal"] = "all"
  win: fields.Number = 1.0
  draw: fields.Number = 0.0
  loss: fields.Number = -1.0
  invalid_reward: fields.Number = -0.5
  discount: fields.Share = 0.95
  replay: fields.Count = 10_000
  warmup: fields.Count | None = None
  batch: fields.Count = 32
  updates: fields.Count = 1
  target_every: fields.Count = 500
  double: bool = False
  symmetries: bool = False
  optimizer: fields.Optimizer = "adam"
  learning_rate: fields.Rate = 0.001
  final_learning_rate: fields.FinalRate | None = None
  epsilon: fields.Share = 1.0
  final_epsilon: fields.Share = 0.1
  epsilon_games: fields.Positive = 3_000
  starts: options.Starts = "always"
  searches: fields.Count | None = None
  evaluation_epsilon: fields.Share = 0.1
  evaluation_games: fields.Count = 3_000
  evaluation_opponent: fields.PlayerSpec = "random"

  @property
  def num_to_begin(self) -> int:
    """How many transitions there must be before learning begins."""
    return self.warmup or self.batch

  @property
  def keeps_invalid(self) -> bool:
    """Whether choices of moves that are not legal are kept in memory."""
    is_penalized = self.invalid == "penalized"
    return is_penalized if self.stores_invalid is None else self.stores_invalid

  @pydantic.model_validator(mode="after")
  def _check_replay(self) -> "Settings":
    for field in ("batch", "warmup"):
      needed = getattr(self, field)
      if needed is not None and self.replay < needed:
        raise ValueError(
          f"replay is {self.replay}, but must be at least {field}, which is {needed}"
        )
    return self
