"""A text is a number if its file means a number by it: what DuckDB's casts take beside that goes to the quarantine."""

import json
import random
import re
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin.sources.casts import in_type, with_point
from tests.case_counts import at_length, cases, paired
from tests.end_to_end.hourly import START, Hourly

AT = int(START.timestamp()) + 60
ODD = ["12_5", "2024_05", "+-1", "0x1F", "0b11", "1 2", "nan(1)", "1e5_0", "twelve", "\uff11\uff12"]
WHOLE = ["TINYINT", "BIGINT", "UINTEGER", "HUGEINT", "UHUGEINT"]
FRACTIONS = ["DECIMAL(12,2)", "NUMERIC(20, 3)", "DOUBLE", "FLOAT", "REAL"]


def hour(folder: Path, ending: str, cells: list[str], kind: str, **source: object) -> tuple[int, list[object]]:
    """How many rows of a file with these texts go to the quarantine, and the values of the other rows."""
    case = Hourly(
        folder, f"*.{ending}", {"unit": "s", "all_files": True, "types": {"x": kind}, **source}, {"aggregates": {"x": agg.collect("x")}}
    )
    path = case.write(f"00.{ending}", {"at": []})
    mark = source.get("delimiter", ",")
    if ending == "csv":
        path.write_text(f"at{mark}x\n" + "".join(f'{AT}{mark}"{cell}"\n' for cell in cells))
    elif ending == "jsonl":
        path.write_text("".join(json.dumps({"at": AT, "x": cell}) + "\n" for cell in cells))
    else:
        pq.write_table(pa.table({"at": [AT] * len(cells), "x": cells}), path)
    (batch,) = case.run().batches
    return batch.rows_quarantined, [value for (values,) in case.rows("x") for value in values]


@pytest.mark.parametrize(("ending", "kind"), paired(["csv", "jsonl", "parquet"], ["BIGINT", "HUGEINT", "DECIMAL(12,2)", "DOUBLE", "FLOAT"]))
def test_texts_that_are_no_numbers_go_to_the_quarantine(ending: str, kind: str, tmp_path: Path) -> None:
    assert hour(tmp_path, ending, ["3", *ODD, " 4.0 "], kind) == (len(ODD), [3, 4])


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_so_do_texts_inside_of_lists(ending: str, tmp_path: Path) -> None:
    source = {"types": {"x": "DOUBLE[]"}}
    case = Hourly(tmp_path, f"*.{ending}", {"unit": "s", "all_files": True, **source}, {"aggregates": {"x": agg.count("x")}})
    lines = [f'{AT};"[{cell}]"' if ending == "csv" else f'{{"at": {AT}, "x": ["{cell}"]}}' for cell in ("1.5", "12_5")]
    case = Hourly(tmp_path, case.path, {**case.source, **({"delimiter": ";"} if ending == "csv" else {})}, case.other)
    case.write(f"00.{ending}", {"at": []}).write_text("\n".join([*(["at;x"] if ending == "csv" else []), *lines]) + "\n")
    assert [batch.rows_quarantined for batch in case.run().batches] == [1]


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_a_number_beyond_the_largest_is_not_infinity(kind: str, tmp_path: Path) -> None:
    assert hour(tmp_path, "csv", ["-Infinity", "1e400", "inf", "-1e999"], kind) == (2, [float("-inf"), float("inf")])


@pytest.mark.parametrize(("kind", "declared"), paired(["BIGINT", "DECIMAL(12,2)", "DOUBLE"], ["types", "columns"]))
def test_a_point_is_no_decimal_comma(kind: str, declared: str, tmp_path: Path) -> None:
    """1.000 may be a thousand: under decimal="," it is neither that nor 1."""
    source = {"types": {}, declared: {"x": kind}, "delimiter": ";", "decimal": ","}
    assert hour(tmp_path, "csv", ["5,0", "1.000", "7"], kind, **source) == (1, [5, 7])


def test_a_column_that_files_may_lack_is_read_as_it_is_written(tmp_path: Path) -> None:
    source = {"types": {}, "columns": {"x": "DECIMAL(38,20)"}}
    assert hour(tmp_path, "csv", ["1.12345678901234567890"], "", **source) == (0, [Decimal("1.12345678901234567890")])


def test_the_name_of_a_folder_that_is_no_number(tmp_path: Path) -> None:
    """Only its own file's rows are refused."""
    case = Hourly(tmp_path, "*/*.csv", {"unit": "s", "all_files": True, "hive": {"x": "DOUBLE"}}, {"aggregates": {"x": agg.collect("x")}})
    for name in ("1_2", "3"):
        case.write(f"x={name}/00.csv", {"at": [AT]})
    assert [(batch.rows_accepted, batch.rows_quarantined) for batch in case.run().batches] == [(1, 1)]
    assert case.rows("x") == [([3.0],)]


def meant(text: str, kind: str, point: str, thousands: str = "") -> object:
    """The number that a text is, in a type; None: it is none. Written down anew, without a cast of DuckDB's."""
    text = text.strip(" \t\n\r\f\v")
    groups = re.split(r"[^-+0-9" + re.escape(thousands) + "]", text)[0].lstrip("-+").split(thousands) if thousands else []
    if len(groups) > 1 and all(re.fullmatch("[0-9]{3}", each) for each in groups[1:]) and re.fullmatch("[1-9][0-9]{0,2}", groups[0]):
        text = text.replace(thousands, "", len(groups) - 1)
    mark = re.escape(point)
    if re.fullmatch(r"(?i)[-+]?(nan|inf|infinity)", text):
        return repr(float(text)) if kind == "DOUBLE" else None
    if not re.fullmatch(rf"[-+]?([0-9]+({mark}[0-9]*)?|{mark}[0-9]+)([eE][-+]?[0-9]+)?", text):
        return None
    exact = Decimal(text.replace(point, "."))
    if kind == "DOUBLE":
        return repr(float(exact)) if abs(float(exact)) != float("inf") else None
    return repr(exact)


def judge(session: duckdb.DuckDBPyConnection, texts: list[str], kind: str, point: str, thousands: str) -> None:
    session.register("texts", pa.table({"x": texts}))
    value = in_type(with_point("x", point, thousands), kind)
    for text, found in session.execute(f"SELECT x, TRY({value}) FROM texts").fetchall():
        right = meant(text, kind, point, thousands)
        if kind == "DOUBLE":
            assert (None if found is None else repr(found)) == right, text
        elif right is None or found is not None:  # DECIMAL has so many digits and no more
            assert (found is None) == (right is None), text
            assert found is None or abs(found - Decimal(str(right)[9:-2])) <= Decimal("0.0005"), text


def drawn(seed: int) -> list[str]:
    draw = random.Random(seed)
    parts = [*"10_.,eE-+x() '\u0661", "27", "123", "000", ".456", ",789", "'012", "0x", "0b", "inf", "nan", "1.5", "2,5", "12", "3e2"]
    return ["".join(draw.choices(parts, k=draw.randint(1, 5))) for _ in range(200)]


@pytest.mark.parametrize(("point", "thousands"), [(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", " ")])
@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(38,3)"])
def test_drawn_texts_are_the_numbers_that_are_meant(kind: str, point: str, thousands: str) -> None:
    with duckdb.connect(config={"threads": 1}) as session:
        for seed in range(cases(200)):
            judge(session, drawn(seed), kind, point, thousands)


@at_length
@pytest.mark.parametrize(("ending", "kind"), paired(["csv", "jsonl", "parquet"], [*WHOLE, *FRACTIONS]))
def test_every_type_and_format(ending: str, kind: str, tmp_path: Path) -> None:
    assert hour(tmp_path, ending, ["3", *ODD, " 4.0 ", "5e0", "+6"], kind) == (len(ODD), [3, 4, 5, 6])
