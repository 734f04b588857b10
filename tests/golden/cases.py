"""What the golden test runs: every learner in little, and what comes with the project."""

from typing import Any

TEST = {"every": 20, "games": 10}

# Small runs of all learners, by self-play and against opponents where there are both.
RUNS: dict[str, dict[str, Any]] = {
  "td_self_play": {
    "game": "ttt3d",
    "learner": {
      "kind": "td",
      "network": {"detectors": 4, "hidden": [8], "bias": True, "slope": 1.0},
    },
    "parallel_games": 4,
    "test": {**TEST, "against": "benchmark"},
  },
  "td_opponent": {
    "game": "connect4_4x4",
    "learner": {
      "kind": "td",
      "network": {"detectors": 0, "hidden": [8]},
      "starts": "random",
      "counts_wins": True,
      "gradient": "mean",
    },
    "opponent": "benchmark",
    "parallel_games": 4,
    "test": {**TEST, "against": "random"},
  },
  "td_reading": {
    "game": "connect4_4x4",
    "learner": {
      "kind": "td",
      "network": {
        "detectors": 4,
        "hidden": [8],
        "bias": True,
        "slope": 2.0,
        "linear_output_gradient": True,
      },
      "counts_wins": True,
      "updates_terminal": False,
      "exploration_target": "none",
      "starts": "always",
      "terminal_steps": "at_once",
    },
    "parallel_games": 4,
    "test": {**TEST, "against": "random", "starts": "always"},
  },
  "td_patterns": {
    "game": "connect4_4x4",
    "learner": {
      "kind": "td",
      "network": {
        "detectors": 0,
        "hidden": [],
        "patterns": ["counts", "symmetry"],
        "bias": True,
        "steepness": 1.0,
      },
      "final_learning_rate": 0.0001,
    },
    "parallel_games": 4,
    "test": {**TEST, "against": "random"},
  },
  "td_trace": {
    "game": "tictactoe",
    "learner": {
      "kind": "td",
      "network": {"detectors": 2, "hidden": [4]},
      "optimizer": "adam",
      "trace": 0.7,
      "trace_length": 3,
    },
    "parallel_games": 1,
    "test": {**TEST, "against": "random"},
  },
  "tabular_opponents": {
    "game": "tictactoe",
    "learner": {"kind": "tabular", "window": 10},
    "opponent": {"combined": "combined", "random": "random"},
    "test": {
      **TEST,
      "against": "random",
      "starts": "never",
      "exact": ["random", "expert:ties=first"],
    },
  },
  "tabular_self": {
    "game": "tictactoe",
    "learner": {
      "kind": "tabular",
      "window": 10,
      "random_moves": 0.3,
      "final_learning_rate": 0.01,
      "symmetry": True,
    },
    "opponent": "self",
    "test": {**TEST, "against": "random", "starts": "never"},
  },
  "qlearning": {
    "game": "tictactoe",
    "learner": {
      "kind": "qlearning",
      "network": {"hidden": [8]},
      "epsilon": 0.5,
      "final_epsilon": 0.1,
      "random_answers": "ignored",
      "margin": 0.01,
    },
    "parallel_games": 2,
    "test": {**TEST, "against": "random"},
  },
  "dqn_opponent": {
    "game": "tictactoe",
    "learner": {
      "kind": "dqn",
      "network": {"hidden": [8]},
      "invalid": "penalized",
      "replay": 64,
      "batch": 8,
      "target_every": 10,
      "evaluation_games": 20,
    },
    "opponent": "random",
    "parallel_games": 2,
    "test": {**TEST, "against": "random"},
  },
  "dqn_self_play": {
    "game": "tictactoe",
    "learner": {
      "kind": "dqn",
      "network": {"hidden": [8]},
      "double": True,
      "symmetries": True,
      "replay": 64,
      "batch": 8,
      "updates": 2,
      "evaluation_games": 20,
      "final_learning_rate": 0.0001,
    },
    "parallel_games": 2,
    "test": {**TEST, "against": "random"},
  },
  "adp_self_play": {
    "game": "gomoku:size=5",
    "learner": {
      "kind": "adp",
      "network": {"hidden": 8},
      "updates": 5,
      "stages": [
        {"games": 10, "epsilon": 0.3, "random_opening": True},
        {"games": 10, "epsilon": 0.1},
      ],
    },
    "parallel_games": 3,
    "test": {**TEST, "against": "random"},
  },
  "adp_watching": {
    "game": "gomoku:size=5",
    "learner": {
      "kind": "adp",
      "network": {"hidden": 8, "counts": "plain", "turn": "two"},
      "updates": 5,
      "expert": "attack-defense:ties=random",
      "watches": True,
    },
    "parallel_games": 3,
    "test": {**TEST, "against": "random"},
  },
}

COMMON = {"trials": 2, "games": 40, "seed": 7}

# The bundled agents, bare and as people meet them; `{}` is the agent.
MATCHES: dict[str, tuple[str, str, str, int]] = {
  "ttt3d": ("ttt3d", "{}", "benchmark", 40),
  "ttt3d_guided": ("ttt3d", "guided:player=({}),simulations=16", "benchmark", 10),
  "gomoku": ("gomoku", "{}", "ladder:level=2", 10),
  "gomoku_lookahead": (
    "gomoku:size=9",
    "LOOKAHEAD:player=({}),width=4,depth=4",
    "random",
    4,
  ),
  "gomoku_9": ("gomoku:size=9", "{}", "random", 4),
}

# Committed runs whose reports must come out as they are committed.
REPORTS = ("hybrid", "qlearn", "dqn", "gomoku", "ttt3d", "ttt3d/readings")
