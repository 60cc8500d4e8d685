"""Servers that sinks send to, one a session."""

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
