"""A table of Iceberg as a source, as its user defines it. Nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.extensions.iceberg.catalogs import check_address
from muntin.old_names import old_names_refused
from muntin.sources.row_source import LookBack
from muntin.sources.tables import TableSource, checked_table_terms

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from muntin.sources.logged.log import Log
    from muntin.sources.repeated_rows import Events
    from muntin.sources.tables import OnChange
    from muntin.sources.time_arguments import At


@dataclass(frozen=True, slots=True)
class IcebergSource(TableSource):
    """A table of Iceberg.

    See `iceberg`. `path`: how errors call it.
    """

    catalog: str = ""
    table: str = ""

    call = "sources.iceberg(...)"

    def log(self) -> Log:
        from muntin.extensions.iceberg.source.snapshots import snapshot_log

        return snapshot_log(self)

    @property
    def address(self) -> str:
        return f"iceberg://{self.catalog}/{self.table}"

    def below(self, home: str | Path) -> IcebergSource:  # noqa: ARG002 - the catalog knows where it lies
        return self


@old_names_refused
def iceberg(
    catalog: str,
    table: str,
    *,
    event_time: str | At | None = None,
    rows: Events | None = None,
    changes: bool = False,
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    on_change: OnChange | None = None,
    look_back: LookBack = "all",
) -> IcebergSource:
    """A table of Iceberg, read by snapshot and without Spark: a batch is what was added to the table in its
    interval.

    A snapshot belongs to the interval in which it became the table's current one. The batch of the schedule's
    first interval holds, too, what the table held before. A compaction adds no rows. Columns that older files
    lack are null there.

    The other arguments are as of `table`. With `changes=True` the files count that snapshots add and remove
    (copy-on-write), and the table must keep snapshots longer than rows may change.

    Args:
        catalog: the name of a catalog, as pyiceberg's configuration has it; or of an Airflow connection, as
            for `sinks.iceberg`.
        table: its namespace and name, as "shop.orders".
        event_time: the column with the time of an event.
        on_change: where changes are not read, what a snapshot is that removes or changes rows, and a table
            that is put back: an "error", or to "skip".

    Raises:
        DefinitionError: a name that cannot be, and as of `table`.

    >>> iceberg("lake", "shop.orders", event_time="at").path
    'table shop.orders of catalog lake'
    """
    check_address("sources.iceberg", catalog, table, '"shop.orders"')
    terms = checked_table_terms(
        event_time, rows, changes, types, arrival_order, arrival_time, on_change, look_back
    )
    return IcebergSource(f"table {table} of catalog {catalog}", catalog=catalog, table=table, **terms)
