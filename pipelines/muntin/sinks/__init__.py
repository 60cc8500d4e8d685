"""Where results go after they are published: PostgreSQL, Kafka, a table of Iceberg, or what a function does with a DataFrame of Spark."""

from muntin.sinks.declaration import KafkaSink, PostgresSink, SparkSink, kafka, postgres, spark
from muntin.sinks.mirrors.declaration import IcebergSink, iceberg

Sink = PostgresSink | KafkaSink | SparkSink | IcebergSink
jdbc = postgres
"""The name that `postgres` had."""

__all__ = ["IcebergSink", "KafkaSink", "PostgresSink", "Sink", "SparkSink", "iceberg", "jdbc", "kafka", "postgres", "spark"]
