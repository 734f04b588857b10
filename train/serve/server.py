"""The process: a socket, its address for people, and slow clients."""

import asyncio
from collections.abc import Callable, Sequence
import socket
from typing import Any

from starlette import types
import uvicorn
from uvicorn.protocols.http import h11_impl

from train.serve import guard

__all__ = ["address", "listen", "make", "protect"]

# In which the head of a request has to arrive.
HEAD_SECONDS = 10.0

# Connections at a time; more are told to come again.
MOST_CONNECTIONS = 1024


class _ImpatientProtocol(h11_impl.H11Protocol):
  """Closes connections on which the head of a request does not arrive in time."""

  head_seconds = HEAD_SECONDS
  _timer: asyncio.TimerHandle | None = None

  def connection_made(self, transport: Any) -> None:
    super().connection_made(transport)
    self._expect_head()

  def data_received(self, data: bytes) -> None:
    super().data_received(data)
    self._expect_head()

  def connection_lost(self, exc: Exception | None) -> None:
    self._stop_timer()
    super().connection_lost(exc)

  def _expect_head(self) -> None:
    """Waits for a head, unless a request is being answered."""
    is_answering = self.cycle is not None and not self.cycle.response_complete
    if is_answering:
      self._stop_timer()
    elif self._timer is None:
      self._timer = self.loop.call_later(self.head_seconds, self._give_up)

  def _give_up(self) -> None:
    self._timer = None
    is_answering = self.cycle is not None and not self.cycle.response_complete
    if not is_answering and not self.transport.is_closing():
      self.transport.close()

  def _stop_timer(self) -> None:
    if self._timer is not None:
      self._timer.cancel()
      self._timer = None


def listen(host: str, port: int) -> socket.socket:
  """Returns a socket that listens.

  Raises:
    ValueError: if that is not possible.
  """
  family = socket.AF_INET6 if ":" in host else socket.AF_INET
  found = socket.socket(family, socket.SOCK_STREAM)
  found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
  try:
    found.bind((host, port))
  except (OSError, OverflowError) as error:
    found.close()
    reason = getattr(error, "strerror", None) or error
    raise ValueError(f"cannot listen on {host}, port {port}: {reason}") from error
  return found


def address(listening: socket.socket, host: str, token: str | None) -> str:
  """Returns what to type into a browser."""
  port = listening.getsockname()[1]
  name = socket.gethostname() if host in ("0.0.0.0", "::") else host
  name = f"[{name}]" if ":" in name else name
  return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def protect(
  app: types.ASGIApp, host: str, token: str | None, names: Sequence[str] = ()
) -> types.ASGIApp:
  """Returns an application behind its guard.

  Args:
    app: the application.
    host: what the socket is bound to.
    token: what requests must know, if not everybody may ask.
    names: other names under which it may be reached.
  """
  loopback = {"localhost", "127.0.0.1", "::1"}
  own = loopback if guard.is_loopback(host) else {socket.gethostname()}
  return guard.Guard(
    app,
    hosts=frozenset({*own, host, *names}),
    allows_addresses=not guard.is_loopback(host),
    token=token,
  )


def make(
  app: types.ASGIApp,
  started_fn: Callable[[], None],
  *,
  head_seconds: float = HEAD_SECONDS,
) -> uvicorn.Server:
  """Returns a server; its `run` with a list of sockets serves until a signal.

  Args:
    app: the application, protected.
    started_fn: called once requests are answered.
    head_seconds: in which the head of a request has to arrive.
  """
  protocol = type("Protocol", (_ImpatientProtocol,), {"head_seconds": head_seconds})
  config = uvicorn.Config(
    app,
    http=protocol,
    ws="none",
    lifespan="on",
    log_level="warning",
    access_log=False,
    server_header=False,
    proxy_headers=False,
    limit_concurrency=MOST_CONNECTIONS,
    timeout_keep_alive=15,
    timeout_graceful_shutdown=2,
  )
  return _Server(config, started_fn)


class _Server(uvicorn.Server):
  """A server that says when it has started."""

  def __init__(self, config: uvicorn.Config, started_fn: Callable[[], None]):
    super().__init__(config)
    self._started_fn = started_fn

  async def startup(self, sockets: list[socket.socket] | None = None) -> None:
    await super().startup(sockets)
    if self.started:
      self._started_fn()
