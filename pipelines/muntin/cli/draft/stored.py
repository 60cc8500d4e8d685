"""Some rows of a table: of a Delta table, or of a database."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 10_000
Ends = Callable[[str], list[object]]


def is_database(given: str) -> bool:
    """Whether a text is the address of a database, or a variable that holds it."""
    return given.startswith("env:") or ("://" in given and not given.startswith(("s3:", "file:")))


def plain_rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, object]]:
    """Rows as values of Python: instants of nanoseconds are cut off to microseconds."""
    import pyarrow as pa

    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
        else field
        for field in table.schema
    ]
    columns = [
        column.cast(field.type, safe=False) for column, field in zip(table.columns, fields, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields)).to_pylist()  # type: ignore[no-any-return]


def delta_rows(path: str) -> tuple[list[dict[str, object]], datetime]:
    """Some rows of a Delta table, and when its last commit was made."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(path)
        rows = plain_rows(table.to_pyarrow_dataset().head(ROWS))
        made_ms = table.history(1)[0]["timestamp"]
    except (DeltaError, OSError, ValueError) as wrong:
        raise DefinitionError(
            f"--from: the Delta table {path} cannot be read: {wrong}; write sources.table({path!r}, "
            "event_time=...) into the definition of muntin new FOLDER"
        ) from wrong
    return rows, datetime.fromtimestamp(made_ms / 1000, UTC)


def database_rows(given: str) -> tuple[str, str, list[dict[str, object]], Ends]:
    """The address of a database, a table in it, some of its rows, and what asks for the ends of a column."""
    address, _, table = given.partition("#")
    if not re.fullmatch(r"\w+([.]\w+)*", table):
        raise DefinitionError(
            f"--from: {table!r} is no name of a table; write it behind the address of its database, as"
            " 'sqlite:///shop.db#orders' or 'env:SHOP#orders' (with SHOP=postgresql://...)"
        )
    if address.startswith("sqlite:///"):
        address = f"sqlite:///{Path(address.removeprefix('sqlite:///')).absolute()}"

    def ends(column: str) -> list[object]:
        """The least and the greatest value of a column."""
        return [*_asked(address, f"SELECT min({column}) AS a, max({column}) AS b FROM {table}")[0].values()]

    return address, table, _asked(address, f"SELECT * FROM {table} LIMIT {ROWS}"), ends


def _asked(address: str, query: str) -> list[dict[str, object]]:
    from muntin import sources

    source = sources.sql(address, query, event_time=None)  # type: ignore[arg-type]  # a table has none
    return plain_rows(source.fetch().read_all())
