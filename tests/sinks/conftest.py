"""Servers that sinks send to, one a session."""

from tests.kafka_broker import kafka
from tests.postgres_server import database, postgres

__all__ = ["database", "kafka", "postgres"]  # pytest looks for them here
