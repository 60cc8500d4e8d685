"""Tables of many types in files of the writers that people use, and the rows that a run makes of them."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from muntin import aggregates as agg
from muntin import read
from tests.end_to_end.exact_values import exact, raw_json, says
from tests.end_to_end.hourly import START, Hourly
from tests.end_to_end.typed_columns import COLUMNS, NESTED

AT = int(START.timestamp()) + 60
LEAST = 20
"""Columns that every writer takes."""
Write = Callable[[pa.Table, Path], Any]
_OLD: dict[str, Any] = {"version": "1.0", "use_deprecated_int96_timestamps": True, "store_decimal_as_integer": True, "store_schema": False}
_BEYOND = {"parquet": (), "csv": ("decimal(38,38)",), "jsonl": ("decimal(38,38)", "decimal(38,0)")}
"""Columns of text whose numbers are in the quarantine, as no double is them; `types=` is the mend."""
EVERY = {name: column for name, column in (COLUMNS | NESTED).items() if name not in ("nanoseconds", "list of nanoseconds", "decimal(76,0)")}


def table_of(columns: Mapping[str, pa.Array]) -> pa.Table:
    """Columns with nulls behind them, the number of the row, and a time."""
    count = max(map(len, columns.values()))
    filled = {name: pa.concat_arrays([each, pa.nulls(count - len(each), each.type)]) for name, each in columns.items()}
    return pa.table({"at": pa.array([AT] * count), "row": pa.array(range(count)), **filled})


def _by_csv(table: pa.Table, path: Path, quoting: int = csv.QUOTE_MINIMAL) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, quoting=quoting)
        rows.writerow(table.column_names)
        rows.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _by_json(table: pa.Table, path: Path, *, ascii_only: bool = True) -> None:
    path.write_text("".join(json.dumps(row, default=str, ensure_ascii=ascii_only) + "\n" for row in table.to_pylist()))


def _by_duckdb(how: str) -> Write:
    def write(table: pa.Table, path: Path) -> None:
        with duckdb.connect() as session:
            session.register("rows", table)
            session.sql(f"COPY rows TO '{path}' ({how})")

    return write


def _of_pandas(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(types_mapper=pd.ArrowDtype)


WRITERS: Mapping[str, tuple[str, Write]] = {
    "pyarrow": ("parquet", pq.write_table),
    "pyarrow, as of old": ("parquet", lambda table, path: pq.write_table(table, path, **_OLD, use_compliant_nested_type=False)),
    "pyarrow, without dictionaries": (
        "parquet",
        lambda table, path: pq.write_table(table, path, data_page_version="2.0", use_dictionary=False),
    ),
    "pandas": ("parquet", lambda table, path: table.to_pandas().to_parquet(path)),
    "pandas of Arrow": ("parquet", lambda table, path: _of_pandas(table).to_parquet(path)),
    "Polars": ("parquet", lambda table, path: pl.from_arrow(table).write_parquet(path)),  # type: ignore[union-attr]
    "DuckDB": ("parquet", _by_duckdb("FORMAT parquet")),
    "csv": ("csv", _by_csv),
    "csv, quoted": ("csv", lambda table, path: _by_csv(table, path, csv.QUOTE_ALL)),
    "pandas, CSV": ("csv", lambda table, path: _of_pandas(table).to_csv(path, index=False)),
    "Polars, CSV": ("csv", lambda table, path: pl.from_arrow(table).write_csv(path)),  # type: ignore[union-attr]
    "pyarrow, CSV": ("csv", pyarrow.csv.write_csv),
    "DuckDB, CSV": ("csv", _by_duckdb("FORMAT csv, HEADER")),
    "json": ("jsonl", _by_json),
    "json in UTF-8": ("jsonl", lambda table, path: _by_json(table, path, ascii_only=False)),
    "Polars, JSON": ("jsonl", lambda table, path: pl.from_arrow(table).write_ndjson(path)),  # type: ignore[union-attr]
    "DuckDB, JSON": ("jsonl", _by_duckdb("FORMAT json")),
}


def writable(writer: str, folder: Path) -> dict[str, pa.Array]:
    """The columns that a writer takes, and that Python reads again."""
    ending, write = WRITERS[writer]
    out = {}
    for name, column in EVERY.items():
        path = folder / f"one.{ending}"
        try:
            write(table_of({"k": column}), path)
            cells(path)
        except BaseException as wrong:  # Polars panics
            if isinstance(wrong, KeyboardInterrupt):
                raise
        else:
            out[name] = column
    return {name: each for name, each in out.items() if name not in _BEYOND[ending]}


def cells(path: Path) -> dict[str, list[Any]]:
    """The columns of a file as Python reads them: exact values of Parquet, else what `says` takes."""
    if path.suffix == ".parquet":
        table = pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
        return {name: exact(table[name]) for name in table.column_names}
    if path.suffix == ".csv":
        csv.field_size_limit(10**9)
        with path.open(newline="") as file:
            rows: list[Any] = [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
    else:
        rows = [raw_json(line) for line in path.read_text().splitlines()]
    return {name: [row.get(name) for row in rows] for name in {name: None for row in rows for name in row}}


def of_rows(folder: Path, ending: str, names: list[str], **source: Any) -> Hourly:
    """A pipeline whose windows are the rows of a file: each column of a row is there as it was read."""
    values = {f"v{at}": agg.first('"' + name.replace('"', '""') + '"') for at, name in enumerate(names)}
    return Hourly(folder, f"{{start:%H}}.{ending}", {"unit": "s", **source}, {"keys": ["row"], "aggregates": {"n": agg.count(), **values}})


def wrong_of(made: Hourly, names: list[str], expected: Mapping[str, list[Any]]) -> list[str]:
    """Values of the windows that are other than the cells of their rows, and rows that are nowhere."""
    table = read(made.pipeline, "hour", root=made.root).sort_by("row")
    found = [] if table["row"].to_pylist() == [*range(len(expected["row"]))] else [f"rows {table['row'].to_pylist()}"]
    for at, name in enumerate(names):
        for raw, value in zip(expected[name], exact(table[f"v{at}"]), strict=True):
            if raw != value and (made.path.endswith("parquet") or not says(raw, value)):
                found.append(f"{name}: {str(raw)[:60]!r} is {str(value)[:60]!r}")
    return found


def wrong_by(writer: str, folder: Path) -> list[str]:
    """What is wrong with the windows of a file of all columns that a writer takes."""
    ending, write = WRITERS[writer]
    columns = writable(writer, folder)
    made = of_rows(folder, ending, [*columns])
    path = made.write(f"00.{ending}", {"at": []})
    write(table_of(columns), path)
    (batch,) = made.run().batches
    found = [f"only {len(columns)} columns"] if len(columns) < LEAST else []
    found += [f"{batch.rows_quarantined} rows in the quarantine"] if batch.rows_quarantined else []
    return found + wrong_of(made, [*columns], cells(path))
