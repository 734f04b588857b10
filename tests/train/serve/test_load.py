"""Many people at once, for a moment; `make browser-test` has 200 for a minute."""

import asyncio

from tests.support import load
from tests.support import serving


def test_thirty_people_at_once_are_answered_without_an_error():
  with serving.process("--port", "0", "--no-warm-up") as address:
    found = asyncio.run(
      load.play(address, load.QUICK_TABLES, clients=30, seconds=15, pause=0.05)
    )
  assert not found.errors
  assert found.summary()["/api/move"]["n"] >= 30
