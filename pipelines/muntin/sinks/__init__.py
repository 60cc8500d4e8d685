"""Where results go after they are published: databases, Redis, Kafka, or what a function does with a DataFrame of Spark."""

from muntin.sinks.declaration import KafkaSink, PostgresSink, SparkSink, kafka, postgres, spark
from muntin.sinks.of_redis.redis_sink import RedisSink, redis

Sink = PostgresSink | KafkaSink | SparkSink | RedisSink
jdbc = postgres
"""The name that `postgres` had."""

__all__ = ["KafkaSink", "PostgresSink", "RedisSink", "Sink", "SparkSink", "jdbc", "kafka", "postgres", "redis", "spark"]
