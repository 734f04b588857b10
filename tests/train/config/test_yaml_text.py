"""Configs are small: what is not is refused, quickly and in one sentence."""

import os
import time

import pytest

from train import config as config_lib
from train.config import yaml_text


def bomb(levels: int) -> str:
  """Returns a text of a few lines that stands for ten to the power of `levels`."""
  lines = ["a0: &a0 [x]"]
  for level in range(levels):
    aliases = ", ".join([f"*a{level}"] * 10)
    lines.append(f"a{level + 1}: &a{level + 1} [{aliases}]")
  return "\n".join(lines)


@pytest.mark.parametrize(
  ("text", "words"),
  [
    ("a: " + "[" * 50 + "]" * 50, "nested more than 40 deep in line 1"),
    ("{a: " * 5000, "nested more than 40 deep"),
    ("a: &a [1, *a]", r"\*a is inside of what it stands for in line 1, column 11"),
    ("&a\nb: *a", r"\*a is inside"),
    (bomb(9), "more than 20,000 values, but a config is small"),
    ("[" + "1," * 30_000 + "]", "more than 20,000 values"),
    ("a: !!python/object/apply:os.system [x]", "no tags, such as .*os.system"),
    ("a: !!set [x]", "no tags"),
    ("a: !!bool x", "no tags"),
    ("a: {<<: {b: 1}}", "no merging by <<, use extends"),
    ("? [a, b]\n: 1", "the name of a field must be text"),
    ("a: 1\na: 2", "'a' stands twice in line 2"),
    ("a: " + "9" * 5000, "a number has 5,000 digits, at most 100 are read"),
    ("a: [", "line 1"),
    ("a: \x00", "not allowed"),
    ("a: 1\n---\nb: 2", "another document"),
  ],
)
def test_what_is_no_config_is_refused_at_once(text, words):
  start = time.perf_counter()
  with pytest.raises(ValueError, match=words) as caught:
    yaml_text.parse(text)
  assert "\n" not in str(caught.value)
  assert time.perf_counter() - start < 20


def test_values_are_what_they_look_like():
  text = "{a: 1e6, b: 1_000, c: on, d: 2020-13-45, e: .inf, f: ~, g: 0x10}"
  assert yaml_text.parse(text) == {
    "a": 1e6, "b": 1000, "c": True, "d": "2020-13-45", "e": float("inf"), "f": None,
    "g": 16,
  }  # fmt: skip


def test_an_alias_stands_for_its_value():
  assert yaml_text.parse("a: &x [1, 2]\nb: [*x, *x]")["b"] == [[1, 2], [1, 2]]


def test_values_are_counted_with_those_inside():
  assert yaml_text.count_values({"a": [1, 2], "b": {"c": ()}}) == 9


@pytest.mark.parametrize(
  ("make_fn", "words"),
  [
    (lambda path: path.write_bytes(b"a" * 1_000_001), "more than 1,000,000 bytes"),
    (lambda path: path.write_bytes(b"a: \xff"), "byte 3 is not UTF-8 text"),
    (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    (os.mkfifo, "not a regular file"),
    (lambda path: path.symlink_to(path), "symbolic links"),
    (lambda path: path.mkdir(), "it is a directory"),
  ],
)
def test_only_small_regular_files_are_read(tmp_path, make_fn, words):
  path = tmp_path / "a.yaml"
  make_fn(path)
  with pytest.raises(ValueError, match=words):
    yaml_text.read_text(path)
  (tmp_path / "b.yaml").write_text("extends: a.yaml")
  with pytest.raises(ValueError, match=words):
    config_lib.read(tmp_path / "b.yaml")


def test_a_name_with_a_nul_is_of_no_file(tmp_path):
  path = tmp_path / "a.yaml"
  path.write_text('extends: "b\\0c.yaml"')
  with pytest.raises(ValueError, match="no file has a NUL in its name"):
    config_lib.read(path)


def test_files_that_extend_each_other_many_times_are_read_once(tmp_path):
  for number in range(12):
    extends = ", ".join([f"{number + 1}.yaml"] * 10)
    (tmp_path / f"{number}.yaml").write_text(f"extends: [{extends}]")
  (tmp_path / "12.yaml").write_text("seeds: 1")
  with pytest.raises(ValueError, match="the field game is missing"):
    config_lib.read(tmp_path / "0.yaml")


def test_files_extend_each_other_to_a_depth(tmp_path):
  for number in range(30):
    (tmp_path / f"{number}.yaml").write_text(f"extends: {number + 1}.yaml")
  with pytest.raises(ValueError, match="extends at most 20 others"):
    config_lib.read(tmp_path / "0.yaml")


def test_a_config_that_could_not_be_read_again_is_refused(monkeypatch):
  monkeypatch.setattr(yaml_text, "MOST_VALUES", 100)
  points = f"test.also_at={list(range(1, 90))}"
  assert config_lib.read("quickstart", ["games=1000", "test.every=500"])
  # Each part can be read, but not both together, as a run saves them.
  with pytest.raises(ValueError, match="more than 100 values"):
    config_lib.read("quickstart", ["games=1000", "test.every=500", points])
