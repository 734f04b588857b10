"""The kinds of fields that settings have; free of jax, so that configs load fast."""

from typing import Annotated, Any, Literal

import pydantic

__all__ = [
  "IS_PLAYER",
  "SELF_PLAY",
  "Count",
  "CountOrZero",
  "FinalRate",
  "Model",
  "Number",
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


# On devices whole numbers have 32 bits, and others are of single precision.
MOST_COUNT = 2**31 - 1
MOST_NUMBER = 3e38

Whole = Annotated[int, pydantic.BeforeValidator(_as_whole_number)]
Count = Annotated[Whole, pydantic.Field(ge=1, le=MOST_COUNT)]
CountOrZero = Annotated[Whole, pydantic.Field(ge=0, le=MOST_COUNT)]
Number = Annotated[float, pydantic.Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]
Share = Annotated[float, pydantic.Field(ge=0, le=1)]
# A player by name, or an agent: text that a config checks as it does its own players.
IS_PLAYER = "player"
PlayerSpec = Annotated[str, IS_PLAYER]

Positive = Annotated[float, pydantic.Field(gt=0, le=MOST_NUMBER)]
Rate = Annotated[float, pydantic.Field(gt=0, le=MOST_NUMBER)]
FinalRate = Annotated[float, pydantic.Field(ge=0, le=MOST_NUMBER)]


class Model(pydantic.BaseModel):
  """Settings: frozen, without unknown fields, and with finite numbers only."""

  model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
