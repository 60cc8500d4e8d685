"""Values of every type that Delta has, in columns and in the names of partitions: each is in its window as it was written."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from muntin import sources
from tests.end_to_end.exact_values import exact
from tests.end_to_end.hourly import HOUR, START
from tests.end_to_end.typed_columns import COLUMNS, NESTED
from tests.end_to_end.written_by import of_rows, table_of, wrong_of
from tests.tables.delta_tables import append

_NAMES = (
    *("int8", "int16", "int32", "int64", "int64 beyond doubles", "float32", "float64", "decimal(9,2)", "decimal(38,0)", "decimal(38,38)"),
    *("bool", "text", "bytes", "date", "instants in us, UTC", "instants in us, None", "list", "struct", "map", "list of decimals"),
    *("list of floats", "list of instants", "list of lists", "map of days"),
)
PARTITIONS = {
    "int64": COLUMNS["int64"],
    "doubles": pa.array([0.1, -0.0, 1e-7, 1e22, None]),
    "texts": pa.array(["a/b", "a=b", "\u00e4 %", "NULL", " x ", "a'b", 'a"b', "A", "a", "a%20b", "\\", None]),
    "bool": COLUMNS["bool"],
    "date": COLUMNS["date"],
    "instants": COLUMNS["instants in us, UTC"],
    "decimals": pa.array([Decimal("0.10"), Decimal("99999999999999999999999999999999999.999"), None], pa.decimal128(38, 3)),
}


def wrong_in(folder: Path, columns: dict[str, pa.Array], by: list[str]) -> list[str]:
    rows = table_of(columns)
    append(folder / "table", rows.set_column(0, "at", rows["at"].cast(pa.timestamp("s", "UTC"))), START + HOUR / 2, by=by)
    made = of_rows(folder, "parquet", [*columns])
    made = replace(made, other={**made.other, "source": sources.table(str(folder / "table"), event_time="at")})
    made.run()
    return wrong_of(made, [*columns], {name: exact(rows[name]) for name in rows.column_names})


def test_columns(tmp_path: Path) -> None:
    assert wrong_in(tmp_path, {name: (COLUMNS | NESTED)[name] for name in _NAMES}, []) == []


@pytest.mark.parametrize("name", PARTITIONS)
def test_names_of_partitions(name: str, tmp_path: Path) -> None:
    assert wrong_in(tmp_path, {"k": PARTITIONS[name]}, ["k"]) == []
