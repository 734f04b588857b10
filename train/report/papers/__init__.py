"""The papers' numbers as data: one YAML file per paper, in this directory."""

from collections.abc import Mapping, Sequence
import functools
import importlib.resources
import itertools
from typing import Annotated, Any, Literal

import pydantic
import yaml

from jaxgames import suggestions
from train.report import statistics

__all__ = [
  "Bars",
  "Column",
  "Curve",
  "Figure",
  "Histograms",
  "Lines",
  "Paper",
  "Part",
  "Plot",
  "Setting",
  "Table",
  "Value",
  "format_setting",
  "load",
  "names",
]


class _Model(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(
    extra="forbid", frozen=True, coerce_numbers_to_str=True, allow_inf_nan=False
  )


class Value(_Model):
  """A number in a paper, with its standard deviation if the paper gives one.

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
        raise ValueError(f"a value is a mean or [mean, sd], not {data}")
      return dict(zip(("mean", "sd"), data, strict=True))
    return data


class Setting(_Model):
  """What a setting of a run must be for the run to be made as a paper's row was.

  In YAML a value alone, or `{at_least: 1000}`, `{at_most: 16}`, `{one_of: [a, b]}`.

  Attributes:
    one_of: the values that it may have.
    at_least: the lowest number that it may be.
    at_most: the highest.
  """

  one_of: tuple[Any, ...] = ()
  at_least: int | float | None = None
  at_most: int | float | None = None

  @pydantic.model_validator(mode="before")
  @classmethod
  def _from_value(cls, data: Any) -> Any:
    return data if isinstance(data, Mapping) else {"one_of": [data]}

  def allows(self, value: Any) -> bool:
    """Returns whether a setting may have this value."""
    if self.one_of:
      return value in self.one_of
    if not isinstance(value, int | float):
      return False
    least, most = self.at_least, self.at_most
    return (least is None or value >= least) and (most is None or value <= most)

  def as_text(self) -> str:
    """Returns what it must be, for people."""
    if self.one_of:
      return " or ".join(map(format_setting, self.one_of))
    bounds = {"at least": self.at_least, "at most": self.at_most}
    known = {name: bound for name, bound in bounds.items() if bound is not None}
    return " and ".join(f"{name} {format_setting(b)}" for name, b in known.items())


def format_setting(value: Any) -> str:
  """Returns a setting's value for people."""
  is_number = isinstance(value, int | float) and not isinstance(value, bool)
  return f"{value:,}" if is_number and value == int(value) > 999 else str(value)


class Column(_Model):
  """How the numbers of a table's column are computed from runs.

  Attributes:
    title: the column's heading.
    statistic: the statistic of each trial's curve, by name.
    metric: the metric of the curve: a field of metrics.jsonl, or `seconds`.
    scale: a factor, such as 100 for a share in percent.
    digits: the number of decimals shown.
    game: the only game that the column is for; all games if None.
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
    title: the heading, in our words.
    trials: the number of trials behind the paper's means.
    rows: the rows' labels, by the names in configs.
    columns: the columns by name.
    values: the numbers in the paper, by row and column.
    notes: sentences on how the paper's numbers and ours were computed.
    settings: what the paper says that all its rows were made with, by the dotted names
      of settings in configs. What it does not say is not here.
    row_settings: the same of each row.
  """

  title: str
  trials: int = pydantic.Field(ge=1)
  rows: dict[str, str]
  columns: dict[str, Column]
  values: dict[str, dict[str, Value]]
  notes: tuple[str, ...] = ()
  settings: dict[str, Setting] = pydantic.Field(default_factory=dict)
  row_settings: dict[str, dict[str, Setting]] = pydantic.Field(default_factory=dict)

  @pydantic.model_validator(mode="after")
  def _settings_have_rows(self) -> "Table":
    for row in self.row_settings:
      _check_known("row", row, self.rows)
    return self

  @pydantic.model_validator(mode="after")
  def _values_have_places(self) -> "Table":
    for row, values in self.values.items():
      _check_known("row", row, self.rows)
      for column in values:
        _check_known("column", column, self.columns)
    return self

  @pydantic.model_validator(mode="after")
  def _all_columns_have_games_or_none(self) -> "Table":
    for name, column in self.columns.items():
      if self.games and column.game is None:
        raise ValueError(f"column {name!r} has no game, but others have: {self.games}")
    return self

  @property
  def games(self) -> tuple[str, ...]:
    """The games that its columns are for; empty if they are for all games."""
    games = (column.game for column in self.columns.values())
    return tuple(dict.fromkeys(game for game in games if game is not None))

  def made_with(self, row: str) -> dict[str, Setting]:
    """Returns what a row was made with, by the dotted names of settings."""
    return self.settings | self.row_settings.get(row, {})

  def value(self, row: str, column: str) -> Value | None:
    """Returns the paper's number, or None if it has none there."""
    return self.values.get(row, {}).get(column)


class _Plot(_Model):
  """A way to draw the rows of a table."""

  @property
  def rows(self) -> tuple[str, ...]:
    """The rows of the table that it names: none, it draws all."""
    return ()


class Curve(_Plot):
  """Curves of a metric over the games trained, one for each row.

  Attributes:
    kind: the kind of plot.
    y_label: the label of the metric's axis.
    metric: as in a column.
    scale: as in a column.
    bounds: the least and the greatest possible value, if it is bounded.
    reference: the column of the table for which the paper's numbers are marked.
    log_x: whether the axis of games is logarithmic.
    log_y: whether the metric's axis is logarithmic.
    games: the first and the last number of games shown; all if None.
  """

  kind: Literal["curve"] = "curve"
  y_label: str
  metric: str = "score"
  scale: float = 1.0
  bounds: tuple[float, float] | None = None
  reference: str | None = None
  log_x: bool = False
  log_y: bool = False
  games: tuple[pydantic.PositiveInt, pydantic.PositiveInt] | None = None

  @pydantic.field_validator("games")
  @classmethod
  def _games_increase(cls, games: tuple[int, int] | None) -> tuple[int, int] | None:
    if games is not None:
      _check_increasing(games)
    return games

  @property
  def references(self) -> tuple[str, ...]:
    """The columns for which the paper's numbers are marked."""
    return () if self.reference is None else (self.reference,)


class Part(_Model):
  """A panel of bars.

  Attributes:
    title: the panel's heading.
    metric: as in a column.
    reference: the column of the table for which the paper's numbers are marked.
  """

  title: str
  metric: str
  reference: str | None = None


class Bars(_Plot):
  """Bars of final results, a panel for each part and a bar for each row.

  Attributes:
    kind: the kind of plot.
    parts: the panels; each has its own axis, as some values may be tiny.
    scale: as in a column, for all parts.
  """

  kind: Literal["bars"]
  parts: tuple[Part, ...] = pydantic.Field(min_length=1)
  scale: float = 1.0

  @property
  def references(self) -> tuple[str, ...]:
    """The columns for which the paper's numbers are marked."""
    return tuple(part.reference for part in self.parts if part.reference is not None)


class Histograms(_Plot):
  """Histograms of a metric over the trials of one row, during training.

  Attributes:
    kind: the kind of plot.
    row: the row's name.
    after: the numbers of games, one panel for each.
    x_label: the label of the metric's axes.
    metric: as in a column.
    scale: as in a column.
  """

  kind: Literal["histograms"]
  row: str
  after: tuple[pydantic.PositiveInt, ...] = pydantic.Field(min_length=1)
  x_label: str
  metric: str = "score"
  scale: float = 1.0

  @pydantic.field_validator("after")
  @classmethod
  def _games_increase(cls, after: tuple[int, ...]) -> tuple[int, ...]:
    _check_increasing(after)
    return after

  @property
  def references(self) -> tuple[str, ...]:
    """The columns for which the paper's numbers are marked: none."""
    return ()

  @property
  def rows(self) -> tuple[str, ...]:
    """The rows of the table that it names."""
    return (self.row,)


class Lines(_Plot):
  """A column over a number that rows stand for, such as how many games are parallel.

  Attributes:
    kind: the kind of plot.
    column: the table's column.
    lines: by their labels, the rows of each line and the number that a row stands for.
    x_label: the label of that number's axis, which is logarithmic.
    y_label: the label of the column's axis.
    bounds: the least and the greatest possible value, if it is bounded.
  """

  kind: Literal["lines"]
  column: str
  lines: dict[str, dict[str, pydantic.PositiveInt]] = pydantic.Field(min_length=1)
  x_label: str
  y_label: str
  bounds: tuple[float, float] | None = None

  @property
  def references(self) -> tuple[str, ...]:
    """The columns of the table that it needs."""
    return (self.column,)

  @property
  def rows(self) -> tuple[str, ...]:
    """The rows of the table that it names."""
    return tuple(row for line in self.lines.values() for row in line)


def _kind(plot: Any) -> Any:
  """Returns a plot's kind, a curve by default."""
  return plot.get("kind", "curve") if isinstance(plot, Mapping) else plot.kind


Plot = Annotated[
  Annotated[Curve, pydantic.Tag("curve")]
  | Annotated[Bars, pydantic.Tag("bars")]
  | Annotated[Histograms, pydantic.Tag("histograms")]
  | Annotated[Lines, pydantic.Tag("lines")],
  pydantic.Discriminator(_kind),
]


class Figure(_Model):
  """A figure of a paper.

  Attributes:
    title: the heading, in our words.
    table: the table of which the rows are drawn.
    game: the game, if the table has columns for several.
    plot: how the rows are drawn.
  """

  title: str
  table: str
  game: str | None = None
  plot: Plot


class Paper(_Model):
  """A paper.

  Attributes:
    name: its name in configs.
    title: its title.
    doi: its DOI, if it has one.
    tables: its tables, by their numbers in the paper.
    figures: its figures, by their numbers in the paper.
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
      table = self.tables[figure.table]
      if figure.game is not None or table.games:
        _check_known("game", figure.game, dict.fromkeys(table.games), where)
      for column in figure.plot.references:
        _check_known("column", column, table.columns, where)
      for row in figure.plot.rows:
        _check_known("row", row, table.rows, where)
    return self

  def find(self, table: str, row: str, game: str) -> Table:
    """Returns a table that has a row and is for a game.

    Raises:
      ValueError: if the paper has no such table, or the table no such row or game.
    """
    _check_known("table", table, self.tables, f" in {self.name}")
    found = self.tables[table]
    _check_known("row", row, found.rows, f" in table {table} of {self.name}")
    if found.games and game not in found.games:
      known = ", ".join(found.games)
      raise ValueError(f"table {table} of {self.name} is for {known}, not for {game}")
    return found


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


def _check_increasing(numbers: Sequence[int]) -> None:
  """Raises a `ValueError` if a number is not greater than the one before it."""
  for before, after in itertools.pairwise(numbers):
    if after <= before:
      raise ValueError(f"numbers of games must increase, but {after} follows {before}")


def _check_known(
  what: str, name: str | None, known: Mapping[str, Any], where: str = ""
) -> None:
  """Raises a `ValueError` if a name is not among the known ones."""
  if name not in known:
    hint = suggestions.close_match(str(name), known)
    raise ValueError(f"no {what} {name!r}{where}: {hint}")
