"""What a request must be before anything is done for it, and the headers of answers.

A page of another site can make a browser send requests here, and with a name that it
points at this machine it could even read the answers. So a request must name a host that
is served, and if it says which page has sent it, that page must be ours.
"""

import asyncio
import hmac
import http.cookies
import ipaddress
import json
import secrets
import urllib.parse

from starlette import datastructures
from starlette import types

from train.serve import bounds

__all__ = ["COOKIE", "Guard", "is_loopback", "make_token"]

COOKIE = "jaxgames_token"

# In which a request's body has to arrive, and an answer's piece has to be taken.
BODY_SECONDS = 10.0
SEND_SECONDS = 30.0

# Nothing from elsewhere, nothing inline, no frames around or within.
POLICY = (
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
}


class _RefusedError(Exception):
  """A request that is not answered; the message is told to who sent it."""

  def __init__(self, status: int, message: str):
    super().__init__(message)
    self.status = status


class Guard:
  """Refuses what must not be answered; passes on the rest, with its body read."""

  def __init__(
    self,
    app: types.ASGIApp,
    *,
    hosts: frozenset[str],
    allows_addresses: bool,
    token: str | None,
    body_seconds: float = BODY_SECONDS,
  ):
    """Guards an application.

    Args:
      app: answers what is passed on.
      hosts: the names, without ports, under which it is served.
      allows_addresses: whether any numeric address is a name too. Nobody can point
        one of those at another machine.
      token: what requests must know; None if everybody may ask.
      body_seconds: in which a body has to arrive.
    """
    self._app, self._token, self._hosts = app, token, hosts
    self._allows_addresses, self._body_seconds = allows_addresses, body_seconds

  async def __call__(
    self, scope: types.Scope, receive: types.Receive, send: types.Send
  ) -> None:
    """Answers a request, as an ASGI application."""
    if scope["type"] != "http":
      await self._app(scope, receive, send)
      return
    send = _with_headers(send)
    headers = datastructures.Headers(scope=scope)
    try:
      self._check_host(headers)
      _check_origin(headers)
      if (token := _token_in_link(scope)) is not None:
        await self._let_in(token, send)
        return
      self._check_token(headers)
      body = await self._read_body(scope, headers, receive)
    except _RefusedError as error:
      await _answer(send, error.status, {"error": str(error)})
      return
    await self._app(scope, _replay(body, receive), send)

  def _check_host(self, headers: datastructures.Headers) -> None:
    host = headers.get("host", "")
    name = urllib.parse.urlsplit(f"//{host}").hostname if _is_plain(host) else None
    is_known = name in self._hosts or (self._allows_addresses and _is_address(name))
    if not is_known:
      raise _RefusedError(421, "this server is not known by that name")

  def _check_token(self, headers: datastructures.Headers) -> None:
    if self._token is None:
      return
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
      given = _cookie(headers)
    if not self._is_token(given):
      raise _RefusedError(
        401, "a token is needed: open the address that `jaxgames serve` has printed"
      )

  async def _let_in(self, token: str, send: types.Send) -> None:
    """Turns the token of a link into a cookie, and leaves it out of the address."""
    if self._token is not None and not self._is_token(token):
      raise _RefusedError(401, "this token is not the one that was printed")
    cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    headers = [(b"location", b"/"), (b"cache-control", b"no-store")]
    if self._token is not None:
      headers.append((b"set-cookie", cookie.encode()))
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})

  def _is_token(self, given: str) -> bool:
    return hmac.compare_digest(given.encode(), (self._token or "").encode())

  async def _read_body(
    self,
    scope: types.Scope,
    headers: datastructures.Headers,
    receive: types.Receive,
  ) -> bytes:
    """Returns the body, which is small, in JSON, and arrives soon."""
    if scope["method"] in ("GET", "HEAD"):
      return b""
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > bounds.MOST_BODY_BYTES:
      raise _too_large()
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
      raise _RefusedError(415, "the body must be of type application/json")
    try:
      async with asyncio.timeout(self._body_seconds):
        return await _collect(receive)
    except TimeoutError:
      raise _RefusedError(408, "the body did not arrive in time") from None


def make_token() -> str:
  """Returns a new token."""
  return secrets.token_urlsafe(24)


def is_loopback(host: str) -> bool:
  """Returns whether only this machine can reach a host."""
  if host == "localhost":
    return True
  try:
    return ipaddress.ip_address(host).is_loopback
  except ValueError:
    return False


def _check_origin(headers: datastructures.Headers) -> None:
  """Refuses what a page of another site has sent."""
  origin = headers.get("origin")
  if origin is not None:
    parts = urllib.parse.urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc != headers.get("host"):
      raise _RefusedError(403, "requests of other sites are not answered")
  # Following a link from elsewhere is no harm; having things done is.
  is_link = headers.get("sec-fetch-mode") == "navigate"
  is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
  if not is_ours and not is_link:
    raise _RefusedError(403, "requests of other sites are not answered")


def _token_in_link(scope: types.Scope) -> str | None:
  if scope["path"] != "/" or scope["method"] != "GET":
    return None
  given = urllib.parse.parse_qs(scope["query_string"].decode("latin-1")).get("token")
  return None if given is None else given[0]


def _cookie(headers: datastructures.Headers) -> str:
  try:
    cookies = http.cookies.SimpleCookie(headers.get("cookie", ""))
  except http.cookies.CookieError:
    return ""
  return cookies[COOKIE].value if COOKIE in cookies else ""


def _is_plain(host: str) -> bool:
  """Returns whether a Host header is a name and perhaps a port, and nothing else."""
  return bool(host) and not set(host) & set("/@\\?# ")


def _is_address(name: str | None) -> bool:
  try:
    ipaddress.ip_address(name or "")
  except ValueError:
    return False
  return True


async def _collect(receive: types.Receive) -> bytes:
  body, has_more = b"", True
  while has_more:
    message = await receive()
    if message["type"] == "http.disconnect":
      raise _RefusedError(400, "the connection was closed")
    body += message.get("body", b"")
    has_more = message.get("more_body", False)
    if len(body) > bounds.MOST_BODY_BYTES:
      raise _too_large()
  return body


def _too_large() -> _RefusedError:
  return _RefusedError(413, f"a body has at most {bounds.MOST_BODY_BYTES} bytes")


def _replay(body: bytes, receive: types.Receive) -> types.Receive:
  """Returns what gives the body once more, and then what comes after it."""
  is_given = False

  async def receive_again() -> types.Message:
    nonlocal is_given
    if is_given:
      return await receive()
    is_given = True
    return {"type": "http.request", "body": body, "more_body": False}

  return receive_again


def _with_headers(send: types.Send) -> types.Send:
  """Returns what adds headers to an answer, and does not wait long for its reader."""

  async def send_soon(message: types.Message) -> None:
    if message["type"] == "http.response.start":
      headers = datastructures.MutableHeaders(scope=message)
      for name, value in HEADERS.items():
        headers.setdefault(name, value)
    async with asyncio.timeout(SEND_SECONDS):
      await send(message)

  return send_soon


async def _answer(send: types.Send, status: int, values: dict[str, str]) -> None:
  body = json.dumps(values).encode()
  headers = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(body)).encode()),
    # What was not read of the request must not be taken for another one.
    (b"connection", b"close"),
  ]
  await send({"type": "http.response.start", "status": status, "headers": headers})
  await send({"type": "http.response.body", "body": body})
