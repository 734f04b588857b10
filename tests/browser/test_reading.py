"""Training and reports in a real browser, while a run is being trained."""

import time

import pytest

from tests.support import browser as browser_lib
from tests.support import reports
from tests.support import runs as runs_support
from tests.support import serving

pytestmark = [
  pytest.mark.xdist_group("browser"),
  pytest.mark.skipif(browser_lib.CHROMIUM is None, reason=browser_lib.MISSING),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
  directory = tmp_path_factory.mktemp("runs")
  reports.write_run(directory / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  reports.write_run(directory / "wide", reports.TWO_TRIALS[::-1], paper=reports.WIDE)
  return directory


@pytest.fixture(scope="module")
def address(root):
  with serving.process("--port", "0", "--no-warm-up", root) as found:
    yield found


@pytest.fixture(scope="module")
def browser():
  with browser_lib.running() as found:
    yield found


@pytest.fixture
def page(browser):
  with browser_lib.page(browser) as made:
    yield made


def test_a_run_that_trains_in_another_process_is_followed(page, address, root):
  page.goto(f"{address}#training")
  page.wait_for_selector(".run")
  page.get_by_role("button", name="None").click()
  trained = root / "training"
  running = runs_support.process(
    "start", trained, "games=4000000", "test={every: 20, games: 4, against: random}"
  )
  try:
    page.get_by_role("checkbox", name="training").check()

    def points():
      path = (
        page.locator(".mean").get_attribute("d") if page.query_selector(".mean") else ""
      )
      return path.count("L")

    page.wait_for_selector(".mean")
    first, deadline = points(), time.monotonic() + 60
    while points() <= first and time.monotonic() < deadline:
      page.wait_for_timeout(300)
    assert points() > first
    assert page.locator(".run.training .run-state").text_content() == "training"
    assert running.poll() is None
  finally:
    running.terminate()
    running.communicate(timeout=60)


def test_runs_are_overlaid_read_off_and_zoomed(page, address):
  page.goto(f"{address}#training")
  page.wait_for_selector(".run")
  page.get_by_role("button", name="None").click()
  for name in ("deep", "wide"):
    page.get_by_role("checkbox", name=name).check()
  browser_lib.wait_until(page, "document.querySelectorAll('.mean').length == 2")
  assert page.locator(".band").count() == 2
  page.wait_for_selector(".reference-label")
  page.locator("svg.chart").focus()
  page.keyboard.press("ArrowRight")
  said = page.locator("#announcer").text_content()
  assert said.startswith("101 games. deep: 0.1")
  assert "2 trials" in said
  before = page.locator(".mean").first.get_attribute("d")
  page.keyboard.press("+")
  assert page.locator(".mean").first.get_attribute("d") != before
  page.keyboard.press("Escape")
  assert page.locator(".mean").first.get_attribute("d") == before
  box = page.locator("svg.chart").bounding_box()
  page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 100)
  page.mouse.down()
  page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 100, steps=3)
  page.mouse.up()
  assert page.locator(".mean").first.get_attribute("d") != before
  page.get_by_role("button", name="Whole range").click()
  assert page.locator(".mean").first.get_attribute("d") == before


def test_a_link_leads_to_the_same_curves(page, address):
  page.goto(f"{address}#training")
  page.wait_for_selector(".run")
  page.get_by_role("button", name="None").click()
  page.get_by_role("checkbox", name="deep").check()
  page.get_by_label("Band").select_option("range")
  page.wait_for_selector(".mean")
  url = page.url
  page.goto(f"{address}#play?game=tictactoe&o=you")
  page.wait_for_selector(".bar .side")
  page.goto(url)
  page.wait_for_selector(".mean")
  assert page.locator(".run input:checked").count() == 1
  assert page.get_by_label("Band").input_value() == "range"


def test_reports_have_sortable_tables_and_figures(page, address):
  page.goto(f"{address}#reports")
  page.wait_for_selector(".run")
  for name in ("deep", "wide"):
    page.get_by_role("checkbox", name=name).check()
  page.wait_for_selector(".table-box table")
  rows = ".table-box >> nth=0 >> tbody >> nth=0 >> tr:not(.group) th"
  before = page.locator(rows).all_text_contents()
  page.locator(".table-box").first.get_by_role("button", name="ours").click()
  assert page.locator("th[aria-sort='descending']").count() == 1
  page.locator(".table-box").first.get_by_role("button", name="row").click()
  after = page.locator(rows).all_text_contents()
  assert sorted(before) == sorted(after) == after
  image = page.locator(".figures img").first
  image.scroll_into_view_if_needed()
  browser_lib.wait_until(
    page,
    "document.querySelector('.figures img').complete"
    " && document.querySelector('.figures img').naturalWidth > 0",
  )
