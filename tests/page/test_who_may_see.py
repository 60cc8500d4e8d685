"""Who has not entered gets 401 everywhere; who may not see a pipeline gets 403, and nothing of it in the overview."""

import pytest
from fastapi import HTTPException

from tests.page.conftest import client_of
from tests.page.sensors import Sensors
from tests.page.test_pages import EVERY_PAGE

BESIDE = ("/", "/static/page.css", "/static/page.js", "/nothing", "/pipeline", "/pipeline/others/timeline", "/docs", "/openapi.json")


def nobody() -> None:
    raise HTTPException(401, "Not authenticated")


@pytest.mark.parametrize("path", [*BESIDE, *(f"/pipeline/sensors/{path}" for path in EVERY_PAGE)])
def test_a_stranger_gets_401(made: Sensors, path: str) -> None:
    answer = client_of(made, enter=nobody).get(path)
    assert answer.status_code == 401
    assert "sensors" not in answer.text


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_what_one_may_not_see_is_403(made: Sensors, path: str) -> None:
    others = {right: lambda _, name: name != "sensors" for right in ("may_see", "may_see_forgotten")}
    answer = client_of(made, **others).get(f"/pipeline/sensors/{path}")
    assert answer.status_code == 403
    assert "two_hours" not in answer.text


def test_what_does_not_exist_is_told_to_nobody_who_may_not_see_it(made: Sensors) -> None:
    assert client_of(made, may_see=lambda *_: False).get("/pipeline/others/timeline").status_code == 403


def test_the_overview_lists_what_one_may_see(made: Sensors) -> None:
    assert "sensors" not in client_of(made, may_see=lambda *_: False).get("/").text
    assert "sensors" in client_of(made).get("/").text


def test_what_was_forgotten_has_a_right_of_its_own(made: Sensors) -> None:
    """Who may see the rows need not see whose keys were forgotten when, nor the other way round."""
    of_rows, of_forgotten = client_of(made, may_see_forgotten=lambda *_: False), client_of(made, may_see=lambda *_: False)
    answers = {
        path: [client.get(f"/pipeline/sensors/{path}").status_code for client in (of_rows, of_forgotten)] for path in ("now", "forgotten")
    }
    assert answers == {"now": [200, 403], "forgotten": [403, 200]}
    assert "sensors.forget_keys" in of_rows.get("/pipeline/sensors/forgotten").text
    assert 'href="forgotten"' not in of_rows.get("/pipeline/sensors/now").text
    assert 'href="now"' not in of_forgotten.get("/pipeline/sensors/forgotten").text
    assert of_forgotten.get("/pipeline/sensors.forget_keys/now").url.path == "/pipeline/sensors/forgotten"
