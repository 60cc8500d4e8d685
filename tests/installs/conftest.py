"""The place where the tests of a file install."""

import pytest

from tests.installs.install import Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("installs"))
    made.build()
    return made
