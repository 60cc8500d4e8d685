"""A definition that reads a topic needs no client of Kafka to be parsed."""

import subprocess
import sys

PARSED = """
import sys
from muntin import sources
sources.kafka("broker:9092", "orders", value="avro", columns={"x": "INT"}, event_time="kafka_timestamp", registry="http://registry:8081")
print(sorted({"confluent_kafka", "fastavro", "fsspec", "google.protobuf", "duckdb"} & set(sys.modules)))
"""


def test_a_definition_imports_no_client() -> None:
    done = subprocess.run([sys.executable, "-c", PARSED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
