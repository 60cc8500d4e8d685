"""A mirror as a definition declares it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from muntin.definition.durations import Duration, positive
from muntin.extensions.iceberg.catalogs import check_address
from muntin.sinks.declaration import Declared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from muntin.files.paths import AnyPath
    from muntin.jobs.doctor.finding import Finding
    from muntin.jobs.sending.catch_up import Sent
    from muntin.jobs.sending.notes import Patience
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.delivery import Reach

_PLACE = "{window}"


@dataclass(frozen=True, slots=True)
class IcebergSink(Declared):
    """A table of Iceberg; `iceberg` makes it."""

    catalog: str
    table: str
    window: str | None = None
    keep_us: int = 0

    package = "pyiceberg"

    @property
    def name(self) -> str:
        return f"table {self.table} of catalog {self.catalog}"

    @property
    def of_each(self) -> bool:
        return _PLACE in self.table

    @property
    def connection_name(self) -> str:
        """The connection of the catalog, where pyiceberg's own configuration has none of this name."""
        return self.catalog

    def of(self, window: str) -> Self:
        return replace(self, window=window, table=self.table.replace(_PLACE, window.replace(".", "_")))

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Any]:
        from muntin.extensions.iceberg.mirrors.mirror import opened

        return opened(self, pipeline, reach)

    def follow(self, bound: Bound, reach: Reach, patience: Patience, *, anew: bool) -> Sent:
        from muntin.extensions.iceberg.mirrors.follow import mirror

        return mirror(bound, self, reach, patience, anew=anew)

    def examine(self, bound: Bound, *, deep: bool) -> Iterable[Finding]:
        from muntin.extensions.iceberg.mirrors.damage import examine

        return examine(bound, self, deep=deep)

    def repair(self, bound: Bound) -> Sequence[AnyPath]:
        from muntin.extensions.iceberg.mirrors.damage import repair

        return repair(bound, self)


def iceberg(
    catalog: str, table: str, *, window: str | None = None, keep_snapshots: Duration = "7d"
) -> IcebergSink:
    """A table of Iceberg that has a window's results without a copy: its snapshots name the Parquet files
    that Delta's log names.

    >>> iceberg("lake", "shop.{window}", window="day").name
    'table shop.day of catalog lake'

    Args:
        catalog: the name of a catalog, as pyiceberg's configuration has it; or of an Airflow connection.
        table: its namespace and name, as "shop.{window}"; a rollup `day.by_city` is day_by_city there. It is
            made if it is missing.
        window: the name of the window; left out, each window of the pipeline has a table, and the name says
            `{window}`.
        keep_snapshots: how long a snapshot can be read after another one took its place. 128 snapshots are
            kept at most.

    Raises:
        DefinitionError: a name that cannot be.
    """
    named = table.replace(_PLACE, "window") if isinstance(table, str) else table
    check_address("sinks.iceberg", catalog, named, '"shop.day" or "shop.{window}"')
    sink = IcebergSink(catalog, table, None, positive(keep_snapshots, "sinks.iceberg: keep_snapshots"))
    return sink if window is None else sink.of(window)
