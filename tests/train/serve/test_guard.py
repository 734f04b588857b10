"""Which requests are answered at all."""

import asyncio

import pytest

from tests.support import serving
from train.serve import bounds
from train.serve import guard
from train.serve import server

TOKEN = "a-token-of-tests"
JSON = {"content-type": "application/json"}


async def answer(scope, receive, send):
  """Answers with the body that it gets."""
  message = await receive()
  await send({"type": "http.response.start", "status": 200, "headers": []})
  await send({"type": "http.response.body", "body": message["body"]})


def make_client(token=None, body_seconds=0.2, **given):
  options = {"hosts": frozenset({"127.0.0.1"}), "allows_addresses": False, **given}
  return serving.Client(
    guard.Guard(answer, token=token, body_seconds=body_seconds, **options)
  )


@pytest.fixture
def client():
  made = make_client()
  yield made
  made.close()


@pytest.fixture
def locked():
  made = make_client(TOKEN)
  yield made
  made.close()


@pytest.mark.parametrize(
  "host",
  ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "a@127.0.0.1"],
)
def test_other_names_of_this_machine_are_not_served(client, host):
  assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8642", "127.0.0.1:1"])
def test_the_own_name_is_served_on_any_port(client, host):
  assert client.get("/", headers={"host": host}).status_code == 200


def test_behind_another_address_only_numbers_and_given_names_are_served():
  made = serving.Client(server.protect(answer, "0.0.0.0", None, ["box.example"]))
  hosts = {"192.0.2.7:8642": 200, "box.example": 200, "evil.example": 421}
  for host, status in hosts.items():
    assert made.get("/", headers={"host": host}).status_code == status
  made.close()


@pytest.mark.parametrize(
  "headers",
  [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "null"},
    {"origin": f"ftp://{serving.HOST}"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
  ],
)
def test_requests_of_other_sites_are_refused(client, headers):
  sent = client.request("POST", "/", content=b"{}", headers={**JSON, **headers})
  assert sent.status_code == 403


@pytest.mark.parametrize(
  "headers",
  [
    {"origin": f"http://{serving.HOST}", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    {},
  ],
)
def test_our_own_page_and_links_to_it_are_answered(client, headers):
  assert client.get("/", headers=headers).status_code == 200


def test_a_form_cannot_be_sent(client):
  headers = {"content-type": "application/x-www-form-urlencoded"}
  assert client.request("POST", "/", content=b"a=b", headers=headers).status_code == 415


def test_large_bodies_are_refused_whether_or_not_they_say_so(client):
  large = b"x" * (bounds.MOST_BODY_BYTES + 1)

  async def in_pieces():
    yield large[:10]
    yield large[10:]

  for content in (large, in_pieces()):
    assert client.request("POST", "/", content=content, headers=JSON).status_code == 413
  whole = b"x" * bounds.MOST_BODY_BYTES
  assert client.request("POST", "/", content=whole, headers=JSON).content == whole


def test_a_body_that_does_not_come_is_not_waited_for(client):
  async def slow():
    yield b"{"
    await asyncio.sleep(5)
    yield b"}"

  sent = client.request("POST", "/", content=slow(), headers=JSON)
  assert sent.status_code == 408


def test_without_the_token_nothing_is_answered(locked):
  for headers in (
    {},
    {"authorization": "Bearer wrong"},
    {"authorization": f"Basic {TOKEN}"},
    {"cookie": f"{guard.COOKIE}=wrong"},
    {"cookie": "=;;=\x01"},
  ):
    assert locked.get("/", headers=headers).status_code == 401
  assert locked.get("/?token=wrong").status_code == 401
  assert locked.get("/api/setup?token=" + TOKEN).status_code == 401


def test_the_token_of_the_link_becomes_a_cookie(locked):
  entered = locked.get(f"/?token={TOKEN}")
  assert (entered.status_code, entered.headers["location"]) == (303, "/")
  cookie = entered.headers["set-cookie"]
  assert "HttpOnly" in cookie
  assert "SameSite=Strict" in cookie
  name_and_value = cookie.partition(";")[0]
  assert locked.get("/", headers={"cookie": name_and_value}).status_code == 200
  assert (
    locked.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
  )


def test_every_answer_forbids_frames_and_foreign_scripts(client):
  for headers in ({}, {"host": "evil.example"}):
    found = client.get("/", headers=headers).headers
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert found["x-content-type-options"] == "nosniff"


def test_loopback_is_what_only_this_machine_reaches():
  hosts = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "192.0.2.7", "box.example")
  assert [guard.is_loopback(host) for host in hosts] == [True] * 3 + [False] * 3


def test_tokens_differ():
  assert len({guard.make_token() for _ in range(20)}) == 20
