"""Receivers for a file of tests; what they keep is forgotten before each test."""

from collections.abc import Iterator

import pytest

from tests.alerts.receivers import Mailbox, Webhook, mailbox, webhook


@pytest.fixture(scope="session")
def server() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


@pytest.fixture(scope="session")
def postman() -> Iterator[Mailbox]:
    with mailbox() as found:
        yield found


@pytest.fixture
def hook(server: Webhook) -> Webhook:
    """A webhook that answers well and has nothing."""
    server.status, server.wait_s = 200, 0
    server.posted.clear()
    server.asked.clear()
    return server


@pytest.fixture
def mail(postman: Mailbox) -> Mailbox:
    """An empty mailbox."""
    postman.letters.clear()
    return postman
