"""Configs by name, with and without path and ending."""

import pathlib

import pytest

from tests.support import paths
from train import config as config_lib
from train.config import names


@pytest.fixture
def empty(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  return tmp_path


@pytest.mark.parametrize(
  ("name", "file"),
  [
    ("quickstart", "quickstart.yaml"),
    ("quickstart.yaml", "quickstart.yaml"),
    ("ttt3d/beyond", "ttt3d/beyond.yaml"),
    # There is a folder of this name too.
    ("ttt3d/parallel", "ttt3d/parallel.yaml"),
    ("ttt3d/parallel/sum_1.yaml", "ttt3d/parallel/sum_1.yaml"),
  ],
)
def test_the_packages_configs_are_found_from_anywhere(empty, name, file):
  found = names.find(name)
  assert found.resolve() == paths.ROOT / "configs" / file


def test_paths_come_first_then_own_configs_then_the_packages(empty):
  (empty / "configs").mkdir()
  own = empty / "configs" / "quickstart.yaml"
  own.write_text("seed: 1\n")
  assert names.find("quickstart").resolve() == own
  here = empty / "quickstart.yaml"
  here.write_text("seed: 2\n")
  assert names.find("quickstart").resolve() == here
  assert names.find(here) == here
  assert names.find("configs/quickstart").resolve() == own
  assert names.find("ttt3d/beyond").is_relative_to(paths.ROOT)


@pytest.mark.parametrize(
  ("name", "words"),
  [
    ("quickstrt", "did you mean 'quickstart'?"),
    ("ttt3d/beyound.yaml", "did you mean 'ttt3d/beyond'"),
    ("beyond", "'ttt3d/beyond'"),
    ("zzzzzzzz", "`jaxgames games` lists"),
    (".", "`jaxgames games` lists"),
    ("ttt3d", "no config 'ttt3d'"),
  ],
)
def test_a_wrong_name_is_answered_with_the_closest(empty, name, words):
  with pytest.raises(ValueError, match="no config") as caught:
    config_lib.load(name)
  assert words in str(caught.value)
  assert "\n" not in str(caught.value)


def test_a_wrong_path_is_answered_with_files_beside_it(empty):
  (empty / "mine").mkdir()
  (empty / "mine" / "first.yaml").write_text("seed: 1\n")
  with pytest.raises(ValueError, match="did you mean 'mine/first'"):
    names.find("mine/frist.yaml")
  with pytest.raises(ValueError, match=r"did you mean '.*/mine/first'"):
    names.find(pathlib.Path.cwd() / "mine" / "frist.yaml")


def test_all_names_are_known(empty):
  files = (paths.ROOT / "configs").rglob("*.yaml")
  assert len(names.known()) == len(list(files))
  assert {"quickstart", "ttt3d/beyond", "ttt3d/networks/deep_structured"} <= {
    *names.known()
  }
