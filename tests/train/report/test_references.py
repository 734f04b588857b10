"""Configs' references to papers, checked before training."""

import pytest

from tests.support import paths
from train import config as config_lib
from train.report import references

CONFIGS = paths.ROOT / "configs"
DEEP = CONFIGS / "ttt3d" / "selfplay_deep_structured.yaml"


@pytest.mark.parametrize(
  ("path", "override", "words"),
  [
    (DEEP, "paper.name=ttt3", "paper.name: no paper 'ttt3': did you mean 'ttt3d'"),
    (DEEP, "paper.table=IV", "paper.table: no table 'IV' in ttt3d"),
    (DEEP, "paper.table=[II, IIII]", "no table 'IIII' in ttt3d: did you mean 'III'"),
    (DEEP, "paper.row=deep", "paper.row: no row 'deep' in table II of ttt3d"),
    (DEEP, "paper.row=null", "paper.row is missing"),
    (DEEP, "paper.name=null", "paper.name"),
    (CONFIGS / "hybrid/tictactoe.yaml", "game=connect4", "not for connect4"),
  ],
)
def test_a_reference_that_does_not_exist_is_refused(path, override, words):
  unchecked = config_lib.read(path, [override])
  with pytest.raises(ValueError, match="paper") as caught:
    references.check(unchecked)
  assert words in str(caught.value)
  assert "\n" not in str(caught.value)


def test_every_config_refers_to_an_existing_row():
  for path in sorted(CONFIGS.rglob("*.yaml")):
    if path.stem in ("base", "benchmark", "selfplay"):
      continue  # They leave the row to others.
    try:
      unchecked = config_lib.read_sweep(path)
    except ValueError:
      continue  # A part of other configs.
    for _, run in unchecked:
      references.check(run)
