"""Takes the pictures in docs/: python -m tests.browser.screenshots [DIRECTORY]."""

import pathlib
import sys
import time
import urllib.parse

import httpx
import PIL.Image

from tests.support import browser as browser_lib
from tests.support import paths
from tests.support import serving

CUBE = "5 10 0 15 6 9 3 12 10 5"
WON = "15 12 0 5 5 3 5 6 9 9 6 6 7 9 11 7 11 11 0 0 0 15 8 10 10"
GOMOKU = "h7 i6 i8 g6 j9 k10 h9 h8 g7 f7 i7 j7 i9 g9 i10"


def game(name: str, moves: str, o: str, **more: str) -> str:
  query = {"game": name, "moves": moves, "x": "you", "o": o, "seed": "1", **more}
  return f"play?{urllib.parse.urlencode(query)}"


def take(page, address: str, fragment: str, file: pathlib.Path, *steps) -> None:
  page.goto("about:blank")
  page.goto(f"{address}#{fragment}")
  page.wait_for_selector(".side, .run")
  for step in steps:
    step(page)
  page.wait_for_timeout(500)
  page.screenshot(path=str(file))
  # A page has few colours.
  with PIL.Image.open(file) as image:
    few = image.convert("RGB").quantize(256, dither=PIL.Image.Dither.NONE)
  few.save(file, optimize=True)
  print(f"{file.name}: {file.stat().st_size:,} bytes", flush=True)


def think(page) -> None:
  page.locator("#thinks").check()
  page.wait_for_selector(".bars li")


def review(page) -> None:
  page.get_by_role("button", name="Review the game").click()
  page.wait_for_selector(".review .path")
  browser_lib.wait_until(page, "!document.querySelector('.review progress')")


def draw(page) -> None:
  page.wait_for_selector(".figures img")
  page.locator(".figures img").first.scroll_into_view_if_needed()
  image = "document.querySelector('.figures img')"
  browser_lib.wait_until(page, f"{image}.complete && {image}.naturalWidth > 0")


def main() -> None:
  out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else paths.ROOT / "docs"
  results = paths.ROOT / "results"
  with (
    serving.process("--port", "0", results) as address,
    browser_lib.running() as browser,
  ):
    while not httpx.get(f"{address}api/status", timeout=60).json()["is_ready"]:
      time.sleep(1)
    rows = httpx.get(f"{address}api/runs", timeout=60).json()["runs"]
    ids = {row["label"]: row["id"] for row in rows}
    below = "ttt3d/million/runs/biases_derivative_1/selfplay_"
    kinds = ("deep_structured", "wide_unstructured", "small_structured")
    names = [f"{below}{kind}" for kind in kinds]
    runs = urllib.parse.urlencode({"run": [ids[name] for name in names]}, doseq=True)
    laptop = {"viewport": browser_lib.LAPTOP}
    phone = {"viewport": browser_lib.PHONE}
    dark = {"color_scheme": "dark"}
    cube = game("ttt3d", CUBE, "guided:player=ttt3d,simulations=400")
    won = game("ttt3d", WON, "you")
    best = "lookahead:player=gomoku"
    gomoku = game("gomoku", GOMOKU, best)
    shots = [
      ("serve_play.png", laptop, cube, (think,)),
      ("serve_won.png", {**laptop, **dark}, won, (review,)),
      ("serve_gomoku.png", laptop, gomoku, (think,)),
      ("serve_phone.png", phone, cube, ()),
      ("serve_phone_dark.png", {**phone, **dark}, game("connect4", "3 3 2 4 4 2 3", "mcts:simulations=1000"), ()),
      ("serve_training.png", laptop, f"training?{runs}&metric=score", (lambda page: page.wait_for_selector(".mean"),)),
      ("serve_report.png", laptop, f"reports?{runs}", (draw,)),
    ]  # fmt: skip
    for name, options, fragment, steps in shots:
      with browser_lib.page(browser, **options) as page:
        take(page, address, fragment, out / name, *steps)


if __name__ == "__main__":
  main()
