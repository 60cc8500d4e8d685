"""Airflow's web page as a person uses it: sign in, open a tab, fill in the form for backfills."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, FrameLocator, Locator, Page, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]  # calls nobody on a closed network
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", *QUIET]  # no sandbox: for root
SIZE = {"width": 1400, "height": 1000}
NARROW = {"width": 480, "height": 1000}
PATIENCE_MS = 30_000


def chromium() -> str | None:
    """The path of a browser of this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Browser | None]:
    """A browser of the machine, or Playwright's own; None where there is neither."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        except Error:
            yield None
            return
        yield found
        found.close()


@contextmanager
def signed_in(opened: Browser, url: str, user: str, **style: Any) -> Iterator[Page]:
    """A page of Airflow's, signed in. `style`: `color_scheme`, `viewport`."""
    context = opened.new_context(**{"viewport": SIZE, "timezone_id": "UTC", **style})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.locator("input[name=username]").fill(user)
    page.locator("input[name=password]").fill(f"{user}-password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Browse").or_(page.get_by_label("Browse")).first.wait_for()
    yield page
    context.close()


def inside(page: Page) -> FrameLocator:
    """The page of windows in Airflow's frame."""
    return page.frame_locator("iframe")


def backfill(page: Page, first: date, last: date, *, at_once: int, shot: Path) -> None:
    """Fill in the form of the DAG that the page is about, all runs again, and send it."""
    page.get_by_role("button", name="Trigger").first.click()
    dialog = page.get_by_role("dialog").first
    dialog.get_by_text("Run this Dag for a range of dates").click()
    dialog.get_by_text("Date Range").wait_for()
    _pick(page, dialog, "From", first)
    _pick(page, dialog, "To", last)
    dialog.get_by_text("All Runs").click()
    dialog.locator("input[name=max_active_runs]").fill(str(at_once))
    page.screenshot(path=shot)
    dialog.get_by_role("button", name="Run Backfill").click()
    dialog.wait_for(state="hidden")


def _pick(page: Page, dialog: Locator, label: str, day: date) -> None:
    """A click opens a popover with a field for the date and another for the time; a click beside it closes it, Escape would close all."""
    dialog.get_by_text("Select date and time").first.click()
    page.get_by_role("textbox", name=label).fill(f"{day:%Y/%m/%d}")
    page.get_by_placeholder("HH:mm").locator("visible=true").last.fill("00:00")
    dialog.get_by_text("Date Range").click()
    page.get_by_role("textbox", name=label).wait_for(state="hidden")
