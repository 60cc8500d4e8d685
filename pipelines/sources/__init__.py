"""Where a batch's rows are: files by path template, a topic of Kafka, a Delta table, what Spark reads, or another pipeline's windows."""

from pipelines.sources.file_source import FileSource
from pipelines.sources.files import files
from pipelines.sources.kafka import KafkaSource, kafka
from pipelines.sources.source import Source
from pipelines.sources.spark_frames import SparkSource, spark
from pipelines.sources.tables import TableSource, table
from pipelines.sources.upstream_windows import WindowSource, windows

__all__ = [
    "FileSource",
    "KafkaSource",
    "Source",
    "SparkSource",
    "TableSource",
    "WindowSource",
    "files",
    "kafka",
    "spark",
    "table",
    "windows",
]
