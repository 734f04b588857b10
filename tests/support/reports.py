"""Runs written by hand, and reports on them read back."""

import io
import json

import matplotlib.figure
import matplotlib.text
import rich.console
import yaml

from train.report import document
from train.report import figures

DEEP = {"name": "ttt3d", "table": "II", "row": "deep_structured"}


WIDE = DEEP | {"row": "wide_unstructured"}


def write_run(
  directory, scores, *, paper=None, num_planned=None, diverged=(), game="ttt3d"
):
  """Writes a run of `scores[trial][test]`, tested every 100 games."""
  num_tests = max(map(len, scores), default=0)
  num_planned = num_tests if num_planned is None else num_planned
  directory.mkdir(parents=True)
  config = {
    "game": game,
    "learner": {"kind": "fake", "network": "small"},
    "games": 100 * num_planned,
    "test": {"every": 100, "games": 10, "against": "random"},
    "paper": paper,
  }
  (directory / "config.yaml").write_text(yaml.safe_dump(config))
  with (directory / "metrics.jsonl").open("w") as file:
    for test in range(1, num_tests + 1):
      for trial, of_trial in enumerate(scores):
        if test <= len(of_trial):
          games = 100 * test + trial
          line = {"test": test, "trial": trial, "games": games, "loss": float("nan")}
          file.write(json.dumps(line | {"score": of_trial[test - 1]}) + "\n")
  status = {
    "name": directory.name,
    "trials": len(scores),
    "games": [100 * len(of_trial) for of_trial in scores],
    "games_wanted": 100 * num_planned,
    "seconds": 75.2,
    "machine": {"cores": 2},
    "versions": {"jax": "0.8.1"},
    "fingerprints": ["ab" * 32] * len(scores),
    "is_finished": num_tests == num_planned,
    "diverged": list(diverged),
  }
  (directory / "run.json").write_text(json.dumps(status))
  return directory


def printed(the_report, width=80):
  console = rich.console.Console(file=io.StringIO(), width=width)
  document.print_to(console, the_report)
  return console.file.getvalue()


def rows_by_column(the_report, key="rows"):
  return {row["column"]: row for row in document.as_json(the_report)[key]}


# Five tests each: the peaks are 50 and 70, the ends (the last two) 45 and 60.
TWO_TRIALS = [[0.1, 0.2, 0.3, 0.5, 0.4], [0.1, 0.7, 0.4, 0.6, 0.6]]


# The share of lost games, by opponent, trial and test. A shorter list is of a trial that
# ended early, after half of the games before its last test.
LOSS_RATIOS = {
  "attack_defense": [[0.6, 0.1, 0.0], [0.5, 0.0]],
  "random": [[0.4, 0.2, 0.1], [0.3, 0.2, 0.2]],
}


def write_hybrid(directory, ratios=LOSS_RATIOS, *, game="tictactoe", num_tests=3):
  """Writes a run with several opponents, tested after 100, 1,000 and 2,000 games."""
  directory.mkdir(parents=True)
  plan = [100, 1000, 2000]
  trials = [of_trial for of_opponent in ratios.values() for of_trial in of_opponent]
  config = {
    "game": game,
    "opponent": {name: name.replace("_", "-") for name in ratios},
    "trials": len(trials) // len(ratios),
    "games": 2000,
    "test": {"every": 1000, "also_at": [100], "games": 10, "against": "random"},
    "paper": {"name": "hybrid", "table": ["1", "2", "3", "4"]},
  }
  (directory / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
  lines, games, finished = [], [], []
  for trial, of_trial in enumerate(trials):
    for test, ratio in enumerate(of_trial[:num_tests], start=1):
      ends = test == len(of_trial) < len(plan)
      done = plan[test - 1] // (2 if ends else 1)
      lost = 0.0 if trial < 2 else 0.01 * trial
      metrics = {"loss_ratio": ratio, "lost_games": ratio * done, "score": 1 - lost}
      metrics |= {"unbeatable": int(not lost)}
      for player in ("random", "expert"):
        shares = {"wins": 0.5, "draws": 0.5 - lost, "losses": lost}
        metrics |= {f"{player}_{name}": share for name, share in shares.items()}
      lines.append({"test": test, "trial": trial, "games": done} | metrics)
    games.append(done)
    finished += [trial] if ends else []
  text = "".join(json.dumps(line) + "\n" for line in lines)
  (directory / "metrics.jsonl").write_text(text)
  status = {
    "name": directory.name,
    "trials": len(trials),
    "games": games,
    "games_wanted": 2000,
    "seconds": 65.0,
    "machine": {"cores": 2},
    "versions": {"jax": "0.8.1"},
    "fingerprints": [f"{trial:064x}" for trial in range(len(trials))],
    "is_finished": num_tests == len(plan),
    "finished": finished,
  }
  (directory / "run.json").write_text(json.dumps(status))
  return directory


def change_file(path, old, new):
  text = path.read_text()
  assert old in text
  path.write_text(text.replace(old, new))


def drawing_of(the_report, number, paper="hybrid"):
  drawings = [d for section in the_report.sections for d in section.drawings]
  [found] = [d for d in drawings if d.name == f"{paper}_figure_{number}"]
  return found


def draw(drawing):
  """Returns a figure, without writing files."""
  figure = matplotlib.figure.Figure(layout="constrained")
  figures.draw_into(figure, drawing)
  return figure


def words_of(figure):
  return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
