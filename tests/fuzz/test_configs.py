"""Configs and overrides, right and wrong: printed whole, or refused in one line."""

import hypothesis
import hypothesis.strategies as st
import yaml

from tests.fuzz import budget
from tests.fuzz import commands
from tests.fuzz import texts
from tests.support import paths
from train import config as config_lib

QUICKSTART = (paths.ROOT / "configs" / "quickstart.yaml").read_bytes()

FIELDS = [
  "game", "learner", "learner.kind", "learner.network", "learner.network.hidden",
  "learner.network.detectors", "learner.network.patterns", "learner.learning_rate",
  "learner.epsilon", "learner.minibatch", "learner.trace", "learner.trace_length",
  "opponent", "trials", "games", "parallel_games", "seed", "test", "test.every",
  "test.also_at", "test.games", "test.against", "test.also_against", "test.starts",
  "test.exact", "checkpoint", "checkpoint.keep", "paper", "paper.name", "paper.table",
  "paper.row", "paper.reading", "extends", "runs", "nothing",
]  # fmt: skip

PLAUSIBLE = [
  "tictactoe", "gomoku:size=5", "td", "qlearning", "dqn", "adp", "tabular", "self",
  "tested", "alternate", "always", "ttt3d", "II", "deep_structured", "symmetry",
]  # fmt: skip

scalars = st.one_of(
  st.none(),
  st.booleans(),
  st.integers(),
  st.integers(-1, 100),
  st.floats(),
  st.sampled_from(PLAUSIBLE),
  texts.players,
  st.text(max_size=10),
)
values = st.recursive(
  scalars,
  lambda inner: st.one_of(
    st.lists(inner, max_size=3),
    st.dictionaries(st.one_of(st.sampled_from(FIELDS), st.text(max_size=5)), inner,
                    max_size=3),
  ),
  max_leaves=6,
)  # fmt: skip


def write(directory, contents: bytes) -> None:
  (directory / "mine.yaml").write_bytes(contents)


@budget.inputs(quick=60, share=0.2)
@hypothesis.given(
  fields=st.dictionaries(st.sampled_from(FIELDS), values, min_size=1, max_size=4)
)
@hypothesis.example(fields={"learner.learning_rate": float("inf")})
@hypothesis.example(fields={"games": 2e9, "test.every": 1})
@hypothesis.example(fields={"test.against": "x" * 300})
def test_a_config_is_printed_whole_or_refused(workplace, fields):
  with_base = {"extends": str(paths.ROOT / "configs" / "quickstart.yaml")}
  nested = config_lib.run.config_files.nest({**with_base, **fields})
  write(
    workplace, yaml.safe_dump(nested, allow_unicode=True).encode("utf-8", "replace")
  )
  result = commands.run("config", "mine.yaml")
  if result.exit_code == 0:
    assert ".inf" not in result.stdout
    assert ".nan" not in result.stdout
    write(workplace, result.stdout.encode())
    assert commands.run("config", "mine.yaml").stdout == result.stdout


@budget.inputs(quick=60, share=0.2)
@hypothesis.given(
  overrides=st.lists(
    st.builds(
      "{}{}{}".format,
      st.one_of(st.sampled_from(FIELDS), texts.anything),
      st.sampled_from(["=", "=", "=", "", "==", " = "]),
      st.one_of(st.sampled_from(PLAUSIBLE), texts.players, texts.yaml_texts),
    ),
    min_size=1,
    max_size=3,
  )
)
@hypothesis.example(overrides=["paper=&x {name: *x}"])
@hypothesis.example(overrides=["seed=" + "[" * 500])
@hypothesis.example(overrides=["opponent=" + "sometimes:player=(" * 500])
def test_overrides_are_used_or_refused(workplace, overrides):
  write(workplace, QUICKSTART)
  # What looks like an option is one; after two dashes nothing is.
  commands.run("config", "quickstart", "--", *overrides)


@budget.inputs(quick=60, share=0.15)
@hypothesis.given(
  contents=st.one_of(
    st.binary(max_size=200), texts.yaml_texts.map(lambda t: t.encode("utf-8", "ignore"))
  )
)
@hypothesis.example(contents=b"a: &x [*x]")
@hypothesis.example(contents=b"a: !!set [x]")
@hypothesis.example(contents=b"a: !!bool x")
@hypothesis.example(contents=b"{a: " * 500)
@hypothesis.example(contents=b"extends: /dev/zero")
def test_bytes_are_a_config_or_refused(workplace, contents):
  write(workplace, contents)
  commands.run("config", "mine.yaml")
  commands.run("runs", ".")


@budget.inputs(quick=30, share=0.1)
@hypothesis.given(
  changes=st.lists(
    st.tuples(
      st.integers(0, len(QUICKSTART)), st.integers(0, 5), st.binary(max_size=5)
    ),
    min_size=1,
    max_size=4,
  )
)
def test_a_damaged_config_is_read_or_refused(workplace, changes):
  contents = QUICKSTART
  for place, removed, added in changes:
    contents = contents[:place] + added + contents[place + removed :]
  write(workplace, contents)
  commands.run("config", "mine.yaml")
