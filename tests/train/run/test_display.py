"""The progress display: a bar on a terminal, plain lines elsewhere."""

import io
import types

import pytest
import rich.console

from tests.support import runs
from train.run import bar
from train.run import compiling
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
    monkeypatch.setattr(bar, "SECONDS_BETWEEN_LINES", 0.0)
    shown._bar._next_line = 0.0
    shown.trained(make_progress(125_000), 0.5)
    shown.tested(3, 0.5)
  first, second = runs.said(console).splitlines()
  assert first == ("run: test 1: 20,000/500,000 games, 40,000 games/s, score 12.5%")
  assert second.startswith("run: test 3: 250,000/500,000 games, 166,000 games/s, score")
  assert second.endswith(" left")


def test_a_bar_of_any_run_fits_any_terminal(terminal):
  huge = types.SimpleNamespace(games=2_000_000_000, num_trials=2)
  with display.Display(terminal, "a_run_with_quite_a_long_name", huge) as shown:
    shown.trained(make_progress(0))
    shown.trained(make_progress(1_234_567_890), 500.0)
    shown.tested(1, 0.125)
    for width in (40, 60, 80, 100, 200):
      line = bar_of(shown, width)
      assert "\n" not in line
      assert len(line) <= width
      assert "games/s" in line
    assert "2,469.1M/4,000.0M games" in bar_of(shown, 80)
    assert "2,469,135,780/4,000,000,000 games" in bar_of(shown, 120)


def test_the_bar_says_whenever_something_is_compiled_and_then_has_no_time(terminal):
  with display.Display(terminal, "run", CONFIG) as shown:
    shown.trained(make_progress(0))
    shown.trained(make_progress(10_000), 0.5)
    assert "40,000 games/s" in bar_of(shown, 80)
    assert "compiling" not in bar_of(shown, 80)
    # As when the first test is not compiled yet.
    with compiling._counted_as_waiting():
      line = bar_of(shown, 80)
      assert "20,000/500,000 games, compiling" in line
      assert "games/s" not in line
      assert bar.NO_TIME in line
    assert "games/s" in bar_of(shown, 80)


def test_the_time_left_runs_down_and_is_not_shown_when_it_has_run_out(terminal):
  seconds = [0.0]
  shown = bar.Bar(terminal, "run", lambda: ["text"], clock_fn=lambda: seconds[0])

  def time_after(now):
    seconds[0] = now
    return bar_of(types.SimpleNamespace(_bar=shown), 80).split()[-1]

  shown.update(0, 100)
  assert time_after(5) == bar.NO_TIME
  shown.update(50, 100)
  assert time_after(6) == "0:00:04"
  assert time_after(9) == "0:00:01"
  assert time_after(60) == bar.NO_TIME
