"""Runs written by hand are small: reports take them for what papers' rows were made of."""

import pytest

from train.report import deviations


@pytest.fixture(autouse=True)
def made_as_in_papers(request, monkeypatch):
  """Lets no run deviate from its paper, except where deviations are tested."""
  if request.module.__name__.rpartition(".")[2] != "test_deviations":
    monkeypatch.setattr(deviations, "find", lambda record, table, row: ())
