"""The server's answers: the page, games and thoughts, runs and reports.

A server keeps no games: each request says which game, its moves and the player. So a
game outlives the server, and any number of them cost nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
import contextlib
import dataclasses
import hashlib
import importlib.resources
import json
import pathlib
from typing import Annotated, Any, TypeVar

import anyio.to_thread
import pydantic
from starlette import applications
from starlette import requests
from starlette import responses
from starlette import routing

import jaxgames
from jaxgames import registry as game_registry
from jaxgames.display import notation
from jaxgames.exact import graph
from jaxgames.players import registry as player_registry
from train.config import agent_names
from train.serve import bounds
from train.serve import catalogue as catalogue_lib
from train.serve import minds as minds_lib
from train.serve import positions as positions_lib
from train.serve import queueing
from train.serve import reports as reports_lib
from train.serve import runs as runs_lib
from train.serve import thinking

__all__ = ["Services", "make"]

T = TypeVar("T")

# How long a request waits for a player to be compiled and to have its turn.
WAIT_SECONDS = 120.0

MEDIA_TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}


class _Request(pydantic.BaseModel):
  model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True)


Name = Annotated[str, pydantic.Field(max_length=60)]
Moves = Annotated[str, pydantic.Field(max_length=16_000)]
Spec = Annotated[str, pydantic.Field(max_length=bounds.MOST_SPEC_LETTERS)]


class _PositionRequest(_Request):
  game: Name
  moves: Moves = ""


class _MoveRequest(_PositionRequest):
  player: Spec
  seed: Annotated[int, pydantic.Field(ge=0, lt=2**31)] = 0


class _ThoughtsRequest(_PositionRequest):
  player: Spec


R = TypeVar("R", bound=_Request)


@dataclasses.dataclass
class Services:
  """What the answers are made of.

  Attributes:
    catalogue: what may be named.
    minds: players that are ready.
    positions: of games.
    runs: of the catalogue.
    reports: on those.
    turns: in which players think.
  """

  catalogue: catalogue_lib.Catalogue
  minds: minds_lib.Minds
  positions: positions_lib.Positions
  runs: runs_lib.Runs
  reports: reports_lib.Reports
  turns: queueing.FairQueue

  @classmethod
  def below(cls, roots: Sequence[pathlib.Path]) -> "Services":
    """Makes all that is needed to serve what is below some directories.

    Raises:
      ValueError: if one of them is no directory.
    """
    catalogue = catalogue_lib.Catalogue(roots)
    return cls(
      catalogue=catalogue,
      minds=minds_lib.Minds(catalogue),
      positions=positions_lib.Positions(),
      runs=runs_lib.Runs(catalogue),
      reports=reports_lib.Reports(catalogue),
      turns=queueing.FairQueue("thinking", most_each=8, most_in_all=512),
    )


def make(
  services: Services, *, warm_up: Sequence[minds_lib.Wanted] = ()
) -> applications.Starlette:
  """Returns the application.

  Args:
    services: what its answers are made of.
    warm_up: the players to be made ready at once.
  """
  handlers = _Handlers(services)

  @contextlib.asynccontextmanager
  async def lifespan(app: applications.Starlette) -> AsyncIterator[None]:
    del app
    warming = asyncio.create_task(services.minds.warm_up(warm_up))
    yield
    warming.cancel()
    services.minds.close()
    services.turns.close()

  def route(path: str, handler: Any, method: str = "GET") -> routing.Route:
    return routing.Route(path, _explained(handler), methods=[method])

  return applications.Starlette(
    routes=[
      route("/", handlers.page),
      route("/static/{name}", handlers.static),
      route("/api/setup", handlers.setup),
      route("/api/status", handlers.status),
      route("/api/board", handlers.board),
      route("/api/position", handlers.position, "POST"),
      route("/api/move", handlers.move, "POST"),
      route("/api/thoughts", handlers.thoughts, "POST"),
      route("/api/runs", handlers.runs),
      route("/api/runs/{run}/metrics", handlers.metrics),
      route("/api/runs/{run}/papers", handlers.papers),
      route("/api/report", handlers.report),
      route("/api/figure", handlers.figure),
    ],
    lifespan=lifespan,
  )


class _Handlers:
  """A method for each address."""

  def __init__(self, services: Services):
    self._services = services
    self._files = _read_static()

  async def page(self, request: requests.Request) -> responses.Response:
    return self._file(request, "index.html")

  async def static(self, request: requests.Request) -> responses.Response:
    return self._file(request, request.path_params["name"])

  async def setup(self, request: requests.Request) -> responses.Response:
    del request
    return _json(await _in_thread(self._describe_setup))

  async def status(self, request: requests.Request) -> responses.Response:
    del request
    waiting = self._services.turns.num_waiting
    return _json({**self._services.minds.progress.as_json(), "waiting": waiting})

  async def board(self, request: requests.Request) -> responses.Response:
    name = request.query_params.get("game", "")
    return _json(await _in_thread(lambda: positions_lib.describe_board(name)))

  async def position(self, request: requests.Request) -> responses.Response:
    asked = await _read(request, _PositionRequest)
    return _json(await _in_thread(lambda: self._describe(asked.game, asked.moves)))

  async def move(self, request: requests.Request) -> responses.Response:
    asked = await _read(request, _MoveRequest)
    services, session = self._services, _session(request)
    game, moves = await _in_thread(
      lambda: services.positions.read(asked.game, asked.moves)
    )
    state = services.positions.state(asked.game, moves)
    if state.is_over:
      raise ValueError("the game is over")
    wanted = minds_lib.Wanted(asked.game, asked.player)
    mind = await services.minds.get(session, wanted, "move")
    action = await services.turns.run(session, lambda: mind.act(state, asked.seed))
    after = await _in_thread(
      lambda: services.positions.describe(asked.game, (*moves, action))
    )
    return _json({"move": notation.action_name(game, action), "position": after})

  async def thoughts(self, request: requests.Request) -> responses.Response:
    asked = await _read(request, _ThoughtsRequest)
    services, session = self._services, _session(request)
    game, moves = await _in_thread(
      lambda: services.positions.read(asked.game, asked.moves)
    )
    state = services.positions.state(asked.game, moves)
    if state.is_over:
      raise ValueError("the game is over")
    if asked.player == "expert" and graph.is_small(game):
      found = await services.turns.run(
        session, lambda: thinking.judge_exactly(game, state)
      )
    else:
      wanted = minds_lib.Wanted(asked.game, asked.player)
      mind = await services.minds.get(session, wanted, "thoughts")
      if not mind.has_values:
        return _json({"source": "none", "player": asked.player})
      found = await services.turns.run(session, lambda: mind.think(state))
    line = [notation.action_name(game, action) for action in found.line]
    return _json({**found.as_json(), "line": line, "player": asked.player})

  async def runs(self, request: requests.Request) -> responses.Response:
    del request
    return _json({"runs": await _in_thread(self._services.runs.describe_all)})

  async def metrics(self, request: requests.Request) -> responses.Response:
    run, offset = request.path_params["run"], request.query_params.get("offset", "0")
    if not offset.isdigit() or len(offset) > 15:
      raise ValueError(f"offset is a number of bytes, not {offset[:20]!r}")
    chunk = await _in_thread(lambda: self._services.runs.metrics(run, int(offset)))
    return _json(chunk.as_json())

  async def papers(self, request: requests.Request) -> responses.Response:
    run = request.path_params["run"]
    return _json({"papers": await _in_thread(lambda: self._services.runs.papers(run))})

  async def report(self, request: requests.Request) -> responses.Response:
    run_ids = request.query_params.getlist("run")
    return _json(await _in_thread(lambda: self._services.reports.describe(run_ids)))

  async def figure(self, request: requests.Request) -> responses.Response:
    run_ids = request.query_params.getlist("run")
    name = request.query_params.get("name", "")
    drawn = await _in_thread(lambda: self._services.reports.draw(run_ids, name))
    # It brings its own styles, and may do nothing else.
    policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    headers = {"content-security-policy": policy}
    return responses.Response(drawn, media_type="image/svg+xml", headers=headers)

  def _describe(self, game: str, text: str) -> dict[str, Any]:
    _, moves = self._services.positions.read(game, text)
    return self._services.positions.describe(game, moves)

  def _describe_setup(self) -> dict[str, Any]:
    found = self._services.catalogue.found.values()
    rows = {row["id"]: row for row in self._services.runs.describe_all()}
    return {
      "games": [
        {**game, "is_solved": graph.is_small(jaxgames.make(game["name"]))}
        for game in catalogue_lib.describe_games()
      ],
      "players": [
        {
          "name": name,
          "summary": entry.summary,
          "options": [
            {"name": key, "kind": option.kind, "default": option.default}
            for key, option in entry.options.items()
          ],
          "games": _games_of(entry),
        }
        for name, entry in player_registry.PLAYERS.items()
      ],
      "agents": [
        *({"name": name, "label": name, "game": name} for name in agent_names.BUNDLED),
        *(
          {
            "name": one.id,
            "label": one.label,
            "game": one.game or rows.get(one.id, {}).get("game"),
            "trials": rows.get(one.id, {}).get("trials"),
          }
          for one in found
          if one.is_file or _has_agent(one)
        ),
      ],
      "choices": bounds.CHOICES,
    }

  def _file(self, request: requests.Request, name: str) -> responses.Response:
    if name not in self._files:
      raise KeyError(name)
    contents, tag, media_type = self._files[name]
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
      return responses.Response(status_code=304, headers=headers)
    return responses.Response(contents, media_type=media_type, headers=headers)


def _explained(
  handler: Callable[[requests.Request], Awaitable[responses.Response]],
) -> Callable[[requests.Request], Awaitable[responses.Response]]:
  """Returns a handler whose errors are sentences."""

  async def explain(request: requests.Request) -> responses.Response:
    try:
      async with asyncio.timeout(WAIT_SECONDS):
        return await handler(request)
    except KeyError:
      return _json({"error": "there is no such thing"}, 404)
    except ValueError as error:
      return _json({"error": str(error)}, 400)
    except queueing.FullError as error:
      status = 429 if error.is_own else 503
      return _json({"error": str(error)}, status, {"retry-after": "1"})
    except TimeoutError:
      message = "this took too long; it may be quicker when asked again"
      return _json({"error": message}, 503, {"retry-after": "5"})

  return explain


async def _read(request: requests.Request, model: type[R]) -> R:
  """Returns what a body asks for.

  Raises:
    ValueError: names the first field that is wrong.
  """
  try:
    return model.model_validate_json(await request.body())
  except pydantic.ValidationError as error:
    problem = error.errors()[0]
    field = ".".join(map(str, problem["loc"])) or "the body"
    raise ValueError(f"{field}: {problem['msg']}") from error


async def _in_thread(fn: Callable[[], T]) -> T:
  return await anyio.to_thread.run_sync(fn)


def _session(request: requests.Request) -> str:
  """Returns whose turn a request takes: a page's, or else an address's."""
  given = request.headers.get("x-session", "")
  if given.isalnum() and len(given) <= 40:
    return given
  return request.client.host if request.client is not None else ""


def _json(
  values: Any, status: int = 200, headers: dict[str, str] | None = None
) -> responses.Response:
  body = json.dumps(values, allow_nan=False, separators=(",", ":")).encode()
  headers = {"cache-control": "no-store", **(headers or {})}
  return responses.Response(body, status, headers, "application/json")


def _read_static() -> dict[str, tuple[bytes, str, str]]:
  """Returns the page's files by name: contents, tag and type. No path is ever made."""
  found = {}
  for file in importlib.resources.files("train.serve").joinpath("static").iterdir():
    suffix = pathlib.PurePath(file.name).suffix
    if suffix in MEDIA_TYPES:
      contents = file.read_bytes()
      tag = f'"{hashlib.sha256(contents).hexdigest()[:16]}"'
      found[file.name] = contents, tag, MEDIA_TYPES[suffix]
  return found


def _games_of(entry: player_registry.Entry) -> list[str]:
  return [name for name in game_registry.BOARDS if entry.plays(jaxgames.make(name))]


def _has_agent(found: catalogue_lib.Found) -> bool:
  return found.written > 0
