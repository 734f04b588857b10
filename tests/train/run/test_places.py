"""Places for runs: refused before anything is trained, and left as they were."""

import os

import pytest

from train.run import directory
from train.run import places


def everything(path):
  return sorted(path.rglob("*"))


@pytest.mark.parametrize(
  ("name", "words"),
  [
    ("file", "Not a directory"),
    ("file/run", "Not a directory"),
    ("pipe", "Not a directory"),
    ("loop/run", "symbolic links"),
    ("x" * 300, "File name too long"),
    ("/".join(["x" * 200] * 30), "File name too long"),
    ("/dev/null/run", "Not a directory"),
    ("/proc/run", "cannot write into /proc/run"),
    ("nul\0run", "null"),
    ("not text \udc80", "utf-8"),
    ("other", "has other files in it, such as 'thesis.txt'"),
  ],
)
def test_what_cannot_hold_a_run_is_refused_and_left_alone(tmp_path, name, words):
  (tmp_path / "file").touch()
  (tmp_path / "loop").symlink_to("loop")
  os.mkfifo(tmp_path / "pipe")
  (tmp_path / "other").mkdir()
  (tmp_path / "other" / "thesis.txt").touch()
  before = everything(tmp_path)
  with pytest.raises(ValueError, match=words):
    places.check_run(tmp_path / name)
  assert everything(tmp_path) == before


def test_a_directory_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
  # As root one may write anywhere, so the system's answer is imitated.
  def refuse(*args):
    raise PermissionError(13, "Permission denied")

  monkeypatch.setattr(type(tmp_path), "write_bytes", refuse)
  with pytest.raises(ValueError, match=r"cannot write into .*: Permission denied"):
    places.check_run(tmp_path / "a" / "b")
  assert everything(tmp_path) == []


def test_new_empty_and_just_begun_directories_hold_runs(tmp_path):
  (tmp_path / "empty").mkdir()
  (tmp_path / "begun").mkdir()
  (tmp_path / "begun" / ".lock").touch()
  (tmp_path / "run").mkdir()
  (tmp_path / "run" / "config.yaml").touch()
  before = everything(tmp_path)
  for name in ("empty", "begun", "run", "new", "newer/than/that"):
    places.check_run(tmp_path / name)
  assert everything(tmp_path) == before


def test_a_sweep_is_not_made_inside_of_a_run(tmp_path):
  (tmp_path / "config.yaml").touch()
  with pytest.raises(ValueError, match="is a run itself"):
    places.check_sweep(tmp_path, [tmp_path / "sweep" / "one"])


def test_a_sweep_is_not_mixed_with_the_files_of_others(tmp_path):
  runs = [tmp_path / "sweep" / name for name in ("one", "two")]
  places.check_sweep(tmp_path, runs)
  (tmp_path / "thesis.txt").touch()
  with pytest.raises(ValueError, match="has other files in it, such as 'thesis"):
    places.check_sweep(tmp_path, runs)
  with directory.RunDirectory(tmp_path / "earlier" / "run").locked():
    (tmp_path / "earlier" / "run" / "config.yaml").touch()
  places.check_sweep(tmp_path, runs)
  runs[1].mkdir(parents=True)
  (runs[1] / "letter.txt").touch()
  with pytest.raises(ValueError, match=r"two has other files in it, such as 'letter"):
    places.check_sweep(tmp_path, runs)
