"""Where a batch's rows are: files by path template, a topic of Kafka, a Delta table, what Spark reads, or another pipeline's windows."""

from muntin.sources.file_source import FileSource
from muntin.sources.files import files
from muntin.sources.kafka import KafkaSource, kafka
from muntin.sources.reading.dimensions.lookup import Lookup, lookup
from muntin.sources.source import Source
from muntin.sources.spark_frames import SparkSource, spark
from muntin.sources.tables import TableSource, table
from muntin.sources.upstream_windows import WindowSource, windows

__all__ = [
    "FileSource",
    "KafkaSource",
    "Lookup",
    "Source",
    "SparkSource",
    "TableSource",
    "WindowSource",
    "files",
    "kafka",
    "lookup",
    "spark",
    "table",
    "windows",
]
