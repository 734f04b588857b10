"""The papers' numbers as data."""

import pydantic
import pytest

from train.report import papers


@pytest.mark.parametrize("name", papers.names())
def test_paper_is_complete(name):
  paper = papers.load(name)
  assert paper.name == name
  for table in paper.tables.values():
    assert set(table.values) == set(table.rows)


def test_paper_may_have_numbers_without_spread_and_columns_for_one_game():
  column = {"title": "Games", "statistic": "final", "metric": "games", "digits": 0}
  table = papers.Table.model_validate(
    {
      "title": "Training",
      "trials": 100,
      "rows": {"random": "Random"},
      "columns": {"games": column | {"game": "tictactoe"}},
      "values": {"random": {"games": 2_000_000}},
    }
  )
  assert table.value("random", "games") == papers.Value(mean=2e6, sd=None)
  assert table.value("random", "losses") is None


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"values": {"b": {"c": 1}}}, "no row 'b'"),
    ({"values": {"a": {"d": 1}}}, "no column 'd'"),
    ({"values": {"a": {"c": [1, 2, 3]}}}, "a value is"),
    ({"columns": {"c": {"title": "C", "statistic": "peek"}}}, "no statistic 'peek'"),
    ({"caption": "T"}, "Extra inputs"),
    (
      {
        "columns": {
          "c": {"title": "C", "statistic": "peak"},
          "d": {"title": "D", "statistic": "peak", "game": "gomoku"},
        }
      },
      "column 'c' has no game",
    ),
  ],
)
def test_paper_with_a_mistake_is_refused(change, message):
  good = {
    "title": "T",
    "trials": 2,
    "rows": {"a": "A"},
    "columns": {"c": {"title": "C", "statistic": "peak"}},
    "values": {"a": {"c": 1}},
  }
  papers.Table.model_validate(good)
  with pytest.raises(pydantic.ValidationError, match=message):
    papers.Table.model_validate(good | change)


CURVES = {"y_label": "Score"}


BARS = {"kind": "bars", "parts": [{"title": "Won", "metric": "wins", "reference": "c"}]}


HISTOGRAMS = {"kind": "histograms", "row": "a", "after": [1, 2], "x_label": "Score"}


LINES = {
  "kind": "lines", "column": "c", "lines": {"L": {"a": 1}}, "x_label": "N", "y_label": "S"
}  # fmt: skip


@pytest.mark.parametrize(
  ("change", "message"),
  [
    ({"game": None}, "no game None for figure 1: .*tictactoe"),
    ({"game": "gomoku"}, "no game 'gomoku' for figure 1"),
    ({"table": "2"}, "no table '2' for figure 1"),
    ({"plot": CURVES | {"kind": "pie"}}, r"figures.1.plot\n.*'pie'.*'curve', 'bars'"),
    ({"plot": CURVES | {"logy": True}}, r"plot.curve.logy\n"),
    ({"plot": CURVES | {"reference": "d"}}, "no column 'd' for figure 1"),
    ({"plot": CURVES | {"games": [5, 5]}}, r"plot.curve.games\n.*5 follows 5"),
    ({"plot": BARS | {"parts": []}}, r"plot.bars.parts\n"),
    ({"plot": HISTOGRAMS | {"row": "b"}}, "no row 'b' for figure 1"),
    ({"plot": LINES | {"lines": {"L": {"b": 1}}}}, "no row 'b' for figure 1"),
    ({"plot": LINES | {"column": "d"}}, "no column 'd' for figure 1"),
    ({"plot": HISTOGRAMS | {"after": [2, 1]}}, r"histograms.after\n.*1 follows 2"),
  ],
)
def test_figure_with_a_mistake_is_refused(change, message):
  column = {"title": "C", "statistic": "peak", "game": "tictactoe"}
  table = {"title": "T", "trials": 2, "rows": {"a": "A"}, "columns": {"c": column}}
  figure = {"title": "F", "table": "1", "game": "tictactoe"}
  paper = {"name": "p", "title": "P", "tables": {"1": table | {"values": {}}}}
  for plot in (CURVES, BARS, HISTOGRAMS, LINES):
    good = paper | {"figures": {"1": figure | {"plot": plot}}}
    papers.Paper.model_validate(good)
  slip = paper | {"figures": {"1": figure | {"plot": CURVES} | change}}
  with pytest.raises(pydantic.ValidationError, match=message):
    papers.Paper.model_validate(slip)
