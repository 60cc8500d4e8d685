"""Servers that sinks send to, one a session. `make test` tries the table of sinks on two of them."""

import pytest

from tests.case_counts import at_length
from tests.jvm_servers import metastore, rest_catalog
from tests.kafka_broker import kafka
from tests.maria_server import maria, shop_database
from tests.postgres_server import database, postgres
from tests.redis_server import cache, redis

__all__ = [  # pytest looks for them here
    "cache",
    "database",
    "kafka",
    "maria",
    "metastore",
    "postgres",
    "redis",
    "rest_catalog",
    "shop_database",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other sinks than PostgreSQL's and Redis' are tried at length."""
    for item in items:
        if "tests/sinks/" in item.nodeid:
            from tests.sinks.places import Keys, Place, Table

            values = item.callspec.params.values() if hasattr(item, "callspec") else ()
            kinds = {value for value in values if isinstance(value, type) and issubclass(value, Place)}
            if kinds and kinds.isdisjoint({Table, Keys}):
                item.add_marker(at_length)
