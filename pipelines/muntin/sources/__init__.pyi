from muntin.extensions.iceberg.source.declaration import iceberg
from muntin.extensions.kafka.source import kafka
from muntin.sources.file_source import FileSource
from muntin.sources.files import files
from muntin.sources.reading.dimensions.lookup import Lookup, lookup
from muntin.sources.source import Source
from muntin.sources.spark_frames import SparkSource, spark
from muntin.sources.tables import TableSource, table
from muntin.sources.upstream_windows import WindowSource, windows

__all__ = [
    "FileSource",
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
