from muntin.extensions.catalog.sink import catalog
from muntin.extensions.iceberg.mirrors.declaration import iceberg
from muntin.extensions.kafka.sink import kafka
from muntin.extensions.mysql.sink import mysql
from muntin.extensions.postgres.sink import postgres
from muntin.extensions.redis.sink import redis
from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.declaration import spark

__all__ = ["Sink", "catalog", "iceberg", "kafka", "mysql", "postgres", "redis", "spark"]
