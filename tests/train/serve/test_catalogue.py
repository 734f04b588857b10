"""What is below the directories served, and nothing else, has a name."""

import pytest

import jaxgames
from tests.support import reports
from train.serve import catalogue
from train.serve import runs as runs_lib


@pytest.fixture
def outside(tmp_path):
  return reports.write_run(tmp_path / "outside", [[0.1]])


@pytest.fixture
def root(tmp_path):
  directory = tmp_path / "served"
  reports.write_run(directory / "inside", [[0.1]])
  return directory


def labels(root):
  return {found.label for found in catalogue.Catalogue([root]).found.values()}


def test_a_link_to_a_run_outside_is_not_followed(root, outside):
  (root / "linked").symlink_to(outside)
  assert labels(root) == {"inside"}


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.yaml", "run.json"])
def test_a_run_with_a_file_from_outside_is_not_served(root, outside, name):
  file = root / "inside" / name
  file.unlink()
  file.symlink_to(outside / name)
  assert labels(root) == set()


def test_an_agent_from_outside_is_not_served(root, tmp_path):
  agent = tmp_path / "agent.safetensors"
  agent.write_bytes(b"")
  (root / "linked.safetensors").symlink_to(agent)
  (root / "own.safetensors").write_bytes(b"")
  assert labels(root) == {"inside", "own.safetensors"}


def test_a_checkpoint_from_outside_is_not_loaded(root, tmp_path):
  states = root / "inside" / "state"
  states.mkdir()
  (tmp_path / "checkpoint").mkdir()
  (states / "1").symlink_to(tmp_path / "checkpoint")
  known = catalogue.Catalogue([root])
  (found,) = known.found
  with pytest.raises(ValueError, match="outside the directories served"):
    known.make_player(jaxgames.make("ttt3d"), found)


def test_errors_do_not_tell_where_things_are(root):
  known = catalogue.Catalogue([root])
  (found,) = known.found
  with pytest.raises(ValueError, match=found) as error:
    known.make_player(jaxgames.make("ttt3d"), found)
  assert str(root) not in str(error.value)


def test_a_directory_that_is_not_there_is_refused(tmp_path):
  with pytest.raises(ValueError, match="there is no directory"):
    catalogue.Catalogue([tmp_path / "nowhere"])


def read_all(path, most):
  rows, offset = [], 0
  while (chunk := runs_lib.read_metrics(path, offset, most)).rows:
    rows += chunk.rows
    offset = chunk.offset
  return rows


def test_metrics_come_in_pieces_that_are_the_whole(root):
  file = reports.write_run(root / "long", [[0.1 * n for n in range(9)]] * 3)
  path = file / "metrics.jsonl"
  whole = runs_lib.read_metrics(path, 0)
  assert len(whole.rows) == 27
  assert not whole.has_more
  assert read_all(path, 300) == whole.rows
  assert runs_lib.read_metrics(path, 0, 300).has_more


def test_half_a_line_is_read_when_it_is_whole(root):
  path = root / "inside" / "metrics.jsonl"
  line = '{"test": 2, "trial": 0, "games": 200, "score": 0.5}'
  before = runs_lib.read_metrics(path, 0)
  with path.open("a") as file:
    file.write(line[:20])
    file.flush()
    half = runs_lib.read_metrics(path, before.offset)
    assert (half.rows, half.offset) == ([], before.offset)
    file.write(line[20:] + "\n")
  assert runs_lib.read_metrics(path, half.offset).rows == [[2, 0, 200, 0.5]]


def test_a_log_that_was_cut_back_is_read_from_its_beginning(root):
  path = root / "inside" / "metrics.jsonl"
  chunk = runs_lib.read_metrics(path, 10**6)
  assert chunk.is_restarted
  assert len(chunk.rows) == 1
  assert runs_lib.read_metrics(path, 5).is_restarted
