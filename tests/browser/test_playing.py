"""Games in a real browser: by clicks and by keys, with undo, hints, rematches, links."""

import re
import urllib.parse

import pytest

from tests.support import browser as browser_lib
from tests.support import serving

pytestmark = [
  pytest.mark.xdist_group("browser"),
  pytest.mark.skipif(browser_lib.CHROMIUM is None, reason=browser_lib.MISSING),
]

KINDS = ("tictactoe", "connect4_4x4", "ttt3d", "gomoku:size=7")


@pytest.fixture(scope="module")
def address():
  with serving.process("--port", "0", "--no-warm-up") as found:
    yield found


@pytest.fixture(scope="module")
def browser():
  with browser_lib.running() as found:
    yield found


@pytest.fixture
def page(browser):
  with browser_lib.page(browser) as made:
    yield made


def open_game(page, address, game, moves="", x="you", o="random", view="play"):
  query = {
    "game": game,
    "x": x,
    "o": o,
    "seed": 7,
    **({"moves": moves} if moves else {}),
  }
  page.goto(f"{address}#{view}?{urllib.parse.urlencode(query)}")
  page.wait_for_selector(".bar .side")


def moves(page):
  return [move.text_content() for move in page.query_selector_all(".moves .move")]


def link(page):
  return urllib.parse.parse_qs(page.evaluate("location.hash").partition("?")[2])


def is_over(page):
  return page.evaluate(
    "!!document.querySelector('.side.has-won')"
    " || document.querySelector('.result')?.textContent === 'draw'"
  )


def wait_for_turn(page):
  browser_lib.wait_until(
    page,
    "document.querySelector('.side.has-won')"
    " || document.querySelector('.result')?.textContent === 'draw'"
    " || document.querySelector('.side.on .doing')?.textContent === 'your move'",
  )


@pytest.mark.parametrize("game", KINDS)
def test_a_whole_game_by_clicks(page, address, game):
  open_game(page, address, game)
  while not is_over(page):
    before = len(moves(page))
    # Dispatched, as a stone may still be falling over the cell.
    page.locator(".cell.open").first.dispatch_event("click")
    browser_lib.wait_until(
      page, f"document.querySelectorAll('.move').length > {before}"
    )
    wait_for_turn(page)
  assert len(moves(page)) >= 5
  assert link(page)["moves"] == [" ".join(moves(page))]
  assert page.locator(".cell.last").count() == 1
  assert not page.locator(".cell.open").count()


# Where a cell is: its level, row and column. Levels are shown from the highest down.
PLACE = """cell => {
  const panels = [...document.querySelectorAll('.panel')].reverse();
  const rows = [...cell.closest('svg').querySelectorAll('[role=row]')];
  const row = cell.closest('[role=row]');
  const columns = [...row.querySelectorAll('.cell')];
  return [panels.indexOf(cell.closest('.panel')), rows.indexOf(row), columns.indexOf(cell)];
}"""


def go_by_keys(page, cell):
  """Moves the focus from cell to cell with the keys of a keyboard alone."""
  here = page.evaluate(f"({PLACE})(document.activeElement)")
  there = cell.evaluate(PLACE)
  keys = ("PageUp", "PageDown"), ("ArrowDown", "ArrowUp"), ("ArrowRight", "ArrowLeft")
  for (forth, back), start, end in zip(keys, here, there, strict=True):
    for _ in range(abs(end - start)):
      page.keyboard.press(forth if end > start else back)


@pytest.mark.parametrize("game", KINDS)
def test_a_whole_game_by_keys(page, address, game):
  open_game(page, address, game)
  for _ in range(60):
    if page.evaluate("document.activeElement.matches('.cell')"):
      break
    page.keyboard.press("Tab")
  while not is_over(page):
    before = len(moves(page))
    go_by_keys(page, page.locator(".cell.open").last)
    page.keyboard.press("Enter")
    browser_lib.wait_until(
      page, f"document.querySelectorAll('.move').length > {before}"
    )
    wait_for_turn(page)
  assert page.locator("#announcer").text_content().startswith(("X plays", "O plays"))


def test_the_winning_line_is_lit_and_the_result_is_said(page, address):
  open_game(page, address, "tictactoe", "0 3 1 4", o="you")
  page.locator(".cell[data-cell='2']").click()
  page.wait_for_selector(".side-x.has-won")
  assert page.locator(".cell.won").count() == 3
  assert page.locator(".won-lines line").count() == 1
  assert "X wins" in page.locator("#announcer").text_content()


def test_undo_takes_back_to_the_persons_last_turn(page, address):
  open_game(page, address, "tictactoe", "4 0")
  page.locator(".cell.open").first.click()
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length >= 4")
  wait_for_turn(page)
  page.get_by_role("button", name="Undo").click()
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 2")
  assert moves(page) == ["4", "0"]
  page.keyboard.press("u")
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 0")
  assert "moves" not in link(page)


def test_a_hint_marks_the_winning_move(page, address):
  open_game(page, address, "tictactoe", "0 3 1 4")
  page.get_by_role("button", name="Hint").click()
  page.wait_for_selector(".cell.hinted")
  assert page.locator(".cell.hinted").get_attribute("data-cell") == "2"
  assert page.locator(".note").text_content() == "Hint: 2"


def test_a_rematch_changes_sides(page, address):
  open_game(page, address, "tictactoe", "0 3 1 4 2")
  page.wait_for_selector(".side.has-won")
  page.get_by_role("button", name="Rematch").click()
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 1")
  assert (link(page)["x"], link(page)["o"]) == (["random"], ["you"])


def test_a_link_leads_to_the_same_position_in_another_window(page, browser, address):
  open_game(page, address, "connect4", "3 3 2")
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 4")
  with browser_lib.page(browser) as another:
    another.goto(page.url)
    another.wait_for_selector(".cell.last")
    assert moves(another) == moves(page)
    stones = ".has-x, .has-o"
    assert another.locator(stones).count() == page.locator(stones).count() == 4


def test_moves_can_be_typed_as_match_records_them(page, address):
  open_game(page, address, "connect4", o="you")
  page.get_by_label("Moves to load").fill("game 0: A begins, B wins: 3 3 2")
  page.get_by_role("button", name="Load").click()
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 3")
  page.get_by_label("Moves to load").fill("9")
  page.get_by_role("button", name="Load").click()
  browser_lib.wait_until(
    page, "document.querySelector('.note').textContent.includes('9')"
  )
  assert moves(page) == ["3", "3", "2"]
  # Said by the server as an error, which the browser reports as well.
  assert all("400" in problem for problem in page.problems)
  page.problems.clear()


def test_the_cube_is_turned_by_hand_and_by_keys_and_played_on(page, address):
  open_game(page, address, "ttt3d", o="you")

  def pegs():
    return page.evaluate("document.querySelector('.peg').getAttribute('x1')")

  cube = page.locator("svg.cube").bounding_box()
  middle = cube["x"] + cube["width"] / 2, cube["y"] + cube["height"] / 2
  before = pegs()
  page.mouse.move(*middle)
  page.mouse.down()
  page.mouse.move(middle[0] + 90, middle[1] + 20, steps=4)
  page.mouse.up()
  dragged = pegs()
  assert dragged != before
  assert moves(page) == []
  page.locator("svg.cube").focus()
  page.keyboard.press("ArrowLeft")
  assert pegs() != dragged
  reach = page.locator(".reach[data-action='6']")
  box = reach.evaluate(
    "line => { const {x, y, width, height} = line.getBoundingClientRect();"
    " return [x + width / 2, y + height / 2]; }"
  )
  page.mouse.click(*box)
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 1")
  assert page.locator("circle.bead-x").count() == 1


def test_thoughts_are_on_the_board_and_in_words(page, address):
  open_game(page, address, "tictactoe", "0 3 1 4")
  page.get_by_label("What does the agent think?").check()
  page.wait_for_selector(".bars li")
  assert page.locator(".cell .heat text").count() == 5
  assert page.locator(".bars li").first.text_content() == "2wins in 1 move"
  assert page.locator(".expects").text_content() == "expects 2"
  label = page.locator(".cell[data-cell='2']").get_attribute("aria-label")
  assert label == "2, empty, value W1, playable"


def test_a_review_marks_the_mistake_that_lost(page, address):
  # O answers a corner not in the middle, which loses; X then wins.
  open_game(page, address, "tictactoe", "0 1 3 6 4 5 8", o="you")
  page.get_by_role("button", name="Review the game").click()
  page.wait_for_selector(".mistakes li")
  browser_lib.wait_until(page, "!document.querySelector('.review progress')")
  found = page.locator(".mistakes li").all_text_contents()
  assert any(line.startswith("2. O 1") and "Blunder" in line for line in found)
  page.locator(".mistakes button").first.click()
  browser_lib.wait_until(
    page, "document.querySelector('.count').textContent === '2 / 7'"
  )


def test_two_players_are_watched_by_steps_and_by_themselves(page, address):
  open_game(page, address, "tictactoe", x="random", o="attack", view="watch")
  assert moves(page) == []
  page.get_by_role("button", name="Step").click()
  browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 1")
  page.get_by_label("Pace").select_option("0")
  page.get_by_role("button", name="Let them play").click()
  browser_lib.wait_until(
    page,
    "document.querySelector('.side.has-won')"
    " || document.querySelector('.result')?.textContent === 'draw'",
  )
  assert len(moves(page)) >= 5


def test_another_game_and_size_are_chosen(page, address):
  open_game(page, address, "tictactoe", o="you")
  page.get_by_role("combobox", name="Game").select_option("gomoku")
  page.wait_for_selector(".panels.lines")
  page.get_by_role("combobox", name="Size").select_option("9")
  browser_lib.wait_until(page, "document.querySelectorAll('.cell').length == 81")
  assert link(page)["game"] == ["gomoku:size=9"]


def test_what_is_wrong_is_said(page, address):
  page.goto(f"{address}#play?game=tictactoe&moves=0+0")
  page.wait_for_selector(".problem")
  assert "move 2, 0" in page.locator(".problem").text_content()
  page.problems.clear()  # The browser reports the answer 400.


def test_colours_follow_the_system_and_the_switch(page, address):
  open_game(page, address, "tictactoe", o="you")

  def paper():
    return page.evaluate("getComputedStyle(document.body).backgroundColor")

  light = paper()
  page.emulate_media(color_scheme="dark")
  dark = paper()
  assert dark != light
  page.locator("#theme").click()
  assert paper() == light
  page.locator("#theme").click()
  page.emulate_media(color_scheme="light")
  assert paper() == dark


def test_every_control_has_a_name_and_the_page_fits_a_phone(browser, address):
  with browser_lib.page(browser, viewport=browser_lib.PHONE) as page:
    for game in KINDS:
      open_game(page, address, game, o="you")
      width = page.evaluate("document.documentElement.scrollWidth")
      assert width <= browser_lib.PHONE["width"]
      nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input, [role=gridcell]')]"
        ".filter(one => !one.textContent.trim() && !one.ariaLabel && !one.labels?.length)"
        ".map(one => one.outerHTML)"
      )
      assert nameless == []


def test_nobody_loses_a_game_when_the_server_restarts(page):
  with serving.process("--port", "0", "--no-warm-up") as first:
    open_game(page, first, "tictactoe", "4")
    browser_lib.wait_until(page, "document.querySelectorAll('.move').length == 2")
    port = re.search(r":(\d+)/", first)[1]
  played = moves(page)
  page.locator(".cell.open").first.click()  # While there is no server.
  with serving.process("--port", port, "--no-warm-up"):
    browser_lib.wait_until(page, "document.querySelectorAll('.move').length >= 4")
  assert moves(page)[:2] == played
  assert all("ERR_CONNECTION" in problem for problem in page.problems)
  page.problems.clear()
