"""Where results go after they are published: PostgreSQL, Kafka, or what a function does with a DataFrame of Spark."""

from muntin.sinks.declaration import JdbcSink, KafkaSink, SparkSink, jdbc, kafka, spark

Sink = JdbcSink | KafkaSink | SparkSink

__all__ = ["JdbcSink", "KafkaSink", "Sink", "SparkSink", "jdbc", "kafka", "spark"]
