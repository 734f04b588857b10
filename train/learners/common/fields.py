"""The kinds of fields that settings have; free of jax, so that configs load fast."""

from typing import Annotated, Any, Literal

import pydantic

__all__ = [
  "IS_PLAYER",
  "SELF_PLAY",
  "Count",
  "FinalRate",
  "Model",
  "Optimizer",
  "PlayerSpec",
  "Positive",
  "Rate",
  "Share",
  "Starts",
  "Steps",
  "Whole",
]

# The opponent's name where the learner plays both sides.
SELF_PLAY = "self"

# In which games the learner moves first.
Starts = Literal["alternate", "always", "never", "random"]

Optimizer = Literal["sgd", "adam", "coherence", "coherence_exponential"]

# How the steps of games that share a network are combined.
Steps = Literal["sum", "mean"]


def _as_whole_number(value: Any) -> Any:
  """Accepts 1e6 for a whole number, but neither true nor 1.5."""
  if isinstance(value, bool):
    raise ValueError(f"{value} is not a whole number")
  return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, pydantic.BeforeValidator(_as_whole_number)]
Count = Annotated[Whole, pydantic.Field(ge=1)]
Share = Annotated[float, pydantic.Field(ge=0, le=1)]
# A player by name, or an agent: text that a config checks as it does its own players.
IS_PLAYER = "player"
PlayerSpec = Annotated[str, IS_PLAYER]

Positive = Annotated[float, pydantic.Field(gt=0)]
Rate = Annotated[float, pydantic.Field(gt=0)]
FinalRate = Annotated[float, pydantic.Field(ge=0)]


class Model(pydantic.BaseModel):
  """Settings: frozen, and without unknown fields."""

  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
