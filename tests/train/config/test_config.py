"""Configs: what is accepted, how files compose, and what is said of mistakes."""

import pathlib

import pydantic
import pytest

from tests.support import toy_learner
from train import config as config_lib

BASE = """
game: tictactoe
learner: {kind: toy, size: 4}
trials: 2
games: 1e3
test: {every: 100, games: 10, against: attack-defense}
"""


@pytest.fixture(autouse=True)
def _toy():
  with toy_learner.registered():
    yield


@pytest.fixture
def files(tmp_path):
  def write(**texts: str) -> pathlib.Path:
    for name, text in texts.items():
      (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path

  return write


def test_a_file_is_read_with_defaults(files):
  config = config_lib.load(files(a=BASE) / "a.yaml")
  assert config.games == 1000
  assert config.opponent == "self"
  assert config.learner.kind == "toy"
  assert config.learner.settings == toy_learner.Settings(size=4)
  assert config.checkpoint == config_lib.CheckpointSettings(every=1, keep=3)
  assert len(config.test_points) == 10


def test_a_dumped_config_loads_to_an_equal_one(files):
  extra = "paper: {name: ttt3d, table: II}\nlearner: {breaks_at: 5}\n"
  config = config_lib.load(files(a=BASE, b=f"extends: a.yaml\n{extra}") / "b.yaml")
  assert config_lib.load(files(c=config_lib.dump(config)) / "c.yaml") == config


def test_the_opponent_may_be_who_is_met_in_tests(files):
  path = files(a=BASE) / "a.yaml"
  config = config_lib.load(path, ["opponent=tested", "test.against=attack:ties=random"])
  assert config.opponents == {"": "attack:ties=random"}
  assert config.num_trials == 2


def test_several_opponents_need_a_learner_that_takes_them():
  fields = {"opponent": {"one": "random", "two": "attack"}}
  assert toy_learner.make_config(**fields).num_trials == 6
  with pytest.raises(ValueError, match="learner td takes one opponent"):
    toy_learner.make_config(**fields, learner={"kind": "td"})


def test_configs_are_frozen():
  with pytest.raises(pydantic.ValidationError):
    toy_learner.make_config().trials = 5  # type: ignore[misc]


def test_files_compose_and_the_later_wins(files):
  path = files(
    a=BASE,
    b="test: {every: 7}\nseed: 3\n",
    c="extends: [a.yaml, b.yaml]\nlearner: {rate: 0.5}\n",
  )
  config = config_lib.load(path / "c.yaml")
  assert config.test.every == 7
  assert config.test.against == "attack-defense"
  assert config.seed == 3
  assert config.learner.settings == toy_learner.Settings(size=4, rate=0.5)


def test_overrides_win(files):
  overrides = ["test.every=1_000", "learner.rate=1e-3", "opponent=mcts:simulations=5"]
  config = config_lib.load(files(a=BASE) / "a.yaml", overrides)
  assert config.test.every == 1000
  assert config.learner.settings == toy_learner.Settings(size=4, rate=1e-3)
  assert config.opponent == "mcts:simulations=5"


@pytest.mark.parametrize(
  ("override", "parts"),
  [
    ("trials=0", ["a.yaml with trials=0", "trials is 0", "greater than or equal to 1"]),
    ("trials=1.5", ["trials is 1.5", "must be a whole number"]),
    ("trials=yes", ["trials", "True is not a whole number"]),
    ("trails=3", ["no field trails", "did you mean 'trials'?", "parallel_games"]),
    ("test.evry=3", ["no field test.evry", "did you mean 'every'?"]),
    ("learner.rates=3", ["no field learner.rates", "did you mean 'rate'?", "size"]),
    ("learner.rate=0", ["learner.rate is 0", "greater than 0"]),
    ("learner.kind=toi", ["learner.kind", "no learner 'toi'", "did you mean 'toy'?"]),
    ("learner=toy", ["learner", "'toy'", "must be a kind with its settings"]),
    ("game=tictacto", ["game", "no game 'tictacto'", "did you mean 'tictactoe'?"]),
    ("opponent=benchmrk", ["opponent", "'benchmrk'", "did you mean 'benchmark'?"]),
    ("test.against=self", ["test.against", "no player 'self'"]),
    ("test.also_at=[5,2000]", ["test.also_at", "2,000", "ends at 1,000"]),
    ("test.also_at=[0]", ["test.also_at.0 is 0", "greater than or equal to 1"]),
    ("test.exact=[mcts]", ["test.exact", "'mcts' does not choose evenly"]),
    ("test.starts=first", ["test.starts is 'first'", "'alternate'"]),
    ("opponent=3", ["opponent", "must be a player, or players by name"]),
    ("opponent={a-b: random}", ["opponent", "'a-b' must be of letters"]),
    ("test=3", ["test is 3", "must be fields with values"]),
    ("seed=-1", ["seed is -1", "greater than or equal to 0"]),
    ("games=3e9", ["games is 3000000000", "2000000000"]),
    ("trials", ["'trials'", "field.name=value"]),
    ("test.=3", ["'test.=3'", "field.name=value"]),
    ("trials=[", ["trials=[", "not YAML"]),
  ],
)
def test_mistakes_are_explained_in_one_sentence(files, override, parts):
  with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
    config_lib.load(files(a=BASE) / "a.yaml", [override])
  message = str(raised.value)
  assert not isinstance(raised.value, pydantic.ValidationError)
  assert "pydantic" not in message
  for part in parts:
    assert part in message


@pytest.mark.parametrize(
  ("kind", "field"), [("dqn", "evaluation_opponent"), ("adp", "expert")]
)
def test_players_of_learners_are_checked_too(files, kind, field):
  path = files(a=BASE.replace("{kind: toy, size: 4}", f"{{kind: {kind}}}")) / "a.yaml"
  message = rf"learner\.{field}: no player 'mtcs': did you mean 'mcts'"
  with pytest.raises(ValueError, match=message):
    config_lib.load(path, [f"learner.{field}=mtcs:simulations=2"])


def test_a_mistake_is_blamed_on_the_file_that_holds_it(files):
  path = files(a=BASE, b="test: {every: 0}", c="extends: [a.yaml, b.yaml]\nseed: 1")
  with pytest.raises(ValueError, match=r"b\.yaml: test\.every is 0, but it must be"):
    config_lib.load(path / "c.yaml")


def test_a_missing_field_is_named(files):
  path = files(a=BASE.replace("games: 1e3\n", ""))
  with pytest.raises(ValueError, match=r"a\.yaml: the field games is missing"):
    config_lib.load(path / "a.yaml")


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("extends: x.yaml", "x.yaml extends itself: x.yaml -> x.yaml"),
    ("extends: y.yaml", "extends itself: x.yaml -> y.yaml -> x.yaml"),
    ("extends: 3", "extends is 3 but must be one or more files"),
    ("extends: z.yaml", "no config .*z.yaml: did you mean .*x.yaml"),
    ("seed: [", "x.yaml is not YAML: .* line 1"),
    ("seed: 1\nseed: 2", "'seed' stands twice in line 2"),
    ("- 1", "must hold fields with values"),
  ],
)
def test_files_that_cannot_be_used_are_refused(files, text, message):
  path = files(x=text, y="extends: x.yaml")
  with pytest.raises(ValueError, match=message):
    config_lib.load(path / "x.yaml")


def test_a_sweep_is_called_as_it_says(files):
  path = files(a=BASE, s="name: of-mine\nruns: [a.yaml]", t="name: a/b\nruns: [a.yaml]")
  assert config_lib.sweep_name(path / "s.yaml") == "of-mine"
  assert config_lib.sweep_name(path / "a.yaml") == "a"
  with pytest.raises(ValueError, match="name is 'a/b'"):
    config_lib.sweep_name(path / "t.yaml")


def test_a_sweep_is_many_runs(files):
  path = files(
    a=BASE,
    b="extends: a.yaml\nseed: 5",
    s="runs: [a.yaml, b.yaml]\noverrides: {test.every: 50, learner: {rate: 0.2}}",
  )
  sweep = config_lib.load_sweep(path / "s.yaml", ["trials=7"])
  assert [name for name, _ in sweep] == ["a", "b"]
  assert [config.seed for _, config in sweep] == [0, 5]
  for _, config in sweep:
    assert (config.trials, config.test.every) == (7, 50)
    assert config.learner.settings == toy_learner.Settings(size=4, rate=0.2)


def test_a_run_is_a_sweep_of_one(files):
  path = files(a=BASE) / "a.yaml"
  assert config_lib.load_sweep(path) == [("a", config_lib.load(path))]


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("runs: []", "must be a list of files"),
    ("runs: [a.yaml, a.yaml]", "two runs have the name 'a'"),
    ("runs: [a.yaml]\noverride: {}", "no field override .*did you mean 'overrides'"),
    (
      "runs: [a.yaml]\noverrides: {test.every: 0}",
      "s.yaml, overrides: test.every is 0",
    ),
  ],
)
def test_mistakes_in_sweeps_are_explained(files, text, message):
  with pytest.raises(ValueError, match=message):
    config_lib.load_sweep(files(a=BASE, s=text) / "s.yaml")
