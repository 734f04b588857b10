"""A real process with a real socket: slow clients, and the end of a server."""

import re
import socket
import time
import urllib.parse

import httpx
import pytest

from tests.support import serving
from train.serve import server

# One process of a server is enough for these.
pytestmark = pytest.mark.xdist_group("serve")

GAME = {"game": "tictactoe", "moves": "4 0", "player": "random", "seed": 3}


@pytest.fixture(scope="module")
def address():
  with serving.process("--port", "0", "--no-warm-up") as found:
    yield found


def connect(address):
  parts = urllib.parse.urlsplit(address)
  return socket.create_connection((parts.hostname, parts.port), timeout=30)


def test_a_game_goes_on_after_the_server_has_ended(address):
  before = httpx.post(f"{address}api/move", json=GAME, timeout=60).json()
  with serving.process("--port", "0", "--no-warm-up") as another:
    assert another != address
    assert httpx.post(f"{another}api/move", json=GAME, timeout=60).json() == before


def test_half_a_head_is_not_waited_for_and_others_are_answered(address, monkeypatch):
  with connect(address) as slow:
    slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
    begin = time.monotonic()
    assert httpx.get(address, timeout=20).status_code == 200
    slow.settimeout(server.HEAD_SECONDS + 15)
    assert slow.recv(1000) == b""
    assert time.monotonic() - begin >= server.HEAD_SECONDS - 1


@pytest.mark.parametrize(
  "sent",
  [
    b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /api/move HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999\r\n\r\n",
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
