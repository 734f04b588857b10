"""The description of a run: typed, checked, and the same for every learner."""

from collections.abc import Iterator, Mapping, Sequence
import pathlib
import re
from typing import Annotated, Any, NamedTuple

import pydantic
import yaml

from jaxgames import options
from jaxgames import registry as game_registry
from jaxgames import suggestions
from jaxgames.players import registry as player_registry
from train.config import agent_names
from train.config import errors as config_errors
from train.config import files as config_files
from train.config import migrations
from train.config import names
from train.config import plan
from train.config import sweeps as config_sweeps
from train.config import yaml_text
from train.learners import registry as learner_registry
from train.learners.common import fields

__all__ = [
  "CheckpointSettings",
  "LearnerConfig",
  "RunConfig",
  "TestSettings",
  "Unchecked",
  "check",
  "differences",
  "dump",
  "from_saved",
  "load",
  "load_saved",
  "load_sweep",
  "migrate_saved",
  "read",
  "read_sweep",
  "sweep_name",
  "to_mapping",
]

# The number of games is kept in 32 bits, and a trial may overshoot its last target.
MOST_GAMES = 2_000_000_000

# The opponent's name where it is the player of the tests.
TESTED = "tested"


# The context of validation for a config that was saved: an agent that a run was trained
# against may be gone, and only who trains on needs it.
SAVED = {"is_saved": True}


def _check_player(spec: str, info: pydantic.ValidationInfo) -> str:
  """Refuses a spec whose name or options are unknown; agents are looked at later."""
  if info.context != SAVED and not agent_names.is_agent(spec):
    player_registry.check(spec, agent_names.is_agent)
  return spec


PlayerSpec = Annotated[str, pydantic.AfterValidator(_check_player)]


def _check_players_of(
  settings: pydantic.BaseModel, info: pydantic.ValidationInfo
) -> None:
  """Refuses settings of a learner that name unknown players."""
  for field, spec in _players_of(settings):
    try:
      _check_player(spec, info)
    except ValueError as error:
      model = type(settings)
      raise config_errors.field_error(model, field, spec, error) from error


def _players_of(settings: pydantic.BaseModel) -> Iterator[tuple[str, str]]:
  """Yields the fields of a learner's settings that name players, and the players."""
  for field, description in type(settings).model_fields.items():
    spec = getattr(settings, field)
    if fields.IS_PLAYER in description.metadata and spec is not None:
      yield field, spec


class TestSettings(fields.Model):
  """How a run is tested on its way.

  Attributes:
    every: games of training between two tests of a trial.
    also_at: further numbers of games after which a trial is tested.
    games: games in a test.
    against: the player on the other side.
    also_against: further players by name; the shares of games won, drawn and lost
      against each, of as many games, are metrics, as `name_wins`.
    starts: the games of a test that the agent begins.
    exact: players against which, in small games, the agent's results are computed
      exactly, over all that can happen; see `train.run.exact`.
  """

  every: fields.Count
  also_at: tuple[fields.Count, ...] = ()
  games: fields.Count
  against: PlayerSpec
  also_against: dict[str, PlayerSpec] = pydantic.Field(default_factory=dict)
  starts: options.Starts = "alternate"
  exact: tuple[PlayerSpec, ...] = ()

  @pydantic.field_validator("also_against")
  @classmethod
  def _check_also_against(cls, value: dict[str, str]) -> dict[str, str]:
    _check_names(value)
    return value


class CheckpointSettings(fields.Model):
  """When a run is saved.

  Attributes:
    every: tests between two checkpoints.
    keep: how many of the newest are kept, apart from the best.
  """

  every: fields.Count = 1
  keep: fields.Count = 3


class LearnerConfig(fields.Model):
  """The way to learn. In a file, `kind` stands among the settings.

  Attributes:
    kind: a name in `train.learners.registry.KINDS`.
    settings: an instance of that kind's settings.
  """

  kind: str
  settings: pydantic.SerializeAsAny[pydantic.BaseModel]


class RunConfig(fields.Model):
  """A run: some trials of training, tested on their way.

  Attributes:
    game: a name that `jaxgames.make` knows.
    learner: the way to learn.
    opponent: `self`, or the player that the learner trains against, which may be
      `tested`, the one that it is tested against; or several by name, each with as many
      trials.
    trials: how many times the same is trained with other random numbers.
    games: games of training in each trial.
    parallel_games: how many games a trial plays at a time.
    seed: of all randomness.
    test: how the run is tested.
    checkpoint: when it is saved.
    paper: the cell of a paper's table that this run reproduces, and perhaps the
      reading of the paper in which it does.
  """

  game: str
  learner: LearnerConfig
  opponent: str | dict[str, str] = "self"
  trials: fields.Count = 1
  games: Annotated[fields.Whole, pydantic.Field(ge=1, le=MOST_GAMES)]
  parallel_games: fields.Count = 1
  seed: Annotated[fields.Whole, pydantic.Field(ge=0, lt=2**32)] = 0
  test: TestSettings
  checkpoint: CheckpointSettings = CheckpointSettings()
  paper: dict[str, Any] | None = None

  @property
  def opponents(self) -> dict[str, str]:
    """The opponents by name; a single one has none."""
    named = {"": self.opponent} if isinstance(self.opponent, str) else self.opponent
    return {
      name: self.test.against if spec == TESTED else spec
      for name, spec in named.items()
    }

  @property
  def training_players(self) -> list[str]:
    """All players that training needs: the opponents, and those of the learner."""
    own = [spec for _, spec in _players_of(self.learner.settings)]
    return [*self.opponents.values(), *own]

  @property
  def num_trials(self) -> int:
    """The trials against all opponents."""
    return self.trials * len(self.opponents)

  @property
  def test_points(self) -> tuple[int, ...]:
    """The numbers of games after which a trial is tested; the last is its end."""
    return plan.planned_tests(self.games, self.test.every, self.test.also_at)

  @pydantic.field_validator("game")
  @classmethod
  def _check_game(cls, name: str) -> str:
    game_registry.parse(name)
    return name

  @pydantic.field_validator("learner", mode="before")
  @classmethod
  def _read_learner(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
    if isinstance(value, LearnerConfig):
      return value
    if not isinstance(value, Mapping):
      raise ValueError(f"it is {value!r}, but must be a kind with its settings")
    kind, kinds = str(value.get("kind")), learner_registry.KINDS
    if kind not in kinds:
      known = suggestions.close_match(kind, kinds)
      is_given = "kind" in value
      error = ValueError(
        f"no learner {kind!r}: {known}" if is_given else f"it is missing: {known}"
      )
      raise config_errors.field_error(LearnerConfig, "kind", kind, error)
    settings = kinds[kind].settings.model_validate(
      {key: value[key] for key in value if key != "kind"}
    )
    _check_players_of(settings, info)
    return LearnerConfig(kind=kind, settings=settings)

  @pydantic.field_validator("opponent", mode="before")
  @classmethod
  def _check_opponent(cls, value: Any, info: pydantic.ValidationInfo) -> Any:
    if not isinstance(value, str | Mapping):
      raise ValueError(f"it is {value!r}, but must be a player, or players by name")
    several = {} if isinstance(value, str) else value
    if not several and not isinstance(value, str):
      raise ValueError("there must be at least one opponent")
    learner = info.data.get("learner")
    kinds = learner_registry.KINDS
    if several and learner and not kinds[learner.kind].takes_many_opponents:
      raise ValueError(
        f"learner {learner.kind} takes one opponent, not several by name"
      )
    _check_names(several)
    for spec in several.values() if several else [value]:
      if spec not in (fields.SELF_PLAY, TESTED):
        _check_player(str(spec), info)
    return value

  @pydantic.field_validator("test")
  @classmethod
  def _check_test(
    cls, test: TestSettings, info: pydantic.ValidationInfo
  ) -> TestSettings:
    last = info.data.get("games")
    late = [point for point in test.also_at if last is not None and point > last]
    if late:
      error = ValueError(
        f"there is no test after {late[0]:,} games, training ends at {last:,}"
      )
      raise config_errors.field_error(TestSettings, "also_at", test.also_at, error)
    try:
      plan.planned_tests(last or 1, test.every)
    except ValueError as error:
      raise config_errors.field_error(
        TestSettings, "every", test.every, error
      ) from error
    return test


class Unchecked(NamedTuple):
  """A config whose fields are right, before the checks that need jax.

  Attributes:
    config: what it says.
    source: where it says so.
  """

  config: RunConfig
  source: config_files.Source

  def error(self, field: str, reason: str) -> ValueError:
    """Returns the error about a field, with the file that it was written in."""
    return ValueError(f"{self.source.origin(field)}: {field}: {reason}")


def load(path: pathlib.Path | str, overrides: Sequence[str] = ()) -> RunConfig:
  """Reads the description of a run, and checks all of it.

  Args:
    path: a YAML file, or a name; see `names.find`.
    overrides: dotted paths with values, `test.every=1000`.

  Raises:
    ValueError: one sentence with the file, the field, its value and what is allowed.
  """
  return check(read(path, overrides))


def read(path: pathlib.Path | str, overrides: Sequence[str] = ()) -> Unchecked:
  """Reads the description of a run; most mistakes are found here, in no time.

  Args and errors are those of `load`.
  """
  source = config_files.read(names.find(path))
  if "runs" in source.values:
    raise ValueError(f"{source.name} has many runs: use jaxgames sweep {path}")
  return _validate(config_files.apply_overrides(source, overrides))


def check(unchecked: Unchecked) -> RunConfig:
  """Returns a config, after the checks that need jax: who can play the game.

  Raises:
    ValueError: as `load`.
  """
  # Imported here: it imports jax, which takes longer than all that comes before.
  from train.config import checks

  mistake = checks.find_mistake(unchecked.config)
  if mistake is not None:
    raise unchecked.error(*mistake)
  return unchecked.config


def load_saved(path: pathlib.Path) -> RunConfig:
  """Reads the config that a run has saved, perhaps under older names of settings."""
  return from_saved(config_files.read(path).values, str(path))


def from_saved(values: Mapping[str, Any], name: str) -> RunConfig:
  """Returns the config that a run or an agent has saved.

  Args:
    values: laid out as in a file, perhaps under older names of settings.
    name: of the file, for errors.
  """
  source = config_files.Source(name, migrations.migrate(values), {})
  return _validate(source, SAVED).config


def migrate_saved(values: Mapping[str, Any]) -> dict[str, Any]:
  """Returns a config that was laid out by `to_mapping` as it would be laid out now."""
  migrated = migrations.migrate(values)
  return to_mapping(RunConfig.model_validate(migrated, context=SAVED))


def sweep_name(path: pathlib.Path | str) -> str:
  """Returns the name of a sweep: from its file, or else the file's own.

  Raises:
    ValueError: if the name is none for a directory.
  """
  path = names.find(path)
  name = config_files.read_mapping(path).get("name")
  if name is None:
    return path.stem
  if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
    raise ValueError(f"{path}: name is {name!r}, but must name a directory")
  return name


def load_sweep(
  path: pathlib.Path | str, overrides: Sequence[str] = ()
) -> list[tuple[str, RunConfig]]:
  """Reads the descriptions of many runs, each with its name, and checks all of them.

  A run has the name of its file; in a sweep over readings of a paper `READING/FILE`,
  and each reading has all runs.

  Args:
    path: a YAML file with `runs`, see `config_sweeps.read`; or the description of one
      run.
    overrides: as in `load`, for all runs.
  """
  return [(name, check(run)) for name, run in read_sweep(path, overrides)]


def read_sweep(
  path: pathlib.Path | str, overrides: Sequence[str] = ()
) -> list[tuple[str, Unchecked]]:
  """Reads the descriptions of many runs, as `load_sweep` and as quick as `read`."""
  path = names.find(path)
  if "runs" not in config_files.read_mapping(path):
    return [(path.stem, read(path, overrides))]
  return [
    (name, _validate(source)) for name, source in config_sweeps.read(path, overrides)
  ]


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


def _validate(
  source: config_files.Source, context: dict[str, Any] | None = None
) -> Unchecked:
  """Returns the config, if its fields are right."""
  try:
    config = RunConfig.model_validate(source.values, context=context)
  except pydantic.ValidationError as error:
    learner = source.values.get("learner")
    kind = learner.get("kind") if isinstance(learner, Mapping) else None
    message = config_errors.sentence(error, source, RunConfig, str(kind))
    raise ValueError(message) from error
  # It is saved as one file, which must be read again when the run is resumed.
  if yaml_text.count_values(to_mapping(config)) > yaml_text.MOST_VALUES:
    raise ValueError(
      f"{source.name}: with all that it extends there are more than "
      f"{yaml_text.MOST_VALUES:,} values, but a config is small"
    )
  return Unchecked(config, source)


def _check_names(names: Mapping[str, Any]) -> None:
  for name in names:
    if not re.fullmatch(r"\w+", str(name)):
      raise ValueError(f"the name {name!r} must be of letters, digits and _")
