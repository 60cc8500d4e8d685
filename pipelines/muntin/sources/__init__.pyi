from muntin.extensions.iceberg.source.declaration import iceberg
from muntin.extensions.kafka.source import kafka
from muntin.sources.files import files
from muntin.sources.reading.dimensions.lookup import lookup
from muntin.sources.spark_frames import spark
from muntin.sources.tables import table
from muntin.sources.upstream_windows import windows

__all__ = [
    "files",
    "iceberg",
    "kafka",
    "lookup",
    "spark",
    "table",
    "windows",
]
