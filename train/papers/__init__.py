"""The papers' numbers, as data: one YAML file a paper beside this one."""

from collections.abc import Mapping
import functools
import importlib.resources
from typing import Any

import pydantic
import yaml

from jaxgames.players import names as player_names
from train import statistics

__all__ = ["Column", "Figure", "Paper", "Plot", "Table", "Value", "load", "names"]


class _Model(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(
    extra="forbid", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
  )


class Value(_Model):
  """A number that a paper prints, with its spread if the paper has one.

  In YAML `[52.7, 6.8]`, or `52.7` alone.
  """

  mean: float
  sd: float | None = pydantic.Field(default=None, ge=0)

  @pydantic.model_validator(mode="before")
  @classmethod
  def _from_numbers(cls, data: Any) -> Any:
    if isinstance(data, int | float):
      return {"mean": data}
    if isinstance(data, list):
      if len(data) != 2:
        raise ValueError(f"a value is [mean, sd], not {data}")
      return dict(zip(("mean", "sd"), data, strict=True))
    return data


class Column(_Model):
  """How one number of a table comes from a run.

  Attributes:
    title: the column's heading.
    statistic: the name of what is computed from each trial's curve.
    metric: the field of metrics.jsonl that the curve is of.
    scale: what the metric is multiplied by, 100 for a share in percent.
    digits: how many are shown after the point.
    game: the column is for runs of this game only; for all if none.
  """

  title: str
  statistic: str
  metric: str = "score"
  scale: float = 1.0
  digits: int = pydantic.Field(default=1, ge=0)
  game: str | None = None

  @pydantic.field_validator("statistic")
  @classmethod
  def _is_known(cls, name: str) -> str:
    _check_known("statistic", name, statistics.STATISTICS)
    return name


class Table(_Model):
  """A table of a paper.

  Attributes:
    title: what the table shows, in our words.
    trials: how many trials the paper's means are over.
    rows: the rows' labels by the names that configs use.
    columns: the columns by name.
    values: the paper's numbers by row and column; what is not there is not in the paper.
  """

  title: str
  trials: int = pydantic.Field(ge=1)
  rows: dict[str, str]
  columns: dict[str, Column]
  values: dict[str, dict[str, Value]]

  @pydantic.model_validator(mode="after")
  def _values_have_places(self) -> "Table":
    for row, values in self.values.items():
      _check_known("row", row, self.rows)
      for column in values:
        _check_known("column", column, self.columns)
    return self

  def value(self, row: str, column: str) -> Value | None:
    """Returns the paper's number, or none if it has none there."""
    return self.values.get(row, {}).get(column)


class Plot(_Model):
  """Curves of a metric over the games trained.

  Attributes:
    title: what is shown, in our words.
    x_label: of the axis of games.
    y_label: of the metric's axis.
    metric: the field of metrics.jsonl that is drawn.
    scale: what the metric is multiplied by.
    bounds: the least and the greatest that the metric can be, if it has bounds.
    reference: the column of the table whose numbers in the paper are marked.
  """

  title: str
  x_label: str = "Games trained"
  y_label: str
  metric: str = "score"
  scale: float = 1.0
  bounds: tuple[float, float] | None = None
  reference: str | None = None


class Figure(Plot):
  """A figure of a paper.

  Attributes:
    table: the table whose runs are drawn.
  """

  table: str


class Paper(_Model):
  """A paper.

  Attributes:
    name: what configs call it.
    title: its title.
    doi: where it is found, if it has one.
    tables: by the paper's own numbers.
    figures: by the paper's own numbers.
  """

  name: str
  title: str
  doi: str | None = None
  tables: dict[str, Table]
  figures: dict[str, Figure] = pydantic.Field(default_factory=dict)

  @pydantic.model_validator(mode="after")
  def _figures_have_tables(self) -> "Paper":
    for number, figure in self.figures.items():
      where = f" for figure {number}"
      _check_known("table", figure.table, self.tables, where)
      if figure.reference is not None:
        columns = self.tables[figure.table].columns
        _check_known("column", figure.reference, columns, where)
    return self

  def find(self, table: str, row: str) -> Table:
    """Returns a table that has a row.

    Raises:
      ValueError: if the paper has no such table, or the table no such row.
    """
    _check_known("table", table, self.tables, f" in {self.name}")
    rows = self.tables[table].rows
    _check_known("row", row, rows, f" in table {table} of {self.name}")
    return self.tables[table]


def names() -> list[str]:
  """Returns the names of all papers."""
  files = importlib.resources.files(__name__).iterdir()
  return sorted(
    file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")
  )


@functools.cache
def load(name: str) -> Paper:
  """Returns a paper's numbers.

  Args:
    name: one of `names()`.

  Raises:
    ValueError: if there is no such paper.
  """
  _check_known("paper", name, dict.fromkeys(names()))
  file = importlib.resources.files(__name__) / f"{name}.yaml"
  return Paper.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def _check_known(
  what: str, name: str, known: Mapping[str, Any], where: str = ""
) -> None:
  """Raises an error if a name is not among the known ones."""
  if name not in known:
    hint = player_names.close_match(name, known)
    raise ValueError(f"no {what} {name!r}{where}: {hint}")
