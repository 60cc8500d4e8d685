"""The listing of each kind of source: the only module that knows all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.jobs.inputs.listings import of_files, of_spark, of_tables, of_topics, of_windows
from muntin.sources import FileSource, IcebergSource, KafkaSource, SparkSource, TableSource, WindowSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.jobs.inputs.listings.listing import Listing
    from muntin.sources import Source

_LISTINGS: Mapping[type, Listing] = {
    FileSource: of_files,
    IcebergSource: of_tables,
    KafkaSource: of_topics,
    SparkSource: of_spark,
    TableSource: of_tables,
    WindowSource: of_windows,
}


def listing(source: Source) -> Listing:
    """The listing of a source."""
    return _LISTINGS[type(source)]
