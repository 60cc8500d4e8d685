"""No value changes on its way from a file to a state: it is there as it was written, or in the quarantine, or refused by name.

Each test stands for a class of values that a reader would take for other values without a word.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.errors import DefinitionError, SourceError
from tests.case_counts import paired
from tests.end_to_end.hourly import START, Hourly

AT = int(START.timestamp()) + 60
BIG = 2**53 + 1
LONG = 123456789012345678901
WIDE = [Decimal(1234567890123456789012345678901234567890), Decimal(1234567890123456789012345678901234567891)]


def written(folder: Path, ending: str, cells: Sequence[str], **more: Any) -> Hourly:
    """An hour of events with these cells of a text file as their key."""
    source = {"unit": "s", **more.pop("source", {})}
    made = Hourly(folder, f"{{start:%H}}*.{ending}", source, {"keys": ["k"], **more})
    lines = [f"{AT},{cell}" if ending == "csv" else f'{{"at": {AT}, "k": {cell}}}' for cell in cells]
    made.write(f"00.{ending}", {"at": []}).write_text("\n".join(["at,k", *lines] if ending == "csv" else lines) + "\n")
    return made


def columns(folder: Path, files: Sequence[dict[str, Any]], other: dict[str, Any], hours: int = 1, **source: Any) -> Hourly:
    """Parquet files, of one hour or of one each."""
    made = Hourly(folder, "{start:%H}*.parquet", {"unit": "s", **source}, other)
    for at, each in enumerate(files):
        hour = at if hours > 1 else 0
        rows = max(len(column) for column in each.values())
        made.write(f"{hour:02d}-{at}.parquet", {"at": [AT + 3600 * hour] * rows, **each})
    return made


def ended(made: Hourly, last: int = 0) -> tuple[int, int]:
    """How many rows were accepted, and how many went to the quarantine."""
    batches = made.run(0, last).batches
    return sum(each.rows_accepted for each in batches), sum(each.rows_quarantined for each in batches)


# DuckDB makes doubles of a column with a fraction; 2^53 + 1 is none
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        ([str(BIG), str(BIG - 1), "0.5"], [0.5, float(BIG - 1)]),
        (["0.0", "1e2", "0.1", str(2.0**70)], [0.0, 100.0, 0.1, 2.0**70]),
        (["1e400", "0.5"], [0.5]),
        (["1e+400", "0.5"], [0.5]),
        (["38885515064398489e-3", "0.5"], [0.5]),
        ([str(BIG - 1) + ".5", "0.5"], [0.5]),
    ],
)
def test_whole_numbers_beside_a_fraction(ending: str, cells: list[str], kept: list[float], tmp_path: Path) -> None:
    made = written(tmp_path, ending, cells)
    assert ended(made) == (len(kept), len(cells) - len(kept))
    assert sorted(map(repr, (key for (key,) in made.rows("k")))) == sorted(map(repr, kept))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_whole_numbers_of_more_than_64_bits(ending: str, tmp_path: Path) -> None:
    made = written(tmp_path, ending, [str(LONG), str(LONG + 1)], source={"types": {"k": "DECIMAL(38,0)"}})
    assert ended(made) == (2, 0)
    assert made.rows("k") == [(Decimal(LONG),), (Decimal(LONG + 1),)]


def test_they_need_no_type_in_csv(tmp_path: Path) -> None:
    made = written(tmp_path, "csv", [str(LONG), str(LONG + 1)])
    assert ended(made) == (2, 0)
    assert made.rows("k") == [(Decimal(LONG),), (Decimal(LONG + 1),)]


@pytest.mark.parametrize(("ending", "digits"), [("csv", 39), ("csv", 45), ("jsonl", 21), ("jsonl", 45)])
def test_what_no_type_holds_goes_to_the_quarantine_with_its_mend(ending: str, digits: int, tmp_path: Path) -> None:
    cells = ["9" * digits, "9" * (digits - 1) + "8"]
    made = written(tmp_path / "guessed", ending, cells)
    assert ended(made) == (0, 2)
    said = written(tmp_path / "said", ending, cells, source={"types": {"k": "VARCHAR"}})
    assert ended(said) == (2, 0)
    assert said.rows("k") == [(cell,) for cell in sorted(cells)]


def test_an_object_of_many_members_is_no_map_of_doubles(tmp_path: Path) -> None:
    members = json.dumps({f"m{at}": BIG if at == 7 else at for at in range(250)})
    made = written(tmp_path, "jsonl", ["1"], keys=[], aggregates={"x": agg.max("m.m7")})
    path = made.folder / "data/00.jsonl"
    path.write_text(f'{{"at": {AT}, "m": {members}}}\n')
    assert ended(made) == (1, 0)
    assert made.rows("x") == [(BIG,)]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [("true", "BIGINT"), ("1.7", "BIGINT"), (f"{BIG - 1}.5", "BIGINT"), ("[1.7]", "BIGINT[]"), ('{"a": 1.5}', "STRUCT(a INT)")],
)
def test_what_is_not_of_the_type_that_was_said(cell: str, kind: str, tmp_path: Path) -> None:
    good = {"BIGINT": "7", "BIGINT[]": "[7, 8.0]", "STRUCT(a INT)": '{"a": 2e1}'}[kind]
    more = {"keys": [], "aggregates": {"x": agg.first("k")}, "source": {"types": {"k": kind}}}
    made = written(tmp_path, "jsonl", [cell, good], **more)
    assert ended(made) == (1, 1)
    assert made.rows("x") == [({"BIGINT": 7, "BIGINT[]": [7, 8], "STRUCT(a INT)": {"a": 20}}[kind],)]


# JSON's reader makes a double of each fraction before anybody says a type
@pytest.mark.parametrize(
    ("kind", "kept"), [("DECIMAL(38,20)", [Decimal("0.5")]), ("VARCHAR", ["0.5"]), ("DOUBLE", [0.12345678901234568, 0.5])]
)
def test_a_fraction_of_more_digits_than_a_double_has(kind: str, kept: list[Any], tmp_path: Path) -> None:
    made = written(tmp_path, "jsonl", ["0.12345678901234567890", "0.5"], source={"types": {"k": kind}})
    assert ended(made) == (len(kept), 2 - len(kept))
    assert made.rows("k") == [(each,) for each in kept]


# with 16 digits, too, two numbers may have one double: 8391059.486514795 is 8391059.486514796
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_fraction_of_sixteen_digits_that_is_no_double(ending: str, tmp_path: Path) -> None:
    made = written(tmp_path, ending, ["8391059.486514795", "8391059.486514796", "0.13436424411240122"])
    assert ended(made) == (2, 1)
    assert made.rows("k") == [(0.13436424411240122,), (8391059.486514796,)]


def test_names_that_nobody_uses_beside_a_fraction(tmp_path: Path) -> None:
    made = written(tmp_path, "jsonl", ["0.5"])
    (made.folder / "data/00.jsonl").write_text(f'{{"at": {AT}, "k": 0.5, "x": 1, "X": 2}}\n')
    assert ended(made) == (1, 0)


# levels      1    2 ... 127      128
# a line      {"k": [ ...  [   1 or []   ] ... ]}
@pytest.mark.parametrize(("inner", "beside"), paired(["1", "[]", "[1]", "[[]]", '"[["'], ["[]", "}"]))
def test_a_line_that_is_nested_too_deep(inner: str, beside: str, tmp_path: Path) -> None:
    """However the other rows are read: a bad row beside it makes its file be cut into lines."""
    made = written(tmp_path, "jsonl", ["[" * 126 + inner + "]" * 126, beside], keys=[])
    bad = (inner in ("[1]", "[[]]")) + (beside == "}")
    assert ended(made) == (2 - bad, bad)


# DuckDB calls X X_1, and takes "X" for x
def test_columns_whose_names_differ_in_capitals(tmp_path: Path) -> None:
    made = columns(tmp_path, [{"x": [1], "X": [5]}], {"aggregates": {"x": agg.sum('"X"')}})
    with pytest.raises(SourceError, match=r"column 'X' has the name of another, but for small and capital letters; rename it"):
        made.run()


def test_decimals_of_more_than_38_digits(tmp_path: Path) -> None:
    files = [{"k": pa.array(WIDE, pa.decimal256(45, 0))}]
    with pytest.raises(
        SourceError, match=r"'k' is decimal\(45,0\), and states have 38 digits at most; write it as decimal\(38,0\), or say"
    ):
        columns(tmp_path / "key", files, {"keys": ["k"]}).run()
    assert ended(columns(tmp_path / "unused", files, {})) == (2, 0)
    assert ended(columns(tmp_path / "rounded", files, {"keys": ["k"]}, types={"k": "DOUBLE"})) == (2, 0)


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds(zone: str | None, tmp_path: Path) -> None:
    kind = pa.timestamp("ns", zone)
    made = columns(
        tmp_path / "key", [{"k": pa.array([1000, 1001, 2000], kind)}], {"keys": ["k"], "aggregates": {"c": agg.count_distinct("k")}}
    )
    assert ended(made) == (2, 1)
    assert [key.microsecond for (key,) in made.rows("k")] == [1, 2]
    times = pa.array([AT * 10**9 + 1, AT * 10**9 + 999, -1], kind)
    path = columns(tmp_path / "time", [{"x": [1]}], {}, event_time="t", unit=None)
    path.write("00-0.parquet", {"t": times})
    assert ended(path) == (3, 0)


def test_times_of_day_in_nanoseconds_are_texts(tmp_path: Path) -> None:
    made = columns(tmp_path, [{"t": pa.array([1, 2], pa.time64("ns"))}], {"aggregates": {"x": agg.max("t")}})
    assert ended(made) == (2, 0)
    assert made.rows("x") == [("00:00:00.000000002",)]


@pytest.mark.parametrize(("later", "first"), paired([["a"], [1.5], [7], [[1, 2]], [{"a": 1}], [True]], [0, 1]))
def test_a_column_without_any_value_in_a_file(later: list[Any], first: int, tmp_path: Path) -> None:
    files = [{"x": pa.nulls(1)}, {"x": later}]
    made = columns(tmp_path, [files[first], files[1 - first]], {"aggregates": {"x": agg.first("x"), "c": agg.count("x")}}, hours=2)
    assert ended(made, 1) == (2, 0)
    assert made.rows("x", "c") == [(later[0], 1), (None, 0)] if first else [(None, 0), (later[0], 1)]


def test_a_key_without_any_value_in_the_first_file(tmp_path: Path) -> None:
    made = columns(tmp_path, [{"k": pa.nulls(1)}, {"k": ["a"]}], {"keys": ["k"]}, hours=2)
    assert ended(made, 1) == (2, 0)
    assert sorted(made.rows("k"), key=str) == [("a",), (None,)]


@pytest.mark.parametrize("hours", [1, 2])
def test_a_struct_may_grow(hours: int, tmp_path: Path) -> None:
    files = [{"s": [{"a": 1}]}, {"s": [{"a": 2, "b": "x"}]}]
    made = columns(tmp_path, files, {"aggregates": {"x": agg.first("s")}}, hours=hours)
    assert ended(made, hours - 1) == (2, 0)
    assert made.rows("x") == [({"a": 1, "b": None},), ({"a": 2, "b": "x"},)][:hours]


def test_a_column_with_a_name_of_ours_is_passed_over(tmp_path: Path) -> None:
    files = [{"muntin_time": [1], "x": [2]}]
    assert ended(columns(tmp_path / "unused", files, {})) == (1, 0)
    with pytest.raises((SourceError, DefinitionError), match="names that begin with muntin_ are Muntin's own"):
        columns(tmp_path / "used", files, {"aggregates": {"x": agg.sum("muntin_time")}}).run()


def test_what_nobody_uses_is_read_whatever_it_holds(tmp_path: Path) -> None:
    made = written(tmp_path, "csv", [str(BIG), "0.5"], keys=[])
    assert ended(made) == (2, 0)


def test_a_file_is_read_as_its_writer_says(tmp_path: Path) -> None:
    """Of dictionaries, enums and views the values count."""
    texts = pa.array(["a", "b", "a"])
    made = Hourly(tmp_path, "{start:%H}*.parquet", {"unit": "s"}, {"keys": ["k"]})
    for at, each in enumerate((texts, texts.dictionary_encode(), texts.cast(pa.string_view()), texts.cast(pa.large_string()))):
        path = made.write(f"00-{at}.parquet", {"at": []})
        pq.write_table(pa.table({"at": [AT] * 3, "k": each}), path)
    assert ended(made) == (12, 0)
    assert made.rows("k", "n") == [("a", 8), ("b", 4)]


# DuckDB guesses HUGEINT where some numbers of JSON are negative and some are not, so a refund would make decimals of a column
@pytest.mark.parametrize(("cells", "kind"), [(["-1", "2"], pa.int64()), (["-1", str(2**63)], pa.decimal128(38, 0))])
def test_whole_numbers_of_both_signs_are_whole_numbers(cells: Sequence[str], kind: pa.DataType, tmp_path: Path) -> None:
    inside = {"x": agg.sum("s.a"), "last": agg.last("s.a"), "all": agg.first("l")}
    made = Hourly(tmp_path, "{start:%H}*.jsonl", {"unit": "s"}, {"aggregates": inside})
    lines = [f'{{"at": {AT}, "s": {{"a": {cell}}}, "l": [{cell}]}}' for cell in cells]
    made.write("00.jsonl", {"at": []}).write_text("\n".join(lines) + "\n")
    made.run()
    shown = read(made.pipeline, "hour", root=made.root)
    assert [shown.schema.field(name).type for name in ("x", "last")] == [kind] * 2
    assert shown.schema.field("all").type.value_type == kind
    assert shown["x"].to_pylist() == [sum(map(int, cells))]
