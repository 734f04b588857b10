"""The ways to learn that a config may name."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import typing

import pydantic

from train.learners import base
from train.learners import qlearning
from train.learners import qlearning_settings
from train.learners import tabular
from train.learners import tabular_settings
from train.learners import td
from train.learners import td_settings

if typing.TYPE_CHECKING:
  from train import config as config_lib

__all__ = ["KINDS", "Kind"]


@dataclasses.dataclass(frozen=True)
class Kind:
  """A named way to learn.

  Attributes:
    settings: what a config may say under `learner`, apart from `kind`.
    make_fn: makes the learner of a run; its settings are `config.learner.settings`.
    takes_many_opponents: whether trials may have different opponents.
  """

  settings: type[pydantic.BaseModel]
  make_fn: Callable[[config_lib.RunConfig], base.Learner]
  takes_many_opponents: bool = False


KINDS: dict[str, Kind] = {
  "qlearning": Kind(qlearning_settings.Settings, qlearning.QLearner),
  "td": Kind(td_settings.Settings, td.TdLearner),
  "tabular": Kind(
    tabular_settings.Settings, tabular.TabularLearner, takes_many_opponents=True
  ),
}
