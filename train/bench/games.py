"""Speed of random self-play, compared with other libraries ("peers").

All contenders run in one process, in turns, and are compared by the CPU time of all
their threads, so that neither a busy machine nor the number of cores favours one.
"""

from collections.abc import Callable, Sequence
import importlib.util
import statistics
import time
from typing import Any, NamedTuple

import jax
from rich import table as rich_table
from rich import text

from jaxgames import arena
from jaxgames import game as game_lib
from jaxgames import players
from jaxgames import randomness

__all__ = ["measure", "notes", "table"]

# Our games' names in the peers. OpenSpiel's 3D tic-tac-toe has no gravity, so it is not
# ttt3d.
PGX_NAMES = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}
OPENSPIEL_NAMES = {
  "tictactoe": "tic_tac_toe",
  "connect4_4x4": "connect_four(rows=4,columns=4)",
  "connect4": "connect_four",
  "gomoku": "gomoku(size=15)",
}

# The peers, which are also the extras that install them, and their modules.
MODULES = {"pgx": "pgx", "openspiel": "pyspiel"}

# Peers are slower, and make this many times fewer moves.
PEER_SHARE = 5


class _Contender(NamedTuple):
  """A library in the comparison.

  Attributes:
    run_fn: plays with a seed, and returns when everything is computed.
    num_moves: the number of moves of one call.
  """

  run_fn: Callable[[int], Any]
  num_moves: float


def measure(
  names: Sequence[str] = tuple(game_lib.GAMES),
  *,
  num_lanes: int = 4096,
  num_plies: int = 1000,
  num_rounds: int = 5,
  progress_fn: Callable[[str], None] = lambda name: None,
) -> dict[str, float]:
  """Measures our speed, and that of every installed peer.

  Args:
    names: the games.
    num_lanes: the number of games played in parallel.
    num_plies: the number of moves in each of them per call.
    num_rounds: the number of rounds; every result is a median over them.
    progress_fn: called with the name of each game before it is measured.

  Returns:
    For each game, prefixed with its name: `_moves_per_second` and `_games_per_second`,
    per second of CPU time; `_cost_growth`, the ratio of the cost of a move to that in a
    run a quarter as long; and for each peer that has the game `_vs_pgx` or
    `_vs_openspiel`, the ratio of our moves per second to the peer's, which are
    `_pgx_moves_per_second` or `_openspiel_moves_per_second`.

  Raises:
    ValueError: if a number is not positive, or a game does not exist.
  """
  for option, value in (
    ("num_lanes", num_lanes),
    ("num_plies", num_plies),
    ("num_rounds", num_rounds),
  ):
    if value < 1:
      raise ValueError(f"{option} must be at least 1, not {value}")
  games = {name: game_lib.make(name) for name in names}
  numbers: dict[str, float] = {}
  # CPU time does not measure work on other devices.
  with jax.default_device(jax.devices("cpu")[0]):
    for name, game in games.items():
      progress_fn(name)
      found = _measure_game(name, game, num_lanes, num_plies, num_rounds)
      numbers.update({f"{name}_{key}": value for key, value in found.items()})
  return numbers


def notes(names: Sequence[str] = tuple(game_lib.GAMES)) -> list[str]:
  """Returns sentences on the comparisons that are left out."""
  found = []
  for peer, peer_names in (("pgx", PGX_NAMES), ("openspiel", OPENSPIEL_NAMES)):
    if not _is_installed(peer):
      found.append(f"{peer} is not installed: pip install 'jaxgames[{peer}]'")
    elif lacking := [name for name in names if name not in peer_names]:
      found.append(f"{peer} does not have {', '.join(lacking)}")
  return found


def table(numbers: dict[str, float]) -> rich_table.Table:
  """Returns the results of `measure` as a table."""
  suffix = "_cost_growth"
  names = [key.removesuffix(suffix) for key in numbers if key.endswith(suffix)]
  result = rich_table.Table(
    title="Random self-play, per second of CPU time",
    caption=text.Text("\n".join(notes(names)), style="table.caption"),
  )
  result.add_column("game")
  for heading in ("moves", "games", "x pgx", "x openspiel", "cost in a run 4x as long"):
    result.add_column(heading, justify="right")
  for name in names:
    result.add_row(
      name,
      _format(numbers.get(f"{name}_moves_per_second"), ",.0f"),
      _format(numbers.get(f"{name}_games_per_second"), ",.0f"),
      _format(numbers.get(f"{name}_vs_pgx"), ".1f"),
      _format(numbers.get(f"{name}_vs_openspiel"), ".1f"),
      _format(numbers.get(f"{name}{suffix}"), ".2f"),
    )
  return result


def _format(number: float | None, spec: str) -> str:
  return "-" if number is None else format(number, spec)


def _is_installed(peer: str) -> bool:
  return importlib.util.find_spec(MODULES[peer]) is not None


def _measure_game(
  name: str, game: game_lib.LineGame, num_lanes: int, num_plies: int, num_rounds: int
) -> dict[str, float]:
  """Returns the results of one game, without its name in the keys."""
  player = players.Random(game)
  num_peer_plies = max(1, num_plies // PEER_SHARE)
  contenders = {
    "ours": _ours(player, num_lanes, num_plies),
    "quarter": _ours(player, num_lanes, max(1, num_plies // 4)),
  }
  if name in PGX_NAMES and _is_installed("pgx"):
    contenders["pgx"] = _pgx(PGX_NAMES[name], num_lanes, num_peer_plies)
  if name in OPENSPIEL_NAMES and _is_installed("openspiel"):
    mean_length = _mean_length(player, 4 * num_lanes)
    num_games = max(1, round(num_lanes * num_peer_plies / mean_length))
    contenders["openspiel"] = _openspiel(OPENSPIEL_NAMES[name], num_games, mean_length)

  costs, num_games_ended = _race(contenders, num_rounds)
  rate = 1 / statistics.median(costs["ours"])
  moves_per_game = contenders["ours"].num_moves * num_rounds / max(1, num_games_ended)
  numbers = {
    "moves_per_second": rate,
    "games_per_second": rate / moves_per_game,
    "cost_growth": _median_ratio(costs["ours"], costs["quarter"]),
  }
  for peer in MODULES:
    if peer in costs:
      numbers[f"vs_{peer}"] = _median_ratio(costs[peer], costs["ours"])
      numbers[f"{peer}_moves_per_second"] = 1 / statistics.median(costs[peer])
  return numbers


def _race(
  contenders: dict[str, _Contender], num_rounds: int
) -> tuple[dict[str, list[float]], int]:
  """Returns each contender's seconds per move, and the number of games we finished."""
  costs: dict[str, list[float]] = {name: [] for name in contenders}
  num_games = 0
  for contender in contenders.values():
    contender.run_fn(0)  # Compiles.
  for seed in range(1, num_rounds + 1):
    for name, contender in contenders.items():
      start = time.process_time()
      result = contender.run_fn(seed)
      costs[name].append((time.process_time() - start) / contender.num_moves)
      if name == "ours":
        num_games += int(result.num_games.sum())
  return costs, num_games


def _median_ratio(above: list[float], below: list[float]) -> float:
  # Ratios within a round, so that a change of the machine's speed affects both.
  return statistics.median(a / b for a, b in zip(above, below, strict=True))


def _mean_length(player: players.Player, num_games: int) -> float:
  """Returns the mean number of moves of complete games."""
  score = arena.play_match(player, player, randomness.key(0), num_games=num_games)
  return int(score.num_moves) / num_games


def _ours(player: players.Player, num_lanes: int, num_plies: int) -> _Contender:
  def run(seed: int) -> arena.SelfPlay:
    key = randomness.key(seed)
    final = arena.self_play(player, key, num_lanes=num_lanes, num_plies=num_plies)
    return jax.block_until_ready(final)

  return _Contender(run, num_lanes * num_plies)


def _pgx(name: str, num_lanes: int, num_plies: int) -> _Contender:
  """Plays as in pgx's documentation, in one compiled loop."""
  import pgx
  from pgx import experimental

  env = pgx.make(name)
  step = jax.vmap(experimental.auto_reset(env.step, env.init))

  def ply(states: pgx.State, key: jax.Array) -> tuple[pgx.State, None]:
    key_act, key_step = jax.random.split(key)
    actions = experimental.act_randomly(key_act, states.legal_action_mask)
    return step(states, actions, jax.random.split(key_step, num_lanes)), None

  @jax.jit
  def play(key: jax.Array) -> pgx.State:
    key_init, key_play = jax.random.split(key)
    first = jax.vmap(env.init)(jax.random.split(key_init, num_lanes))
    return jax.lax.scan(ply, first, jax.random.split(key_play, num_plies))[0]

  def run(seed: int) -> pgx.State:
    return jax.block_until_ready(play(randomness.key(seed)))

  return _Contender(run, num_lanes * num_plies)


def _openspiel(name: str, num_games: int, mean_length: float) -> _Contender:
  """Plays complete random games in one call of OpenSpiel's C++.

  Its rollouts do not count their moves, so they are taken to have the mean length of
  our own random games, which have the same distribution.
  """
  import pyspiel

  game = pyspiel.load_game(name)
  state = game.new_initial_state()

  def run(seed: int) -> Any:
    evaluator = pyspiel.RandomRolloutEvaluator(num_games, seed)
    # The evaluator cannot be called from Python, but the first simulation of a search
    # only evaluates the root.
    search = pyspiel.MCTSBot(
      game,
      evaluator,
      uct_c=1.0,
      max_simulations=1,
      max_memory_mb=1,
      solve=False,
      seed=seed,
      verbose=False,
    )
    return search.mcts_search(state)

  return _Contender(run, num_games * mean_length)
