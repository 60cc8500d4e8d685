"""A name in Spark's catalog as a definition declares it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from muntin.errors import DefinitionError
from muntin.sinks.declaration import Declared

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from muntin.jobs.sending.catch_up import Sent
    from muntin.jobs.sending.notes import Patience
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.delivery import Reach

_PLACE = "{window}"
_NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+){1,2}")


@dataclass(frozen=True, slots=True)
class CatalogSink(Declared):
    """A name in Spark's catalog; `catalog` makes it."""

    table: str
    owner: str = ""
    window: str | None = None

    needs_spark = "sinks.catalog"
    package = "pyspark"
    patience_us = 300_000_000  # the first question of a session starts the client of a metastore

    @property
    def name(self) -> str:
        return f"table {self.table} of Spark's catalog"

    @property
    def query(self) -> str:
        return f"SELECT * FROM {self.table};"

    @property
    def of_each(self) -> bool:
        return _PLACE in self.table

    def of(self, window: str) -> Self:
        return replace(self, window=window, table=self.table.replace(_PLACE, re.sub("[.-]", "_", window)))

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Any]:  # noqa: ARG002 - as other sinks
        from muntin.extensions.catalog.registered import opened

        return opened(self, reach)

    def follow(self, bound: Bound, reach: Reach, patience: Patience, *, anew: bool) -> Sent:
        from muntin.extensions.catalog.registered import register

        return register(bound, self, reach, patience, anew=anew)


def catalog(table: str, *, window: str | None = None, owner: str | None = None) -> CatalogSink:
    """A name in Spark's catalog, as of a Hive metastore, by which readers find a window's table. No row is
    copied.

    >>> catalog("shop.{window}", window="day").name
    "table shop.day of Spark's catalog"

    Args:
        table: schema and name, as "shop.{window}", or catalog, schema and name; `.` and `-` of a window's
            name are `_`
            there: a rollup `day.by_city` is day_by_city. The schema is made if it is missing.
        window: the name of the window; left out, each window of the pipeline has a name, and `table` says
            `{window}`.
        owner: who answers for the windows, as "data-team@shop.example": the property `muntin.owner` of the
            table.

    Raises:
        DefinitionError: a name that cannot be.
    """
    if not isinstance(table, str) or not _NAME.fullmatch(table.replace(_PLACE, "window")):
        raise DefinitionError(
            f'sinks.catalog: {table!r} is no schema and name of letters, digits and "_"; write "shop.day" or'
            ' "shop.{window}"'
        )
    if owner is not None and not isinstance(owner, str):
        raise DefinitionError(f'sinks.catalog: owner: {owner!r} is not a text; write owner="data-team"')
    sink = CatalogSink(table, owner or "")
    return sink if window is None else sink.of(window)
