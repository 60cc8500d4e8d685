"""The pages in a browser: on a narrow screen each value is there beside the head of its column; while an answer comes, a sign says so."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from playwright.sync_api import Page

from tests.airflow.page.browser import browser
from tests.case_counts import at_length
from tests.page.conftest import client_of
from tests.page.sensors import Sensors

NARROW = {"width": 400, "height": 900}
TABS = ("now", "windows", "changes?since=0", "batches", "plan?from=2024-01-01&to=2024-01-01T02:00", "quarantine", "suites")
OUT_OF_SIGHT = """() => [...document.querySelectorAll("td, th")].filter((cell) => cell.getBoundingClientRect().right > innerWidth).length"""
HEADS = """() => [...document.querySelectorAll(".wide > table")].flatMap((table) => {
  const row = table.tBodies[0].rows[0];
  const cells = [...(row?.cells ?? [])].filter((cell) => cell.dataset.head);
  return cells.map((cell) => getComputedStyle(cell, "::before").content.slice(1, -1));
})"""

NOTE_SIGN = """() => document.addEventListener("click", () => {
  if (document.documentElement.dataset.loading) sessionStorage.sign = document.getElementById("loading").textContent;
})"""


@contextmanager
def served(made: Sensors) -> Iterator[str]:
    """The address of the page."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(client_of(made).app, log_level="warning"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def narrow(made: Sensors) -> Iterator[Page]:
    with served(made) as url, browser() as opened:
        if opened is None:
            pytest.skip("no browser: setup/browser.sh installs one where it can")
        yield opened.new_context(viewport=NARROW, base_url=url).new_page()


@at_length
def test_a_narrow_screen_loses_no_column(narrow: Page) -> None:
    for path in ("", *(f"pipeline/sensors/{tab}" for tab in TABS)):
        narrow.goto(f"/{path}")
        assert narrow.evaluate(OUT_OF_SIGHT) == 0, path
        assert narrow.evaluate("() => document.documentElement.scrollWidth") == NARROW["width"], path
    narrow.goto("/pipeline/sensors/batches")
    assert narrow.evaluate(HEADS)[:4] == ["batch", "state", "read", "accepted"]


@at_length
def test_a_sign_is_there_while_an_answer_comes(narrow: Page) -> None:
    narrow.goto("/pipeline/sensors/now")
    narrow.evaluate(NOTE_SIGN)
    narrow.get_by_role("link", name="Windows", exact=True).last.click()
    narrow.wait_for_url("**/windows")
    assert narrow.evaluate("() => sessionStorage.sign") == "Loading"
    assert narrow.evaluate("() => document.documentElement.dataset.loading") is None
