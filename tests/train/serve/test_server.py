"""Real sockets: slow clients, malformed requests, and the end of a server."""

import re
import socket
import threading
import time
import urllib.parse

import httpx
import pytest

from tests.support import serving
from train.serve import server

GAME = {"game": "tictactoe", "moves": "4 0", "player": "random", "seed": 3}
HEAD_SECONDS = 0.5


async def hello(scope, receive, send):
  if scope["type"] == "lifespan":
    while (await receive())["type"] != "lifespan.shutdown":
      await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
    return
  await send({"type": "http.response.start", "status": 200, "headers": []})
  await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture(scope="module")
def address():
  """A server of this process, which waits half a second for heads of requests."""
  listening, started = server.listen("127.0.0.1", 0), threading.Event()
  made = server.make(
    server.protect(hello, "127.0.0.1", None), started.set, head_seconds=HEAD_SECONDS
  )
  thread = threading.Thread(target=made.run, args=([listening],))
  thread.start()
  assert started.wait(20)
  yield server.address(listening, "127.0.0.1", None)
  made.should_exit = True
  thread.join(20)


def connect(address):
  parts = urllib.parse.urlsplit(address)
  return socket.create_connection((parts.hostname, parts.port), timeout=20)


def trickle(connection):
  for _ in range(100):
    connection.sendall(b"X")
    time.sleep(0.05)


def test_half_a_head_is_not_waited_for_and_others_are_answered(address):
  with connect(address) as slow:
    begin = time.monotonic()
    slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
    assert httpx.get(address, timeout=20).text == "hello"
    assert slow.recv(1000) == b""
    assert time.monotonic() - begin >= HEAD_SECONDS - 0.1


def test_a_head_that_trickles_in_is_not_waited_for_longer(address):
  with connect(address) as slow:
    begin = time.monotonic()
    with pytest.raises(ConnectionError):
      trickle(slow)
    assert time.monotonic() - begin < 4 * HEAD_SECONDS


def test_a_second_request_on_a_connection_is_waited_for_no_longer(address):
  with connect(address) as slow:
    slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    received = b""
    while b"hello" not in received:
      received += slow.recv(1000)
    begin = time.monotonic()
    slow.sendall(b"GET / HT")
    while slow.recv(1000):
      pass
    assert time.monotonic() - begin < 8 * HEAD_SECONDS


@pytest.mark.parametrize(
  "sent",
  [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 200_000,
  ],
)
def test_what_is_no_good_request_is_told_so(address, sent):
  with connect(address) as made:
    try:
      made.sendall(sent)
      status = re.match(rb"HTTP/1.1 (\d+)", made.recv(1000))
    except ConnectionError:  # Closed while more was being sent.
      return
    assert status is not None
    assert status[1].startswith(b"4")


def test_a_port_that_is_taken_is_said():
  with server.listen("127.0.0.1", 0) as taken:
    taken.listen()
    with pytest.raises(ValueError, match=r"cannot listen on 127.0.0.1, port"):
      server.listen("127.0.0.1", taken.getsockname()[1])


def test_a_game_goes_on_with_another_server():
  with serving.process("--port", "0", "--no-warm-up") as found:
    theirs = httpx.post(f"{found}api/move", json=GAME, timeout=60).json()
  with serving.client() as client:
    assert client.post("/api/move", **GAME).json() == theirs
