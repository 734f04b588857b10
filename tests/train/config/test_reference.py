import pathlib
import re
import subprocess
import sys

import pytest

from tests.support import paths
from train import config as config_lib
from train.config import reference

PAGE = paths.ROOT / "docs" / "configuration.md"


def test_the_committed_page_is_current():
  hint = "write it anew: python -m train.config.reference > docs/configuration.md"
  assert PAGE.read_text(encoding="utf-8") == reference.reference(), hint


@pytest.mark.parametrize(
  "model",
  list(reference.models()),
  ids=lambda model: f"{model.__module__}.{model.__name__}",
)
def test_every_field_has_a_meaning_and_no_meaning_lacks_a_field(model):
  assert set(model.model_fields) == set(reference.meanings(model))


def test_it_is_written_without_jax():
  code = (
    "import sys; from train.config import reference; reference.reference(); "
    "sys.exit('jax' in sys.modules)"
  )
  subprocess.run([sys.executable, "-c", code], check=True, cwd=paths.ROOT)


def test_types_say_ranges_and_values():
  page = reference.reference()
  for row in (
    "| `trials` | a whole number ≥ 1 | `1` |",
    "| `games` | a whole number from 1 to 2,000,000,000 | required |",
    "| `also_against` | names (each with a player) | `{}` |",
    "| `hidden` | a list (each a whole number ≥ 1) | `[32]` |",
    "| `terminal_steps` | `at_once`, `spread` or `null` | `null` |",
    "| `stores_invalid` | `true`, `false` or `null` | `null` |",
  ):
    assert row in page


def _examples(directory: pathlib.Path) -> dict[str, pathlib.Path]:
  """Writes the page's YAML, which says what its files are called, beside configs."""
  (directory / "ttt3d").symlink_to(paths.ROOT / "configs" / "ttt3d")
  found = {}
  blocks = re.findall(r"```yaml\n(# (\S+)\n.*?)```", reference.reference(), re.DOTALL)
  for text, name in blocks:
    found[name] = directory / name
    found[name].write_text(text, encoding="utf-8")
  return found


def test_examples_of_files_and_overrides_load(tmp_path):
  file = _examples(tmp_path)["my_run.yaml"]
  command = re.search(r"^jaxgames train my_run.yaml (.*)$", reference.HEAD, re.M)
  assert command is not None
  overrides = [text.strip('"') for text in command[1].split(" ")]
  config = config_lib.load(file, overrides)
  assert (config.trials, config.test.every) == (2, 5000)
  assert (config.opponent, config.test.against) == ("benchmark", "benchmark")
  learner = config_lib.to_mapping(config)["learner"]
  assert learner["network"]["hidden"] == [16]
  assert learner["learning_rate"] == 0.01


def test_the_example_of_a_sweep_has_the_runs_that_are_listed(tmp_path):
  file = _examples(tmp_path)["my_sweep.yaml"]
  runs = dict(config_lib.load_sweep(file))
  said = re.findall(r"`(with(?:out)?/\w+)`", reference.HEAD)
  assert said == list(runs)
  assert config_lib.sweep_name(file) == "biases"
  biases = {
    name: config_lib.to_mapping(config)["learner"]["network"]["bias"]
    for name, config in runs.items()
  }
  assert biases == {name: name.startswith("with/") for name in runs}


def test_the_example_of_a_paper_loads(tmp_path):
  config = config_lib.load(_examples(tmp_path)["my_row.yaml"])
  assert config.paper == {"name": "ttt3d", "table": "II", "row": "deep_structured"}
