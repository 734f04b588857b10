"""Trained agents: of a run, of a file, bundled; loaded, exported, named, refused."""

import io
import json
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rich.console
import safetensors.numpy

import jaxgames
from tests.support import paths
import train
from train import config as config_lib
from train.config import agent_names
from train.match import device as match_lib
from train.run import agent_file
from train.run import agents
from train.run import export
from train.run import loop

# One process makes what all of these share.
pytestmark = pytest.mark.xdist_group("agents")

LEARNERS = {
  "td": {"kind": "td", "network": {"hidden": [3], "detectors": 0}},
  # Its parameters are a single array.
  "tabular": {"kind": "tabular"},
}


@pytest.fixture(scope="module", params=LEARNERS)
def run(request, tmp_path_factory):
  """A finished run of two trials."""
  directory = tmp_path_factory.mktemp("runs") / request.param
  config = config_lib.RunConfig.model_validate(
    {
      "game": "tictactoe",
      "learner": LEARNERS[request.param],
      "games": 40,
      "parallel_games": 1,
      "trials": 2,
      "test": {"every": 20, "games": 4, "against": "random"},
    }
  )
  console = rich.console.Console(file=io.StringIO(), width=200)
  assert loop.start(config, directory, console).is_finished
  return directory


def assert_same(first: agents.Agent, second: agents.Agent) -> None:
  assert jax.tree.structure(first.parameters) == jax.tree.structure(second.parameters)
  for one, other in zip(
    jax.tree.leaves(first.parameters), jax.tree.leaves(second.parameters), strict=True
  ):
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def play_some(agent: agents.Agent) -> list[int]:
  state, actions = agent.game.init(), []
  while not state.is_over:
    action = int(agent.act(state, jax.random.key(len(actions))))
    state = agent.game.step(state, action)
    actions.append(action)
  return actions


def test_an_exported_agent_is_the_runs_bit_for_bit(run, tmp_path):
  file = tmp_path / "agent.safetensors"
  written = export.write(f"{run}@1", file)
  from_run, from_file = agents.load(f"{run}@1"), agents.load(file)
  assert_same(from_run, from_file)
  assert from_run.config == from_file.config
  assert from_run.provenance == from_file.provenance
  assert play_some(from_run) == play_some(from_file)
  assert written.num_bytes == file.stat().st_size
  for word in (str(file), run.name, "trial 1", "tictactoe"):
    assert word in written.as_text()


def test_provenance_says_where_an_agent_comes_from(run):
  found = agents.load(f"{run}@1").provenance
  status = json.loads((run / "run.json").read_text())
  assert (found["run"], found["trial"]) == (run.name, 1)
  assert found["games"] == status["games"][1]
  assert found["fingerprint"] == status["fingerprints"][1]
  assert found["versions"] == status["versions"]
  assert found["machine"] == status["machine"]
  assert 0 <= found["mean_score"] <= 1
  assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["date"])


def test_best_and_newest_agents_can_be_exported(run, tmp_path):
  for number, spec in enumerate((str(run), f"{run}@0:best", f"{run}:best")):
    file = tmp_path / f"{number}.safetensors"
    export.write(spec, file)
    assert_same(agents.load(spec), agents.load(file))


def test_a_file_is_replaced_only_if_asked(run, tmp_path):
  file = tmp_path / "agent.safetensors"
  file.write_text("precious")
  with pytest.raises(ValueError, match="--force replaces it"):
    export.write(str(run), file)
  assert file.read_text() == "precious"
  export.write(str(run), file, replaces=True)
  agents.load(file)
  with pytest.raises(ValueError, match=r"ends in \.safetensors"):
    export.write(str(run), tmp_path / "agent.bin")
  with pytest.raises(ValueError, match="cannot write"):
    export.write(str(run), tmp_path / "nowhere" / "agent.safetensors")


@pytest.mark.parametrize("name", agent_names.BUNDLED)
def test_bundled_agents_play_their_best_value(name):
  agent = train.load_agent(name)
  game = agent.game
  assert agent.config.game == name
  state = game.init()
  for number in range(6):
    values = np.asarray(agent.values(state))
    legal = np.asarray(game.legal_actions(state))
    assert values.shape == (game.num_actions,)
    assert (values[~legal] == -np.inf).all()
    assert np.isfinite(values.max())
    action = int(agent.act(state, jax.random.key(number)))
    assert values[action] == values.max()
    state = game.step(state, action)


def test_agents_of_runs_play_their_best_value(run):
  agent = train.load_agent(run)
  state = agent.game.init()
  for number in range(4):
    values = np.asarray(agent.values(state))
    legal = np.asarray(agent.game.legal_actions(state))
    assert (values[~legal] == -np.inf).all()
    action = int(agent.act(state, jax.random.key(number)))
    assert values[action] == values.max()
    state = agent.game.step(state, action)


def test_a_file_is_a_player_wherever_one_is_named(run, tmp_path):
  file = tmp_path / "agent.safetensors"
  export.write(str(run), file)
  game = jaxgames.make("tictactoe")
  console = rich.console.Console(file=io.StringIO())
  specs = (str(file), f"sometimes:player=({file}),other=random,probability=0.5")
  both = [agents.make(game, spec) for spec in specs]
  result = match_lib.play(*both, num_games=4, seed=0, console=console)
  assert sum(result.wins + result.draws + result.losses) == 4
  config = config_lib.load_saved(run / "config.yaml")
  values = config_lib.to_mapping(config) | {"opponent": str(file)}
  assert config_lib.from_saved(values, "x").opponents == {"": str(file)}


@pytest.mark.parametrize(
  ("contents", "message"),
  [
    (b"weights", "cannot be read"),
    (b"", "cannot be read"),
    (safetensors.numpy.save({"a": np.zeros(2)}), "not an agent's file"),
    (
      safetensors.numpy.save({"a": np.zeros(2)}, {"format": "another"}),
      "'another'; expected 'jaxgames agent 2'",
    ),
    (
      safetensors.numpy.save({"a": np.zeros(2)}, {"format": agent_file.FORMAT}),
      "damaged",
    ),
  ],
)
def test_a_file_that_is_no_agent_is_refused(tmp_path, contents, message):
  file = tmp_path / "agent.safetensors"
  file.write_bytes(contents)
  with pytest.raises(ValueError, match=message) as caught:
    agents.load(file)
  assert "\n" not in str(caught.value)


def test_half_a_file_and_another_games_agent_are_refused(tmp_path):
  whole = agent_names.parse("ttt3d").path.read_bytes()
  file = tmp_path / "agent.safetensors"
  for num_bytes in (4, len(whole) // 2, len(whole) - 1):
    file.write_bytes(whole[:num_bytes])
    with pytest.raises(ValueError, match="cannot be read"):
      agents.load(file)
  file.write_bytes(whole)
  with pytest.raises(ValueError, match="plays ttt3d, not this game"):
    agents.make(jaxgames.make("tictactoe"), str(file))
  file.unlink()
  with pytest.raises(ValueError, match="no such file"):
    agents.load(file)


def test_a_file_that_has_changed_is_read_again(tmp_path):
  file = tmp_path / "agent.safetensors"
  for name in agent_names.BUNDLED:
    file.write_bytes(agent_names.parse(name).path.read_bytes())
    assert agents.load(file).config.game == name


def test_players_are_called_by_name():
  assert agents.describe("mcts:simulations=20") == "mcts:simulations=20"
  assert agents.describe("ttt3d") == "ttt3d agent (bundled, 100,000 games)"
  for game, words in (
    ("gomoku", "gomoku agent (bundled, 100,000 games, lookahead)"),
    ("ttt3d", "ttt3d agent (bundled, 100,000 games, guided:simulations=400)"),
    ("connect4", "mcts:simulations=1000"),
  ):
    assert agents.describe(agents.default_opponent(game)) == words
  two = "sometimes:player=ttt3d,other=random,probability=0.5"
  assert agents.describe(two) == two
  assert [found["agent"] for found in agents.provenance(two)] == ["ttt3d"]
  assert agents.provenance("random") == []
  with pytest.raises(ValueError, match="no player 'nobody'"):
    agents.describe("nobody")


def test_agents_of_runs_are_called_by_run_trial_and_games(run):
  games = json.loads((run / "run.json").read_text())["games"][1]
  assert agents.describe(f"{run}@1") == (
    f"tictactoe agent {run} (trial 1, {games:,} games)"
  )
  assert "trial 1, best" in agents.describe(f"{run}@1:best")


def test_a_bundled_name_means_the_bundled_agent_whatever_lies_around(
  tmp_path, monkeypatch
):
  (tmp_path / "gomoku").mkdir()
  (tmp_path / "gomoku" / "config.yaml").write_text("game: tictactoe\n")
  monkeypatch.chdir(tmp_path)
  assert agent_names.parse("gomoku").is_bundled
  assert agent_names.parse("./gomoku").path == pathlib.Path("gomoku")


def test_the_lines_of_the_readme_run():
  text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
  (lines,) = re.findall(r"```python\n(agent = .*?)```", text, re.DOTALL)
  assert len(lines.strip().splitlines()) == 3
  game = jaxgames.make("ttt3d")
  names = {"train": train, "jax": jax, "state": game.init()}
  exec(lines, names)
  assert names["values"].shape == (16,)
  assert names["values"][names["action"]] == jnp.max(names["values"])
