"""A run as notebooks show it."""

from xml.etree import ElementTree

import pytest

from tests.support import reports
import train


def test_a_run_is_shown_with_its_facts_and_its_curve(tmp_path):
  directory = reports.write_run(tmp_path / "a&b", reports.TWO_TRIALS, num_planned=9)
  run = train.load_run(directory)
  shown = run._repr_html_()
  ElementTree.fromstring(shown)
  assert "a&amp;b" in shown
  assert "unfinished" in shown
  assert "score 50.0% after" in shown
  assert repr(run) == "RunView(a&b: 500 of 900 games)"


def test_a_run_with_one_test_has_no_curve_yet(tmp_path):
  shown = train.load_run(reports.write_run(tmp_path / "new", [[0.5]]))._repr_html_()
  assert "<svg" not in shown


def test_what_is_no_run_is_refused(tmp_path):
  with pytest.raises(ValueError, match=r"config.yaml is missing"):
    train.load_run(tmp_path)
