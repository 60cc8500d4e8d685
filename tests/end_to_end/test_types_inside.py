"""Types inside of lists, structs and maps, from batch to batch and beside each other in one batch; and days of another calendar."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.errors import MuntinError, SourceError
from tests.case_counts import paired
from tests.end_to_end.exact_values import exact, says
from tests.end_to_end.hourly import Hourly
from tests.end_to_end.typed_columns import COLUMNS, NESTED
from tests.end_to_end.written_by import AT, of_rows, table_of, wrong_of

PAIRS = 6  # of 600: `make soak` takes others each time
INNER = {name: each for name, each in (COLUMNS | NESTED).items() if each.type.num_fields and "nano" not in name} | {
    "list of int32": pa.array([[1], [None]], pa.list_(pa.int32())),
    "list of doubles": pa.array([[0.5], [2.0**53]], pa.list_(pa.float64())),
    "map of int32": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
    "map of doubles": pa.array([[("a", 0.5)]], pa.map_(pa.string(), pa.float64())),
}


def wrong_pair(folder: Path, first: str, second: str, *, beside: bool) -> list[str]:
    """What is wrong with the rows of two files with a column of two types, in two batches or `beside` each other in one."""
    made = replace(of_rows(folder, "parquet", ["k"]), path="{start:%H}*.parquet")
    tables = [table_of({"k": INNER[name]}) for name in (first, second)]
    begun = len(tables[0])
    for number, (name, table) in enumerate(zip(("00a", "00b" if beside else "01"), tables, strict=True)):
        times = pa.array([at + 3600 * number * (not beside) for at in table["at"].to_pylist()])
        rows = pa.array(range(begun * number, begun * number + len(table)))
        pq.write_table(table.set_column(0, "at", times).set_column(1, "row", rows), made.write(f"{name}.parquet", {"at": []}))
    expected = {"row": [*range(sum(map(len, tables)))], "k": [value for table in tables for value in exact(table["k"])]}
    try:
        for hour in range(1 if beside else 2):
            made.run(hour, hour)
    except MuntinError as refused:
        said = str(refused)
        return [] if any(name in said for name in ("'k'", " k ", "k.", "v0", "first_k_")) and "Traceback" not in said else [said]
    return wrong_of(made, ["k"], expected)


@pytest.mark.parametrize(("first", "second"), random.Random(41).sample([*permutations(INNER, 2)], PAIRS))
def test_two_types_in_two_batches_and_in_one(first: str, second: str, tmp_path: Path) -> None:
    assert wrong_pair(tmp_path / "behind", first, second, beside=False) == []
    assert wrong_pair(tmp_path / "beside", first, second, beside=True) == []


@pytest.mark.parametrize(("first", "second"), [("list of int32", "list"), ("map of int32", "map"), ("list of int32", "list of doubles")])
def test_a_wider_type_inside(first: str, second: str, tmp_path: Path) -> None:
    assert wrong_pair(tmp_path / "behind", first, second, beside=False) == []
    assert wrong_pair(tmp_path / "beside", second, first, beside=True) == []


@pytest.mark.parametrize(("cell", "ending"), paired(["7", "a", "2024-01-02 03:04:05"], ["csv", "jsonl"]))
def test_a_column_without_any_value_has_no_type_yet(ending: str, cell: str, tmp_path: Path) -> None:
    for cells in ((None, cell), (cell, None)):
        made = Hourly(tmp_path / str(cells), f"{{start:%H}}.{ending}", {"unit": "s"}, {"aggregates": {"k": agg.first("k")}})
        for hour, text in enumerate(cells):
            path, at = made.write(f"{hour:02d}.{ending}", {"at": []}), AT + 3600 * hour
            row = f"at,k\n{at},{text or ''}\n{at},\n" if ending == "csv" else json.dumps({"at": at, "k": text}) + "\n"
            path.write_text(row)
            made.run(hour, hour)
        assert [says(*pair) for pair in zip(cells, exact(read(made.pipeline, "hour", root=made.root)["k"]), strict=True)] == [True, True]


@pytest.mark.parametrize(("first", "second"), [("list", "list of doubles"), ("map", "map of doubles")])
def test_whole_numbers_beside_doubles_are_not_rounded(first: str, second: str, tmp_path: Path) -> None:
    made = replace(of_rows(tmp_path, "parquet", ["k"]), path="{start:%H}*.parquet")
    for number, name in enumerate((first, second)):
        pq.write_table(table_of({"k": INNER[name]}), made.write(f"00{number}.parquet", {"at": []}))
    with pytest.raises(SourceError, match=r"000.parquet: 'k' holds .*9007199254740993.*, and other files of its batch make it a .*DOUBLE"):
        made.run()


OLD, NOW = {b"org.apache.spark.version": b"2.4.8"}, {b"org.apache.spark.version": b"4.1.3"}
ROWS = {b"org.apache.spark.sql.parquet.row.metadata": b"{}"}


@pytest.mark.parametrize(
    ("facts", "column", "said"),
    [
        (OLD | ROWS, pa.array([date(1, 1, 1)]), "0001-01-01"),
        (ROWS, pa.array([date(1582, 10, 14)]), "1582-10-14"),
        (NOW | ROWS | {b"org.apache.spark.legacyDateTime": b""}, pa.array([date(1, 1, 1)]), "0001-01-01"),
        (NOW | ROWS | {b"org.apache.spark.legacyINT96": b""}, pa.array([datetime(1899, 12, 31, tzinfo=UTC)]), "1899-12-31"),
        (OLD | ROWS, pa.array([[date(1, 1, 1)]]), "0001-01-01"),
        (OLD | ROWS, pa.array([date(1582, 10, 15), None]), None),
        (NOW | ROWS, pa.array([date(1, 1, 1)]), None),
        ({}, pa.array([date(1, 1, 1)]), None),
    ],
)
def test_days_of_another_calendar_are_refused(facts: Mapping[bytes, bytes], column: pa.Array, said: str | None, tmp_path: Path) -> None:
    made, table = of_rows(tmp_path, "parquet", ["k"]), table_of({"k": column})
    pq.write_table(table.replace_schema_metadata(facts), made.write("00.parquet", {"at": []}))
    if said is None:
        made.run()
        assert wrong_of(made, ["k"], {"row": [*range(len(table))], "k": exact(table["k"])}) == []
        return
    with pytest.raises(SourceError, match=rf"00.parquet: column 'k' holds .*{said}.*, and Spark before 3.0, .* by another calendar; write"):
        made.run()
