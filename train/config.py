"""The description of a run: typed, checked, and the same for every learner."""

from collections.abc import Mapping, Sequence
import pathlib
from typing import Annotated, Any

import pydantic
import yaml

import jaxgames
from jaxgames import players
from jaxgames.players import names
from train import config_errors
from train import config_files

__all__ = [
  "CheckpointSettings",
  "Count",
  "LearnerConfig",
  "RunConfig",
  "TestSettings",
  "differences",
  "dump",
  "load",
  "load_sweep",
  "to_mapping",
]

# The number of games is kept in 32 bits, and a trial may overshoot its last target.
MOST_GAMES = 2_000_000_000


def _as_whole_number(value: Any) -> Any:
  """Accepts 1e6 for a count, but neither true nor 1.5."""
  if isinstance(value, bool):
    raise ValueError(f"{value} is not a whole number")
  return int(value) if isinstance(value, float) and value.is_integer() else value


Count = Annotated[int, pydantic.BeforeValidator(_as_whole_number), pydantic.Field(ge=1)]


class _Model(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class TestSettings(_Model):
  """How a run is tested on its way.

  Attributes:
    every: games of training between two tests of a trial.
    games: games in a test.
    against: the player on the other side.
  """

  every: Count
  games: Count
  against: str


class CheckpointSettings(_Model):
  """When a run is saved.

  Attributes:
    every: tests between two checkpoints.
    keep: how many of the newest are kept, apart from the best.
  """

  every: Count = 1
  keep: Count = 3


class LearnerConfig(_Model):
  """The way to learn. In a file, `kind` stands among the settings.

  Attributes:
    kind: a name in `train.learners.KINDS`.
    settings: an instance of that kind's settings.
  """

  kind: str
  settings: pydantic.SerializeAsAny[pydantic.BaseModel]


class RunConfig(_Model):
  """A run: some trials of training, tested on their way.

  Attributes:
    game: a name that `jaxgames.make` knows.
    learner: the way to learn.
    opponent: `self`, or the player that the learner trains against.
    trials: how often the same is done with other random numbers.
    games: games of training in each trial.
    parallel_games: how many games a trial plays at a time.
    seed: of all randomness.
    test: how the run is tested.
    checkpoint: when it is saved.
    paper: the cell of a paper's table that this run reproduces.
  """

  game: str
  learner: LearnerConfig
  opponent: str = "self"
  trials: Count = 1
  games: Annotated[Count, pydantic.Field(le=MOST_GAMES)]
  parallel_games: Count = 1
  seed: Annotated[
    int, pydantic.BeforeValidator(_as_whole_number), pydantic.Field(ge=0, lt=2**32)
  ] = 0
  test: TestSettings
  checkpoint: CheckpointSettings = CheckpointSettings()
  paper: dict[str, Any] | None = None

  @property
  def num_tests(self) -> int:
    """The number of tests of a trial; the last is at the end of training."""
    return -(-self.games // self.test.every)

  @pydantic.field_validator("game")
  @classmethod
  def _check_game(cls, name: str) -> str:
    jaxgames.make(name)
    return name

  @pydantic.field_validator("learner", mode="before")
  @classmethod
  def _read_learner(cls, value: Any) -> Any:
    if isinstance(value, LearnerConfig):
      return value
    if not isinstance(value, Mapping):
      raise ValueError(f"it is {value!r}, but must be a kind with its settings")
    kind, kinds = str(value.get("kind")), _kinds()
    if kind not in kinds:
      known = names.close_match(kind, kinds)
      is_given = "kind" in value
      error = ValueError(
        f"no learner {kind!r}: {known}" if is_given else f"it is missing: {known}"
      )
      raise config_errors.field_error(LearnerConfig, "kind", kind, error)
    settings = {key: value[key] for key in value if key != "kind"}
    return LearnerConfig(
      kind=kind, settings=kinds[kind].settings.model_validate(settings)
    )

  @pydantic.field_validator("opponent")
  @classmethod
  def _check_opponent(cls, spec: str, info: pydantic.ValidationInfo) -> str:
    if spec != "self" and "game" in info.data:
      players.make(jaxgames.make(info.data["game"]), spec)
    return spec

  @pydantic.field_validator("test")
  @classmethod
  def _check_test(
    cls, test: TestSettings, info: pydantic.ValidationInfo
  ) -> TestSettings:
    if "game" in info.data:
      try:
        players.make(jaxgames.make(info.data["game"]), test.against)
      except ValueError as error:
        raise config_errors.field_error(
          TestSettings, "against", test.against, error
        ) from error
    return test


def load(path: pathlib.Path | str, overrides: Sequence[str] = ()) -> RunConfig:
  """Reads the description of a run.

  Args:
    path: a YAML file.
    overrides: dotted paths with values, `test.every=1000`.

  Raises:
    ValueError: one sentence with the file, the field, its value and what is allowed.
  """
  source = config_files.read(pathlib.Path(path))
  return _validate(config_files.apply_overrides(source, overrides))


def load_sweep(
  path: pathlib.Path | str, overrides: Sequence[str] = ()
) -> list[tuple[str, RunConfig]]:
  """Reads the descriptions of many runs, each with the name of its file.

  Args:
    path: a YAML file with `runs`, a list of files, and perhaps `overrides` for all of
      them; or the description of one run.
    overrides: as in `load`, for all runs.
  """
  path = pathlib.Path(path)
  values = config_files.read_mapping(path)
  if "runs" not in values:
    return [(path.stem, load(path, overrides))]
  known = {"runs": None, "overrides": None}
  for key in values:
    if key not in known:
      hint = names.close_match(str(key), known)
      raise ValueError(f"{path}: there is no field {key} in a sweep: {hint}")
  files, common = values["runs"], values.get("overrides") or {}
  if not isinstance(files, list) or not files or not all(map(_is_text, files)):
    raise ValueError(f"{path}: runs is {files!r}, but must be a list of files")
  if not isinstance(common, Mapping):
    message = f"{path}: overrides is {common!r}, but must be fields with values"
    raise ValueError(message)
  stems = [pathlib.Path(file).stem for file in files]
  for stem in stems:
    if stems.count(stem) > 1:
      raise ValueError(f"{path}: two runs have the name {stem!r}; rename a file")
  runs = []
  for stem, file in zip(stems, files, strict=True):
    source = config_files.read(path.parent / file)
    merged = config_files.merge(source.values, config_files.nest(common))
    origins = {**source.origins, **dict.fromkeys(common, f"{path}, overrides")}
    source = config_files.Source(source.name, merged, origins)
    runs.append((stem, _validate(config_files.apply_overrides(source, overrides))))
  return runs


def dump(config: RunConfig) -> str:
  """Returns the YAML that loads to an equal config."""
  return yaml.safe_dump(to_mapping(config), sort_keys=False, allow_unicode=True)


def to_mapping(config: RunConfig) -> dict[str, Any]:
  """Returns plain values, laid out as in a file."""
  values = config.model_dump(mode="json")
  learner = values["learner"]
  values["learner"] = {"kind": learner["kind"], **learner["settings"]}
  return values


def differences(
  before: Mapping[str, Any], after: Mapping[str, Any], path: str = ""
) -> list[str]:
  """Says which fields of two laid out configs differ.

  >>> differences({"seed": 1, "test": {"every": 2}}, {"seed": 1, "test": {"every": 3}})
  ['test.every was 2 and is 3']
  """
  found = []
  for key in [*before, *(key for key in after if key not in before)]:
    old, new = before.get(key), after.get(key)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
      found += differences(old, new, f"{path}{key}.")
    elif old != new:
      found.append(f"{path}{key} was {old!r} and is {new!r}")
  return found


def _validate(source: config_files.Source) -> RunConfig:
  try:
    return RunConfig.model_validate(source.values)
  except pydantic.ValidationError as error:
    learner = source.values.get("learner")
    kind = (
      _kinds().get(str(learner.get("kind"))) if isinstance(learner, Mapping) else None
    )
    nested = {"learner": kind.settings} if kind else {}
    message = config_errors.sentence(error, source, RunConfig, nested)
    raise ValueError(message) from error


def _kinds() -> Mapping[str, Any]:
  # Learners are made from configs: imported above, each module would need the other.
  from train import learners

  return learners.KINDS


def _is_text(value: Any) -> bool:
  return isinstance(value, str)
