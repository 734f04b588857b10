"""What docs/extending.md says is done to a copy of the project, and works."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.support import paths

# One process makes what all of these share.
pytestmark = pytest.mark.xdist_group("extended project")

PAGE = paths.ROOT / "docs" / "extending.md"


def apply(page: str, root: pathlib.Path) -> list[str]:
  """Writes the page's files and adds its lines; returns the paths touched."""
  touched = []
  for language, block in re.findall(r"^```(\w+)\n(.*?)^```", page, re.DOTALL | re.M):
    first, _, rest = block.partition("\n")
    if language == "diff":
      path = root / first.removeprefix("--- ")
      lines = rest.splitlines()
      before = [line[1:] for line in lines if line.startswith(" ")]
      new = [line[1:] for line in lines if line.startswith("+")]
      assert len(before) == 1, "one line that is there, then those to add"
      text = path.read_text(encoding="utf-8")
      assert text.count(f"{before[0]}\n") == 1, f"{before[0]!r} in {path}"
      added = "\n".join([*before, *new])
      text = text.replace(f"{before[0]}\n", f"{added}\n")
      path.write_text(text, encoding="utf-8")
    elif re.fullmatch(r"# [\w/]+\.(py|yaml)", first):
      path = root / first.removeprefix("# ")
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(rest, encoding="utf-8")
    else:
      continue
    touched.append(str(path.relative_to(root)))
  return touched


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> pathlib.Path:
  """A copy of the project, extended as the page says."""
  root = tmp_path_factory.mktemp("project")
  ignored = shutil.ignore_patterns("__pycache__")
  for name in ("jaxgames", "train", "tests", "configs"):
    shutil.copytree(paths.ROOT / name, root / name, ignore=ignored)
  shutil.copy(paths.ROOT / "pyproject.toml", root)
  assert len(apply(PAGE.read_text(encoding="utf-8"), root)) == 14
  return root


def run(project: pathlib.Path, *arguments: str) -> str:
  """Returns what a program of the extended project prints."""
  done = subprocess.run(
    [sys.executable, *arguments],
    cwd=project,
    env={**os.environ, "PYTHONPATH": str(project)},
    capture_output=True,
    text=True,
    timeout=600,
  )
  assert done.returncode == 0, done.stdout + done.stderr
  return done.stdout


def test_what_is_new_has_names(project):
  said = run(project, "-m", "train", "games")
  assert all(name in said for name in ("connect3", "center", "montecarlo"))


def test_it_trains_plays_and_reports(project):
  run(project, "-m", "train", "train", "configs/connect3.yaml", "--devices", "1")
  lines = [
    json.loads(line)
    for line in (project / "checkpoints/connect3/metrics.jsonl")
    .read_text()
    .splitlines()
  ]
  assert len(lines) == 4
  assert lines[0]["epsilon"] == pytest.approx(0.1)
  assert lines[-1]["value_error"] < 1.0
  found = run(project, "-m", "train", "report", "checkpoints/connect3", "--json")
  rows = {row["column"]: row for row in json.loads(found)["rows"]}
  assert rows["end"]["paper"] == {"mean": 80.0, "sd": 5.0}
  assert rows["center"]["ours"]["n"] == 2
  said = run(
    project, "-m", "train", "match", "connect3", "checkpoints/connect3", "random",
    "--games", "500", "--json",
  )  # fmt: skip
  score = json.loads(said)
  assert score["wins"] > 2 * score["losses"]


def test_the_player_and_the_learner_keep_their_contracts(project):
  said = run(
    project, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist",
    "tests/contracts/test_players.py", "tests/contracts/test_learners.py",
    # Without the test that kills real processes, which takes longer than all others.
    "-k", "(center or montecarlo or every_name or every_learner) and not killed",
  )  # fmt: skip
  assert " passed" in said


def test_the_game_keeps_its_contract(project):
  said = run(
    project, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist",
    "tests/contracts/test_games.py", "-k", "connect3",
  )  # fmt: skip
  assert " passed" in said
