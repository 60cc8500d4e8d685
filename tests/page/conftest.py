"""Two days of sensors, published; and pages over them, as TestClient asks for them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from muntin.definition.instants import instant_us
from muntin.extensions.page.app import page_app
from muntin.extensions.page.installation import Installation
from tests.end_to_end.hourly import hour
from tests.page.sensors import Sensors, sensors

NOW_US = instant_us(hour(5), "now")
Get = Callable[..., str]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sensors:
    """Nobody may change it."""
    return sensors(tmp_path_factory.mktemp("sensors"))


def client_of(made: Sensors, **other: object) -> TestClient:
    installation = Installation(lambda: {"sensors": made.file}, made.root, made.folder)
    given = {"enter": lambda: None, "may_see": lambda *_: True, "clock": lambda: NOW_US}
    return TestClient(page_app(installation, **(given | other)), raise_server_exceptions=True)


@pytest.fixture(scope="session")
def client(made: Sensors) -> Iterator[TestClient]:
    with client_of(made) as found:
        yield found


@pytest.fixture
def get(client: TestClient) -> Get:
    """The HTML of an address below the pipeline."""

    def ask(path: str, status: int = 200) -> str:
        answer = client.get(f"/pipeline/sensors/{path}")
        assert answer.status_code == status, answer.text
        return answer.text

    return ask


@pytest.fixture
def below(made: Sensors) -> Path:
    return made.root
