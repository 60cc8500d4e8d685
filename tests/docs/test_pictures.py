"""The pictures of docs/windows show what the pages beside them say, and are those the engine draws now."""

import re
from pathlib import Path

import pytest

from docs.windows.panel import Panel, told
from docs.windows.pictures import FIRST_PAGE, HERE, first_page
from tests.catalogue.kinds import KINDS, Kind

DRAWN = [kind for kind in KINDS if kind.picture and (HERE / f"{kind.page}.md").exists() and (HERE / f"{kind.page}.svg").exists()]
"""What is missing is told by `tests/catalogue/test_nothing_is_missing.py`."""


def said(page: Path) -> list[list[str]]:
    """The windows of a page's text: a block for each panel, the definition first."""
    return [block.splitlines() for block in re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize("kind", DRAWN, ids=lambda kind: kind.name)
def test_a_page_says_which_windows_its_picture_shows(kind: Kind) -> None:
    page = HERE / f"{kind.page}.md"
    assert f"]({kind.page}.svg)" in page.read_text(encoding="utf-8")
    assert said(page)[: len(kind.picture)] == [told(panel) for panel in kind.picture]


@pytest.mark.parametrize("kind", DRAWN, ids=lambda kind: kind.name)
def test_a_picture_is_drawn_as_it_would_be_now(kind: Kind, tmp_path: Path) -> None:
    from docs.windows.draw import draw

    draw(kind.picture, tmp_path / "now.svg")
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text()) for path in (tmp_path / "now.svg", HERE / f"{kind.page}.svg")]
    assert texts[0] == texts[1]
    assert all(panel.label(window) in " ".join(texts[0]) for panel in kind.picture for window in panel.drawn)


def test_the_list_of_windows_is_what_the_table_gives() -> None:
    assert first_page() == FIRST_PAGE.read_text(encoding="utf-8"), "write it anew by python -m docs.windows.pictures"


# 0 1 | 2, in two batches of ten seconds; the second has not come when the first ends
def test_a_window_that_no_batch_closes_is_told_as_open() -> None:
    panel = Panel('tumbling("15s")', ((0, 1), (2, 16)), 10)
    assert told(panel)[1:] == ["[0, 15): 0 1 2", "[15, 30): 16 open"]
