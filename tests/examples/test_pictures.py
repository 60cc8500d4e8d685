"""The pictures of docs/windows show what the pages beside them say, and are those the engine draws now."""

import re
from pathlib import Path

import pytest

from docs.windows.pictures import HERE, PICTURES, Panel, told
from pipelines import windows


def said(page: Path) -> list[list[str]]:
    """The windows of a page's text: a block for each panel, the definition first."""
    return [block.splitlines() for block in re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)]


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_says_which_windows_its_picture_shows(name: str) -> None:
    page = HERE / f"{name}.md"
    assert f"]({name}.svg)" in page.read_text(encoding="utf-8")
    assert said(page)[: len(PICTURES[name])] == [told(panel) for panel in PICTURES[name]]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn_as_it_would_be_now(name: str, tmp_path: Path) -> None:
    from docs.windows.draw import draw

    draw(PICTURES[name], tmp_path / "now.svg")
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text()) for path in (tmp_path / "now.svg", HERE / f"{name}.svg")]
    assert texts[0] == texts[1]
    assert all(panel.label(window) in " ".join(texts[0]) for panel in PICTURES[name] for window in panel.drawn)


# 0 1 | 2, in two batches of ten seconds; the second has not come when the first ends
def test_a_window_that_no_batch_closes_is_told_as_open() -> None:
    panel = Panel("tumbling", windows.tumbling("15s"), ((0, 1), (2, 16)), 10)
    assert told(panel)[1:] == ["[0, 15): 0 1 2", "[15, 30): 16 open"]
