"""Programs that are compiled in threads."""

import collections
import subprocess
import sys
import threading
import time

import jax
import pytest

from train.run import compiling


def lower(value: int) -> jax.stages.Lowered:
  return jax.jit(lambda x: x + value).lower(1)


def test_a_program_is_compiled_once():
  calls = []

  def lower_and_count():
    calls.append(threading.current_thread())
    return lower(1)

  key = "test_a_program_is_compiled_once"
  compiling.begin(key, lower_and_count)
  assert compiling.wait(key, lower_and_count) is compiling.wait(key, lower_and_count)
  assert len(calls) == 1
  assert calls[0] is not threading.current_thread()
  assert compiling.wait(key, lower_and_count)(1) == 2


def test_another_program_is_begun_while_one_is_waited_for(monkeypatch):
  monkeypatch.setattr(compiling, "SECONDS_TO_LOAD", 0.01)
  is_begun = threading.Event()

  def lower_late():
    assert is_begun.wait(60)
    return lower(4)

  key = "test_another_program_is_begun"
  assert compiling.wait(key, lower_late, is_begun.set)(1) == 5
  is_begun.clear()
  compiling.wait(key, lower_late, is_begun.set)
  assert not is_begun.is_set()


def test_an_error_is_raised_where_the_program_is_needed():
  def fail():
    raise ValueError("no such program")

  key = "test_an_error_is_raised"
  compiling.begin(key, fail)
  with pytest.raises(ValueError, match="no such program"):
    compiling.wait(key, fail)
  assert compiling.wait(key, lambda: lower(2))(1) == 3


def test_few_programs_are_kept(monkeypatch):
  monkeypatch.setattr(compiling, "MOST_KEPT", 2)
  monkeypatch.setattr(compiling, "_programs", collections.OrderedDict())
  for value in range(4):
    compiling.wait(("test_few_programs_are_kept", value), lambda: lower(3))
  assert len(compiling._programs) == 2


def test_a_command_that_fails_does_not_wait_for_programs():
  program = """
import sys, time
from train import cli
from train.run import compiling
compiling.begin("slow", lambda: time.sleep(300))
sys.argv = ["jaxgames", "train", "no_such_config"]
cli.main()
"""
  start = time.monotonic()
  result = subprocess.run(
    [sys.executable, "-c", program], capture_output=True, text=True, check=False
  )
  assert result.returncode == 2
  assert "no_such_config" in result.stderr
  assert time.monotonic() - start < 100
