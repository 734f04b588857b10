"""The package as it is installed: built, put into an environment, used elsewhere."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import venv
import zipfile

import pytest

from tests.support import paths

# One process makes what all of these share.
pytestmark = pytest.mark.xdist_group("wheel")

# Nothing is fetched: what builds the wheel, and what it needs, is installed here.
OFFLINE = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> pathlib.Path:
  directory = tmp_path_factory.mktemp("wheel")
  command = [sys.executable, "-m", "pip", "wheel", *OFFLINE, "--no-build-isolation"]
  subprocess.run(
    [*command, "--wheel-dir", str(directory), str(paths.ROOT)],
    check=True,
    cwd=directory,
  )
  (found,) = directory.glob("*.whl")
  return found


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory) -> pathlib.Path:
  """The `bin` of an environment that has the wheel, and sees our dependencies."""
  root = tmp_path_factory.mktemp("environment")
  venv.create(root, symlinks=True)
  binaries = root / "bin"
  packages = sysconfig.get_path("purelib", "venv", {"base": str(root)})
  pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python")]
  subprocess.run([*pip, "install", *OFFLINE, str(wheel)], check=True, cwd=root)
  # Only added to the path: a .pth file in it, as that of an editable install of this
  # very project, is not obeyed.
  ours = sysconfig.get_path("purelib")
  (pathlib.Path(packages) / "dependencies.pth").write_text(f"{ours}\n")
  return binaries


def test_the_page_is_in_the_wheel(wheel):
  inside = set(zipfile.ZipFile(wheel).namelist())
  page = paths.ROOT / "train" / "serve" / "static"
  assert {f"train/serve/static/{file.name}" for file in page.iterdir()} <= inside


@pytest.fixture
def run(installed, tmp_path):
  """Runs a program of the environment in an empty directory."""
  environment = {
    name: value for name, value in os.environ.items() if name != "PYTHONPATH"
  }

  def run_it(program: str, *arguments: str, text: str = "") -> str:
    result = subprocess.run(
      [str(installed / program), *arguments],
      cwd=tmp_path,
      env=environment,
      input=text,
      capture_output=True,
      text=True,
      timeout=300,
      check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout

  return run_it


def test_what_runs_is_what_was_installed(run, installed):
  code = (
    "import jaxgames, train, train.config.names as names;"
    "print(jaxgames.__file__, train.__file__, names.find('quickstart'))"
  )
  for path in run("python", "-c", code).split():
    assert path.startswith(str(installed.parent)), path
  version = run("jaxgames", "--version")
  assert version.startswith("jaxgames ")
  assert "(jax " in version


def test_every_config_and_agent_is_in_the_wheel(run):
  code = (
    "from train.config import names, agent_names;"
    "print(len(names.known()), [agent_names.parse(n).path.stat().st_size"
    " for n in agent_names.BUNDLED])"
  )
  number, _, sizes = run("python", "-c", code).partition(" ")
  assert int(number) == len(list((paths.ROOT / "configs").rglob("*.yaml")))
  agents = paths.ROOT / "jaxgames" / "agents"
  ours = [file.stat().st_size for file in sorted(agents.glob("*.safetensors"))]
  assert sizes.strip() == str(ours)


@pytest.mark.parametrize(
  ("config", "overrides"),
  [
    ("quickstart", ["games=200", "test.every=100", "learner.network.hidden=[4]"]),
    ("ttt3d/beyond", ["games=1000", "parallel_games=100"]),
  ],
)
def test_configs_are_trained_by_name(run, tmp_path, config, overrides):
  shown = run("jaxgames", "train", config, "trials=1", "test.games=10", *overrides)
  name = config.rpartition("/")[2]
  assert f"checkpoints/{name}" in shown
  assert (tmp_path / "checkpoints" / name / "report" / "report.md").exists()
  run("jaxgames", "export", f"checkpoints/{name}", "agent.safetensors")
  assert name in run("jaxgames", "runs")


def test_the_bundled_agent_plays_and_is_named(run):
  agent = "gomoku agent (bundled, 100,000 games, lookahead)"
  assert agent in run("jaxgames", "play", "gomoku", text="quit\n")
  assert agent in run("jaxgames", "brain", text="ABOUT\nEND\n")
