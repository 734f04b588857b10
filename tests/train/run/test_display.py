"""The progress display: a bar on a terminal, plain lines elsewhere."""

import io
import types

import pytest
import rich.console

from tests.support import runs
from train.run import display

CONFIG = types.SimpleNamespace(games=250_000, num_trials=2)


def make_progress(games, active=(0, 1)):
  return types.SimpleNamespace(games=[games, games], active=active)


def bar_of(shown, width):
  """Returns the line of the bar."""
  console = rich.console.Console(file=io.StringIO(), width=width)
  console.print(shown._bar.get_renderable())
  return runs.said(console).rstrip("\n")


@pytest.fixture
def terminal():
  return rich.console.Console(file=io.StringIO(), force_terminal=True, width=80)


def test_bar_fits_a_line_and_shortens_only_the_name(terminal):
  with display.Display(terminal, "a_run_with_quite_a_long_name", CONFIG) as shown:
    assert "compiling" in bar_of(shown, 80)
    shown.trained(make_progress(10_000), 0.5)
    shown.tested(1, 0.125)
    line = bar_of(shown, 80)
  assert "\n" not in line
  assert "━" in bar_of(shown, 120)
  assert "a_run_with_quite_a_long_name " in bar_of(shown, 120)
  for text in (
    "a_run_",
    "20,000/500,000 games, 40,000 games/s, score 12.5%",
    "-:--:--",
  ):
    assert text in line


def test_ended_trials_have_no_games_left(terminal):
  with display.Display(terminal, "run", CONFIG) as shown:
    shown.trained(make_progress(10_000, active=(1,)))
    assert "20,000/260,000 games" in bar_of(shown, 80)
    shown.trained(make_progress(10_000, active=()))
    assert "20,000/20,000 games" in bar_of(shown, 80)


def test_without_a_terminal_there_is_a_line_now_and_then(console, monkeypatch):
  with display.Display(console, "run", CONFIG) as shown:
    shown.trained(make_progress(10_000), 0.5)
    shown.tested(1, 0.125)
    shown.tested(2, 0.25)  # Too soon for another line.
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.0)
    shown.trained(make_progress(125_000), 0.5)
    shown.tested(3, 0.5)
  first, second = runs.said(console).splitlines()
  assert first == ("run: test 1: 20,000/500,000 games, 40,000 games/s, score 12.5%")
  assert second.startswith("run: test 3: 250,000/500,000 games, 166,000 games/s, score")
  assert second.endswith(" left")
