"""A real browser for tests: Debian's chromium, driven by playwright."""

from collections.abc import Iterator
import contextlib
import os
import shutil
import time
from typing import Any

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
MISSING = "there is no chromium here: `make browser-test` installs it"

# A container has no user namespaces and no graphics; nothing is fetched or reported.
FLAGS = (
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
)
PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1280, "height": 860}

# Milliseconds: the machine may be busy.
PATIENCE = 60_000


@contextlib.contextmanager
def running() -> Iterator[Any]:
  """Runs the browser."""
  from playwright import sync_api

  with sync_api.sync_playwright() as playwright:
    browser = playwright.chromium.launch(
      executable_path=CHROMIUM, headless=True, args=list(FLAGS)
    )
    try:
      yield browser
    finally:
      browser.close()


@contextlib.contextmanager
def page(browser: Any, **options: Any) -> Iterator[Any]:
  """Opens an empty page; at its end there must have been no error in it."""
  context = browser.new_context(
    **{"viewport": LAPTOP, "reduced_motion": "reduce", **options}
  )
  problems: list[str] = []
  made = context.new_page()
  made.set_default_timeout(PATIENCE)
  made.on("console", lambda said: said.type == "error" and problems.append(said.text))
  made.on("pageerror", lambda error: problems.append(str(error)))
  made.problems = problems
  yield made
  context.close()
  assert not problems, problems


def wait_until(page: Any, expression: str) -> None:
  """Waits for an expression to be true; the page's own policy forbids `eval`."""
  deadline = time.monotonic() + PATIENCE / 1000
  while not page.evaluate(expression):
    if time.monotonic() > deadline:
      raise AssertionError(f"never true: {expression}")
    page.wait_for_timeout(40)
