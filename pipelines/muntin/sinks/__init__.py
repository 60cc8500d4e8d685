"""Where results go after they are published: PostgreSQL, Kafka, or what a function does with a DataFrame of Spark."""

from muntin.sinks.declaration import KafkaSink, PostgresSink, SparkSink, kafka, postgres, spark

Sink = PostgresSink | KafkaSink | SparkSink
jdbc = postgres
"""The name that `postgres` had."""

__all__ = ["KafkaSink", "PostgresSink", "Sink", "SparkSink", "jdbc", "kafka", "postgres", "spark"]
