"""What the page says of keys that were forgotten: when, how many and where, and never which."""

from pathlib import Path

from muntin import forget
from tests.page.conftest import client_of
from tests.page.sensors import SCRIPT, sensors
from tests.page.test_pages import table, words


def test_the_page_lists_what_was_forgotten_without_the_keys(tmp_path: Path) -> None:
    made = sensors(tmp_path)
    assert "No key was forgotten." in client_of(made).get("/pipeline/sensors/forgotten").text
    assert forget(made.pipeline, [{"<b>key</b>": SCRIPT}], root=made.root).done
    page = client_of(made).get("/pipeline/sensors/forgotten").text
    assert "Keys forgotten: 1." in words(page)
    assert [row[1:3] for row in table(page)] == [["done", "1"], ["forget", "1"]]
    assert "rows in sensors/windows/hour: 1" in words(page)
    assert "alert(1)" not in page
    assert "something may be left" not in page
