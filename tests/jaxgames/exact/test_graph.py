"""Graphs of games."""

import pytest

import jaxgames
from jaxgames.exact import graph


@pytest.mark.parametrize(
  ("name", "num_states"), [("tictactoe", 5478), ("connect4_4x4", 161029)]
)
def test_number_of_reachable_states(name, num_states):
  assert graph.of(jaxgames.make(name)).num_states == num_states
