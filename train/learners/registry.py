"""The ways to learn that a config may name."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import typing

import pydantic

from train.learners import base
from train.learners.adp import learner as adp
from train.learners.adp import settings as adp_settings
from train.learners.dqn import learner as dqn
from train.learners.dqn import settings as dqn_settings
from train.learners.qlearning import learner as qlearning
from train.learners.qlearning import settings as qlearning_settings
from train.learners.tabular import learner as tabular
from train.learners.tabular import settings as tabular_settings
from train.learners.td import learner as td
from train.learners.td import settings as td_settings

if typing.TYPE_CHECKING:
  from train import config as config_lib

__all__ = ["KINDS", "Kind"]


@dataclasses.dataclass(frozen=True)
class Kind:
  """A named way to learn.

  Attributes:
    settings: what a config may say under `learner`, apart from `kind`.
    make_fn: makes the learner of a run; its settings are `config.learner.settings`.
    summary: one line for people.
    takes_many_opponents: whether trials may have different opponents.
  """

  settings: type[pydantic.BaseModel]
  make_fn: Callable[[config_lib.RunConfig], base.Learner]
  summary: str
  takes_many_opponents: bool = False


KINDS: dict[str, Kind] = {
  "td": Kind(
    td_settings.Settings,
    td.TdLearner,
    "a value network, taught by temporal differences at every move",
  ),
  "tabular": Kind(
    tabular_settings.Settings,
    tabular.TabularLearner,
    "a value for each position of a small game, taught backward after each game",
    takes_many_opponents=True,
  ),
  "qlearning": Kind(
    qlearning_settings.Settings,
    qlearning.QLearner,
    "a network of moves' values, taught whole games of self-play and their symmetries",
  ),
  "dqn": Kind(
    dqn_settings.Settings,
    dqn.DqnLearner,
    "a network of moves' values, taught batches of remembered moves",
  ),
  "adp": Kind(
    adp_settings.Settings,
    adp.AdpLearner,
    "a critic of counted shapes, taught each move many times",
  ),
}
