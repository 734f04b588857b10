"""Figures: what they show, and that they are reproducible."""

import dataclasses

import matplotlib.colors
import numpy as np
import pytest

from tests.support import reports
from train.report import document
from train.report import figures


@pytest.mark.parametrize("number", [4, 5, 8])
def test_every_kind_of_figure_is_drawn_to_the_same_bytes(tmp_path, number):
  reports.write_hybrid(tmp_path / "run")
  drawing = reports.drawing_of(document.make([tmp_path]), number)
  files = figures.draw(drawing)
  assert list(files) == ["png", "svg"]
  assert figures.draw(drawing) == files


def test_zero_is_shown_on_a_logarithmic_axis(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  figure = reports.draw(reports.drawing_of(document.make([tmp_path]), 5))
  [axes] = figure.axes
  assert (axes.get_xscale(), axes.get_yscale()) == ("log", "symlog")
  assert axes.get_ylim()[0] < 0
  line = next(x for x in axes.lines if x.get_label() == "Attack-Defense")
  # In percent; the trial that finished stays at zero.
  np.testing.assert_allclose(line.get_xdata(), [100, 1000, 2000])
  np.testing.assert_allclose(line.get_ydata(), [55, 5, 0])
  assert "Grey: linear down to 0." in figure.get_supxlabel()


def test_axis_without_zero_is_purely_logarithmic(tmp_path):
  reports.write_hybrid(tmp_path / "run", {"random": reports.LOSS_RATIOS["random"]})
  [axes] = reports.draw(reports.drawing_of(document.make([tmp_path]), 5)).axes
  assert axes.get_yscale() == "log"


def test_line_of_ended_trials_is_extended(tmp_path):
  ratios = reports.LOSS_RATIOS | {"attack_defense": [[0.5, 0.25], [0.5, 0.25]]}
  reports.write_hybrid(tmp_path / "run", ratios)
  figure = reports.draw(reports.drawing_of(document.make([tmp_path]), 7))
  [axes] = figure.axes
  [dotted] = [line for line in axes.lines if line.get_linestyle() == ":"]
  np.testing.assert_allclose(dotted.get_xdata(), [500, 2000])
  np.testing.assert_allclose(dotted.get_ydata(), [125, 125])
  assert "Dotted: all trials have ended." in figure.get_supxlabel()


def test_curve_is_cropped_to_the_games_shown(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  drawing = reports.drawing_of(document.make([tmp_path]), 5)
  plot = drawing.plot.model_copy(update={"games": (550, 1500)})
  [axes] = reports.draw(dataclasses.replace(drawing, plot=plot)).axes
  line = next(x for x in axes.lines if x.get_label() == "Random")
  np.testing.assert_allclose(line.get_xdata(), [550, 1000, 1500])
  np.testing.assert_allclose(line.get_ydata(), [27.5, 20, 17.5])


def test_histograms_have_the_last_value_of_finished_trials(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  drawing = reports.drawing_of(document.make([tmp_path]), 4)
  plot = drawing.plot.model_copy(update={"after": (100, 500, 1000, 2000, 5000)})
  figure = reports.draw(dataclasses.replace(drawing, plot=plot))
  words = reports.words_of(figure)
  titles = [axes.get_title(loc="left") for axes in figure.axes]
  assert titles == ["After 100 games", "After 1,000 games", "After 2,000 games"]
  means = [word for word in words if word.startswith("mean ")]
  assert means == [
    "mean 55.0  (50.0 to 60.0)",
    "mean 5.00  (0 to 10.0)",
    "mean 0  (0 to 0)",
  ]
  assert "No test after 500, 5,000 games." in figure.get_supxlabel()


def test_bars_show_shares_of_any_size_next_to_the_papers(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  figure = reports.draw(reports.drawing_of(document.make([tmp_path]), 8))
  assert [axes.get_title(loc="left") for axes in figure.axes] == [
    "Won %",
    "Tied %",
    "Lost %",
  ]
  lost = figure.axes[-1]
  assert [text.get_text() for text in lost.texts] == ["0", "2.50"]
  diamonds = [line.get_xdata()[0] for line in lost.lines if line.get_marker() == "D"]
  assert diamonds == pytest.approx([0, 1.440085])


def test_lines_join_rows_by_the_number_that_they_stand_for(tmp_path):
  """Of two runs of a row, the one with more trials is drawn."""
  few, many = [[0.5] * 5], [[0.4] * 5, [0.6] * 5, [0.8] * 5]
  for name, row, scores in (
    ("few", "sum_16", few),
    ("many", "sum_16", many),
    ("wide", "minibatch_1024_16", few),
  ):
    paper = {"name": "ttt3d", "table": "B", "row": row}
    reports.write_run(tmp_path / name, scores, paper=paper)
  figure = reports.draw(reports.drawing_of(document.make([tmp_path]), "D", "ttt3d"))
  [axes] = figure.axes
  lines = {line.get_label(): line for line in axes.lines}
  assert [label for label in lines if not label.startswith("_")] == [
    "One joint step, summed",
    "Minibatches of 16",
  ]
  np.testing.assert_allclose(lines["One joint step, summed"].get_ydata(), [60])
  np.testing.assert_allclose(lines["Minibatches of 16"].get_ydata(), [60, 50])
  assert [text.get_text() for text in axes.get_xticklabels()] == ["16", "1,024"]
  assert "Points: mean of 1 or 3 trials." in figure.get_supxlabel()


def test_rows_have_the_same_colour_in_all_figures(tmp_path):
  reports.write_hybrid(tmp_path / "run")
  the_report = document.make([tmp_path])
  [curves] = reports.draw(reports.drawing_of(the_report, 5)).axes
  colours = {line.get_label(): line.get_color() for line in curves.lines}
  bars = reports.draw(reports.drawing_of(the_report, 8)).axes[0].patches
  found = [matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in bars]
  assert found == [colours["Attack-Defense"], colours["Random"]]


@pytest.mark.parametrize("number", [4, 5, 8])
def test_figure_before_the_first_test_says_so(tmp_path, number):
  directory = reports.write_hybrid(tmp_path / "run", num_tests=1)
  (directory / "metrics.jsonl").unlink()
  figure = reports.draw(reports.drawing_of(document.make([directory]), number))
  assert "no test yet" in reports.words_of(figure)
