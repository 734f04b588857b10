"""A server for tests: in this process, without a socket; or in one of its own."""

import asyncio
from collections.abc import Iterator, Sequence
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import threading
from typing import Any

import httpx

from train.serve import app
from train.serve import guard

HOST = "127.0.0.1:8642"


class Client:
  """Sends requests to an application, whose loop is in a thread of its own."""

  def __init__(self, asgi: Any, base: str = f"http://{HOST}"):
    self._loop = asyncio.new_event_loop()
    self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
    self._thread.start()
    self._client = httpx.AsyncClient(
      transport=httpx.ASGITransport(asgi, raise_app_exceptions=True), base_url=base
    )

  def request(self, method: str, path: str, **given: Any) -> httpx.Response:
    sent = self._client.request(method, path, timeout=120, **given)
    return asyncio.run_coroutine_threadsafe(sent, self._loop).result(timeout=120)

  def get(self, path: str, **given: Any) -> httpx.Response:
    return self.request("GET", path, **given)

  def post(self, path: str, **values: Any) -> httpx.Response:
    return self.request("POST", path, json=values)

  def close(self) -> None:
    asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result(10)
    self._loop.call_soon_threadsafe(self._loop.stop)
    self._thread.join(10)
    self._loop.close()


@contextlib.contextmanager
def client(
  roots: Sequence[pathlib.Path] = (), *, token: str | None = None
) -> Iterator[Client]:
  """Serves some directories in this process, behind its guard."""
  services = app.Services.below(roots)
  guarded = guard.Guard(
    app.make(services),
    hosts=frozenset({"127.0.0.1", "localhost"}),
    allows_addresses=False,
    token=token,
    body_seconds=0.2,
  )
  made = Client(guarded)
  try:
    yield made
  finally:
    made.close()
    services.minds.close()
    services.turns.close()


@contextlib.contextmanager
def process(*arguments: str | pathlib.Path) -> Iterator[str]:
  """Serves in a process of its own; yields its address, as it is printed."""
  running = subprocess.Popen(
    [sys.executable, "-m", "train", "serve", *map(str, arguments)],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
    env={**os.environ, "PYTHONUNBUFFERED": "1"},
  )
  try:
    assert running.stdout is not None
    said = ""
    for line in running.stdout:
      said += line
      if found := re.search(r"http://\S+", line):
        yield found[0]
        break
    else:
      raise AssertionError(f"the server did not start: {said}")
  finally:
    running.terminate()
    running.wait(20)
    running.stdout.close()  # type: ignore[union-attr]
