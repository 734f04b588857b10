"""Trains a small agent of 4x4 Connect-4 in this process, loads it and plays a match.

The same from the command line: `jaxgames train CONFIG`, then
`jaxgames match connect4_4x4 DIR random`.
"""

import pathlib
import tempfile

import jax
import numpy as np
import rich.console

from jaxgames import arena
from jaxgames import players
import train
from train import config as config_lib
from train.run import loop

# What a config file says, as Python values. Fields that are not given have defaults.
CONFIG = {
  "game": "connect4_4x4",
  "learner": {
    "kind": "td",
    "network": {"hidden": [16], "detectors": 4, "bias": True, "slope": 1.0},
    "learning_rate": 0.02,
    "counts_wins": True,
  },
  "opponent": "self",
  "games": 10_000,
  "parallel_games": 16,
  "test": {"every": 2_500, "games": 400, "against": "random"},
}


def main() -> None:
  with tempfile.TemporaryDirectory() as directory:
    run = pathlib.Path(directory) / "run"
    # An unknown field or a wrong value is refused here, before anything is compiled.
    config = config_lib.RunConfig.model_validate(CONFIG)
    # Trains in compiled chunks; between them it tests, logs and saves. Stopped by
    # Ctrl-C it could be continued with `loop.resume`, to the same bits.
    outcome = loop.start(config, run, rich.console.Console())
    assert outcome.is_finished
    # An agent has the weights, the config that it was trained by, and a player.
    agent = train.load_agent(run)

  print(f"trained for {agent.provenance['games']:,} games")
  values = np.asarray(agent.values(agent.game.init()))
  # The scale is the learner's own; here from -1, a sure loss, to 1, a sure win.
  print("values of the first moves:", *(f"{value:.3f}" for value in values))
  print("its choice:", int(agent.act(agent.game.init(), jax.random.key(0))))

  opponent = players.make(agent.game, "random")
  score = arena.play_match(agent.player, opponent, jax.random.key(1), num_games=1000)
  wins, draws, losses = (int(count.sum()) for count in score[:3])
  print(f"against random: {wins} won, {draws} drawn, {losses} lost")


if __name__ == "__main__":
  main()
