"""The door of `muntin ui`: a token in the link, then a cookie; by the machine's own name alone."""

import pytest
from starlette.testclient import TestClient

from muntin.extensions.page.commands.ui import ByToken
from tests.page.conftest import client_of
from tests.page.sensors import Sensors

TOKEN, PORT = "right", 8123
ADDRESSES = ("/", "/static/page.css", "/pipeline/sensors/timeline", "/pipeline/sensors/nothing", "/nothing", "/?token=wrong", "/?token=")


@pytest.fixture
def stranger(made: Sensors) -> TestClient:
    return TestClient(ByToken(client_of(made).app, TOKEN, PORT), base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False)


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_the_token_every_address_says_401(stranger: TestClient, address: str) -> None:
    assert stranger.get(address).status_code == 401


def test_the_link_gives_a_cookie_and_is_forgotten(stranger: TestClient) -> None:
    answer = stranger.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in answer.headers["set-cookie"].split(";")}
    assert stranger.get("/").status_code == 200
    assert stranger.get("/static/page.css").status_code == 200


def test_a_wrong_cookie_is_none(stranger: TestClient) -> None:
    stranger.cookies.set(f"muntin_{PORT}", "wrong")
    assert stranger.get("/").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""])
def test_another_host_name_says_400_whatever_is_given(stranger: TestClient, host: str) -> None:
    stranger.cookies.set(f"muntin_{PORT}", TOKEN)
    assert stranger.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 400


def test_localhost_is_this_machine_too(stranger: TestClient) -> None:
    assert stranger.get(f"/?token={TOKEN}", headers={"host": f"localhost:{PORT}"}).status_code == 303
