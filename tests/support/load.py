"""Many people at once: each plays games in turn with the server, as a page does.

    python -m tests.support.load --clients 200 --seconds 60

starts a server, waits until its players are ready, and prints latencies.
"""

import argparse
import asyncio
import collections
import json
import random
import statistics
import time
from typing import Any, NamedTuple

import httpx

from tests.support import serving

# Games, and who answers in them.
TABLES = (
  ("ttt3d", "guided:player=ttt3d,simulations=400"),
  ("ttt3d", "ttt3d"),
  ("connect4", "mcts:simulations=1000"),
  ("tictactoe", "expert"),
  ("gomoku", "lookahead:player=gomoku"),
)
QUICK_TABLES = (("tictactoe", "random"), ("connect4", "random"))


class Load(NamedTuple):
  """What happened to all requests.

  Attributes:
    seconds: how long each took, by address.
    errors: what went wrong.
  """

  seconds: dict[str, list[float]]
  errors: list[str]

  def summary(self) -> dict[str, Any]:
    """Returns counts and latencies in milliseconds."""

    def describe(found: list[float]) -> dict[str, float]:
      ranks = statistics.quantiles(found, n=100) if len(found) > 1 else found * 99
      named = {"median": ranks[49], "p95": ranks[94], "p99": ranks[98]}
      named["worst"] = max(found)
      return {"n": len(found)} | {key: round(1000 * v) for key, v in named.items()}

    return {
      "errors": len(self.errors),
      **{name: describe(found) for name, found in sorted(self.seconds.items())},
    }


async def play(
  address: str, tables: Any, *, clients: int, seconds: float, pause: float
) -> Load:
  """Lets clients play until the time is over.

  Args:
    address: of the server.
    tables: games and players.
    clients: how many there are.
    seconds: how long.
    pause: the mean time between an answer and the next question of a client.
  """
  load = Load(collections.defaultdict(list), [])
  end = time.monotonic() + seconds
  limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
  async with httpx.AsyncClient(
    base_url=address, limits=limits, timeout=60, trust_env=False
  ) as http:
    await asyncio.gather(
      *(_person(http, number, tables, load, end, pause) for number in range(clients))
    )
  return load


async def _person(
  http: httpx.AsyncClient,
  number: int,
  tables: Any,
  load: Load,
  end: float,
  pause: float,
) -> None:
  draw = random.Random(number)
  headers = {"x-session": f"person{number}"}

  async def ask(path: str, **values: Any) -> Any:
    await asyncio.sleep(draw.uniform(0.5, 1.5) * pause)
    begin = time.monotonic()
    try:
      answer = await http.post(path, json=values, headers=headers)
    except httpx.HTTPError as error:
      load.errors.append(f"{path}: {error!r}")
      return None
    load.seconds[path].append(time.monotonic() - begin)
    if answer.status_code != 200:
      load.errors.append(f"{path}: {answer.status_code} {answer.text}")
      return None
    return answer.json()

  await asyncio.sleep(draw.uniform(0, pause))
  while time.monotonic() < end:
    game, player = draw.choice(tables)
    position = await ask("/api/position", game=game, moves="")
    while position and not position["is_over"] and time.monotonic() < end:
      moves = " ".join(position["moves"])
      if len(position["moves"]) % 2:
        asked = {"player": player, "seed": draw.randrange(2**31)}
        answer = await ask("/api/move", game=game, moves=moves, **asked)
        position = answer and answer["position"]
      else:
        cell = draw.choice(position["playable"])
        names = (await http.get("/api/board", params={"game": game})).json()
        move = names["names"][names["actions"][cell]]
        position = await ask("/api/position", game=game, moves=f"{moves} {move}")


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("--clients", type=int, default=200)
  parser.add_argument("--seconds", type=float, default=60)
  parser.add_argument("--pause", type=float, default=1.0)
  given = parser.parse_args()
  with serving.process("--port", "0") as address:
    begin = time.monotonic()
    while not httpx.get(f"{address}api/status", timeout=60).json()["is_ready"]:
      time.sleep(0.5)
    print(f"ready after {time.monotonic() - begin:.0f} s", flush=True)
    load = asyncio.run(
      play(
        address,
        TABLES,
        clients=given.clients,
        seconds=given.seconds,
        pause=given.pause,
      )
    )
  print(json.dumps(load.summary(), indent=2))
  for problem in sorted(set(load.errors))[:5]:
    print(problem)
  if load.errors:
    raise SystemExit(1)


if __name__ == "__main__":
  main()
