"""Where results go after they are published.

Databases, Redis, Kafka, Iceberg, names in Spark's catalog, or what a function does with a DataFrame of Spark.
"""

from muntin.sinks.declaration import KafkaSink, PostgresSink, SparkSink, kafka, postgres, spark
from muntin.sinks.mirrors.declaration import IcebergSink, iceberg
from muntin.sinks.of_catalog.catalog_sink import CatalogSink, catalog
from muntin.sinks.of_mysql.mysql_sink import MySqlSink, mysql
from muntin.sinks.of_redis.redis_sink import RedisSink, redis

Sink = PostgresSink | MySqlSink | RedisSink | KafkaSink | SparkSink | IcebergSink | CatalogSink
jdbc = postgres
"""The name that `postgres` had."""

__all__ = [
    "CatalogSink",
    "IcebergSink",
    "KafkaSink",
    "MySqlSink",
    "PostgresSink",
    "RedisSink",
    "Sink",
    "SparkSink",
    "catalog",
    "iceberg",
    "jdbc",
    "kafka",
    "mysql",
    "postgres",
    "redis",
    "spark",
]
