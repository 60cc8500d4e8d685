"""Where a batch's rows are: files, a topic of Kafka, a table of Delta or Iceberg, what Spark reads, or another pipeline's windows."""

from muntin.sources.file_source import FileSource
from muntin.sources.files import files
from muntin.sources.kafka import KafkaSource, kafka
from muntin.sources.logged.of_iceberg.declaration import IcebergSource, iceberg
from muntin.sources.reading.dimensions.lookup import Lookup, lookup
from muntin.sources.source import Source
from muntin.sources.spark_frames import SparkSource, spark
from muntin.sources.tables import TableSource, table
from muntin.sources.upstream_windows import WindowSource, windows

__all__ = [
    "FileSource",
    "IcebergSource",
    "KafkaSource",
    "Lookup",
    "Source",
    "SparkSource",
    "TableSource",
    "WindowSource",
    "files",
    "iceberg",
    "kafka",
    "lookup",
    "spark",
    "table",
    "windows",
]
