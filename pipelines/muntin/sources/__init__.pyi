from muntin.extensions.iceberg.source.declaration import iceberg
from muntin.extensions.kafka.source import kafka
from muntin.extensions.sql.source import sql
from muntin.sources.dialect import csv, jsonl
from muntin.sources.file_arguments import files
from muntin.sources.functions import function
from muntin.sources.reading.lookup import lookup
from muntin.sources.repeated_rows import changes, events
from muntin.sources.spark_frames import spark
from muntin.sources.tables import table
from muntin.sources.time_arguments import at
from muntin.sources.upstream_windows import windows

__all__ = [
    "at",
    "changes",
    "csv",
    "events",
    "files",
    "function",
    "iceberg",
    "jsonl",
    "kafka",
    "lookup",
    "spark",
    "sql",
    "table",
    "windows",
]
