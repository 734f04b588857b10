"""The learners that a config may name. Free of jax: a learner is imported when made."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import importlib
import typing
from typing import Any

import pydantic

from train.learners.adp import settings as adp_settings
from train.learners.dqn import settings as dqn_settings
from train.learners.qlearning import settings as qlearning_settings
from train.learners.tabular import settings as tabular_settings
from train.learners.td import settings as td_settings

if typing.TYPE_CHECKING:
  import chex

  from jaxgames import game as game_lib
  from jaxgames import players
  from train.learners import base

__all__ = ["KINDS", "Kind"]


@dataclasses.dataclass(frozen=True)
class Kind:
  """A named way to learn.

  Attributes:
    settings: what a config may say under `learner`, apart from `kind`.
    learner: where the class is, `module:name`; it is made of a `base.Task` and settings.
    agent: where the function is, `module:name`, that makes a player of a game, settings
      and parameters.
    summary: one line for people.
    parameters: the path of the parameters in the learner's state, its leaves' names in
      checkpoints and agent files.
    takes_many_opponents: whether trials may have different opponents.
    renamed: the names that leaves of the state had in older checkpoints, by what they
      begin with now.
    arithmetic: goes up whenever the same config and seed give other bits than before.
  """

  settings: type[pydantic.BaseModel]
  learner: str
  agent: str
  summary: str
  parameters: str = "params"
  takes_many_opponents: bool = False
  renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
  arithmetic: int = 1

  def make_learner(self, task: base.Task, settings: pydantic.BaseModel) -> base.Learner:
    """Returns the learner of a task.

    Raises:
      ValueError: if it cannot learn that task with these settings.
    """
    return _import(self.learner)(task, settings)

  def make_agent(
    self,
    game: game_lib.LineGame,
    settings: pydantic.BaseModel,
    parameters: chex.ArrayTree,
  ) -> players.Player:
    """Returns the greedy player with learned parameters."""
    return _import(self.agent)(game, settings, parameters)


def _import(path: str) -> Any:
  module, _, name = path.partition(":")
  return getattr(importlib.import_module(module), name)


# Before the games of a trial had a place of their own in its state.
_GAMES = {
  "games/states/": "games/",
  "games/memory/": "memory/",
  "games/is_first": "is_first",
  "games/rounds": "rounds",
  "games/num_games": "num_games",
  "counts/games/": "tally/",
  "counts/": "tally/",
}

KINDS: dict[str, Kind] = {
  "td": Kind(
    settings=td_settings.Settings,
    learner="train.learners.td.learner:TdLearner",
    agent="train.learners.td.agent:make_agent",
    summary="a value network, updated by temporal differences at every move",
    renamed=_GAMES,
    arithmetic=2,
  ),
  "tabular": Kind(
    settings=tabular_settings.Settings,
    learner="train.learners.tabular.learner:TabularLearner",
    agent="train.learners.tabular.agent:make_agent",
    summary="a value for each position of a small game, updated backward after each game",
    parameters="utilities",
    takes_many_opponents=True,
  ),
  "qlearning": Kind(
    settings=qlearning_settings.Settings,
    learner="train.learners.qlearning.learner:QLearner",
    agent="train.learners.qlearning.agent:make_agent",
    summary="a network of moves' values, trained on whole games and their symmetries",
    renamed={"counts/games/": "tally/", "counts/": "tally/"},
  ),
  "dqn": Kind(
    settings=dqn_settings.Settings,
    learner="train.learners.dqn.learner:DqnLearner",
    agent="train.learners.dqn.agent:make_agent",
    summary="a network of moves' values, trained on batches of remembered moves",
    parameters="online/params",
    renamed={**_GAMES, "online/": ""},
  ),
  "adp": Kind(
    settings=adp_settings.Settings,
    learner="train.learners.adp.learner:AdpLearner",
    agent="train.learners.adp.agent:make_agent",
    summary="a critic of counted shapes, trained many times on each move",
    arithmetic=2,
    renamed={**_GAMES, "shapes": "counts", "transitions/": "lessons/"},
  ),
}
