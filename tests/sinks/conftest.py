"""Servers that sinks send to, one a session."""

from tests.kafka_broker import kafka
from tests.maria_server import maria, shop_database
from tests.postgres_server import database, postgres
from tests.redis_server import cache, redis

__all__ = ["cache", "database", "kafka", "maria", "postgres", "redis", "shop_database"]  # pytest looks for them here
