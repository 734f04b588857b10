"""Runs of the toy learner for tests: made, stopped, and read back."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import rich.console

from tests.support import toy_learner
from train.run import display
from train.run import loop


def status(path: pathlib.Path) -> dict:
  return json.loads((path / "run.json").read_text())


def lines(path: pathlib.Path) -> list[dict]:
  return [
    json.loads(line) for line in (path / "metrics.jsonl").read_text().split("\n")[:-1]
  ]


def results(path: pathlib.Path) -> tuple:
  """Returns all that must not depend on time, place or interruptions."""
  final = status(path)
  fixed = {
    key: final[key] for key in ("games", "fingerprints", "diverged", "is_finished")
  }
  return fixed, (path / "metrics.jsonl").read_bytes()


def said(console: rich.console.Console) -> str:
  assert isinstance(console.file, io.StringIO)
  return console.file.getvalue()


def stopped_run(directory: pathlib.Path, console, monkeypatch, **fields) -> None:
  """Leaves a run after its second test."""
  with monkeypatch.context() as patch:
    original = display.Display.tested

    def interrupt(self, number, score):
      original(self, number, score)
      if number == 2:
        os.kill(os.getpid(), signal.SIGINT)

    patch.setattr(display.Display, "tested", interrupt)
    outcome = loop.start(toy_learner.make_config(**fields), directory, console)
  assert outcome.exit_code == 130


def cut_last_line(path: pathlib.Path) -> bytes:
  """Removes the end of a log; returns what is left."""
  path.write_bytes(path.read_bytes()[:-9])
  return path.read_bytes()


def edit_last_line(path: pathlib.Path) -> bytes:
  """Changes a number at the end of a log; returns what is there now."""
  *others, last = path.read_bytes().splitlines(keepends=True)
  path.write_bytes(b"".join([*others, last.replace(b'"wins": ', b'"wins": 1')]))
  return path.read_bytes()


def process(*arguments: str | pathlib.Path) -> subprocess.Popen:
  return subprocess.Popen(
    [sys.executable, toy_learner.__file__, *map(str, arguments)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
  )


def wait_for_lines(
  path: pathlib.Path, num_lines: int, running: subprocess.Popen
) -> None:
  while running.poll() is None:
    if path.exists() and path.read_bytes().count(b"\n") >= num_lines:
      return
    time.sleep(0.005)
