"""Seconds since 1970 with a fraction, as Python, Zeek and `date +%s.%N` write them: exact to the microsecond, the rest cut off."""

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import sources, windows
from muntin.errors import SourceError
from muntin.sources.reading.row_times import instant
from tests.case_counts import cases, paired
from tests.end_to_end.hourly import START, Hourly

AT = int(START.timestamp())
PER_UNIT = {"s": Decimal(1_000_000), "ms": Decimal(1000), "us": Decimal(1), "ns": Decimal("0.001")}
WRITTEN = ["10.5", "20.123456", "30.999999999", "40", "59.999999999999"]
STARTS = [10_500_000, 20_123_456, 30_999_999, 40_000_000, 59_999_999]


def microsecond(number: str, unit: str) -> int | None:
    """None: farther away than integers of 64 bits tell."""
    us = int((Decimal(number) * PER_UNIT[unit]).to_integral_value(rounding="ROUND_FLOOR"))
    return us if abs(us) < 2**63 else None


def drawn(draw: random.Random) -> str:
    digits = "".join(draw.choices("0123456789", weights=[5, *[1] * 8, 5], k=draw.randint(0, 9)))
    return draw.choice(["", "-"]) + str(draw.choice([0, 7, AT, AT * 1000, AT * 10**6])) + (f".{digits}" if digits else "")


@pytest.mark.parametrize(("unit", "kind"), paired(PER_UNIT, ["VARCHAR", "DOUBLE", "DECIMAL(38,9)"]))
def test_each_number_is_cut_at_its_microsecond(unit: Any, kind: str) -> None:
    """A double is the number with the fewest digits that tell it from others."""
    source = sources.files("{start:%H}.parquet", event_time=sources.at("x", unit=unit))
    texts = [drawn(random.Random(seed)) for seed in range(cases(3000))]
    if kind == "DOUBLE":
        texts = [repr(float(text)) for text in texts]
    with duckdb.connect() as session:
        session.register("texts", pa.table({"t": texts}))
        value = instant(source, "x", "event_time", {"x": kind})
        got = session.execute(f"SELECT {value} FROM (SELECT t::{kind} AS x FROM texts)").fetchall()
    assert [us for (us,) in got] == [microsecond(text, unit) for text in texts]


@pytest.mark.parametrize("form", ["csv", "csv with commas", "texts in json", "texts in parquet", "decimals in parquet"])
def test_a_window_of_a_microsecond_begins_where_the_text_says(form: str, tmp_path: Path) -> None:
    ending, texts = form.rpartition(" ")[2].replace("json", "jsonl").replace("commas", "csv"), [str(AT + Decimal(each)) for each in WRITTEN]
    comma = {"delimiter": ";", "decimal": ","} if form.endswith("commas") else {}
    case = Hourly(tmp_path, f"{{start:%H}}.{ending}", {"unit": "s", **comma}, {"windows": {"hour": windows.tumbling("1us")}})
    path = case.write(f"00.{ending}", {"at": []})
    if ending == "csv":
        path.write_text("at;x\n".replace(";", comma.get("delimiter", ",")) + "".join(
            f"{text.replace('.', comma.get('decimal', '.'))}{comma.get('delimiter', ',')}1\n" for text in texts
        ))  # fmt: skip
    elif ending == "jsonl":
        path.write_text("".join(json.dumps({"at": text}) + "\n" for text in texts))
    else:
        pq.write_table(pa.table({"at": [Decimal(text) for text in texts] if form.startswith("decimals") else texts}), path)
    assert [batch.rows_quarantined for batch in case.run().batches] == [0]
    assert [int(start.timestamp()) * 10**6 + start.microsecond - AT * 10**6 for (start,) in case.rows("window_start")] == STARTS


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_doubles(ending: str, tmp_path: Path) -> None:
    """Of whole numbers and fractions in one column, and through a day whose times are all whole."""
    case = Hourly(tmp_path, f"{{start:%H}}.{ending}", {"unit": "s"}, {"windows": {"hour": windows.tumbling("1us")}})
    case.write(f"00.{ending}", {"at": [AT + 10.5, AT + 20.123456, float(AT + 40)]})
    case.write(f"01.{ending}", {"at": [AT + 3600, AT + 3601]})
    assert [batch.rows_quarantined for batch in case.run(0, 1).batches] == [0, 0]
    assert [start.microsecond for (start,) in case.rows("window_start")] == [500_000, 123_456, 0, 0, 0]


def test_a_day_of_whole_seconds_and_a_day_of_fractions_in_csv(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.csv", {"unit": "s"})
    case.write("00.csv", {"at": [AT, AT + 1]})
    case.write("01.csv", {"at": [AT + 3600.25, AT + 3601]})
    assert [(batch.rows_accepted, batch.rows_quarantined) for batch in case.run(0, 1).batches] == [(2, 0), (2, 0)]


def test_what_no_time_is_goes_to_the_quarantine(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"unit": "s"})
    case.write("00.parquet", {"at": [AT + 0.5, float("nan"), float("inf"), 1e300]})
    assert [(batch.rows_accepted, batch.rows_quarantined) for batch in case.run().batches] == [(1, 3)]


@pytest.mark.parametrize(
    ("values", "unit", "says"),
    [
        (pa.array([AT + 0.5], pa.float32()), "s", "is FLOAT; it has too few digits for times; let it be written as DOUBLE"),
        (pa.array([AT + 0.5]), None, r'is DOUBLE; say unit="s", "ms", "us" or "ns", as event_time=sources\.at\("at", unit="s"\)'),
    ],
)
def test_what_cannot_be_read_says_why(values: Any, unit: str | None, says: str, tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"unit": unit} if unit else {})
    case.write("00.parquet", {"at": values})
    with pytest.raises(SourceError, match=says):
        case.run()
