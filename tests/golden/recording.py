"""Computes what the golden test compares; run as a program it writes the record anew."""

import hashlib
import io
import json
import pathlib
import tempfile
from typing import Any

import jax
import rich.console

import jaxgames
from tests.golden import cases
from tests.support import paths
from train import config as config_lib
from train.match import device
from train.report import document
from train.run import agents
from train.run import loop
from train.run import provenance

FILE = pathlib.Path(__file__).parent / "record.json"


def environment() -> dict[str, str]:
  """Returns what bits depend on beside the code."""
  machine = provenance.machine(2)
  return {"jax": jax.__version__, "cpu": machine["cpu"]}


def record_run(name: str) -> dict[str, Any]:
  """Returns the fingerprints of a run and the lines of its metrics.jsonl."""
  console = rich.console.Console(file=io.StringIO())
  config = config_lib.RunConfig(**{**cases.COMMON, **cases.RUNS[name]})
  with tempfile.TemporaryDirectory() as directory:
    run = pathlib.Path(directory) / "run"
    loop.start(config, run, console)
    status = json.loads((run / "run.json").read_text())
    return {
      "fingerprints": status["fingerprints"],
      "metrics": (run / "metrics.jsonl").read_text().splitlines(),
    }


def record_match(name: str) -> dict[str, Any]:
  """Returns the JSON of a match of a bundled agent."""
  game_name, spec, opponent, num_games = cases.MATCHES[name]
  game = jaxgames.make(game_name)
  file = agents.bundled_file(game_name.partition(":")[0])
  spec = spec.format(file).replace("LOOKAHEAD", "lookahead")
  both = [agents.make(game, text) for text in (spec, opponent)]
  console = rich.console.Console(file=io.StringIO())
  found = device.play(*both, num_games=num_games, seed=3, console=console).as_json()
  return {key: found[key] for key in ("wins", "draws", "losses", "by_side")}


def record_report(name: str) -> str:
  """Returns the sha256 of the JSON of a report on committed runs."""
  found = document.make([paths.ROOT / "results" / name / "runs"])
  text = json.dumps(document.as_json(found), sort_keys=True)
  return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
  jax.config.update("jax_num_cpu_devices", 2)
  jax.config.update("jax_compilation_cache_dir", str(paths.ROOT / ".jax_cache"))
  record = {
    "environment": environment(),
    "runs": {name: record_run(name) for name in cases.RUNS},
    "matches": {name: record_match(name) for name in cases.MATCHES},
    "reports": {name: record_report(name) for name in cases.REPORTS},
  }
  FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
  main()
