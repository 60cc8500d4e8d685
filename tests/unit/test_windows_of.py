"""`windows_of`: windows by hand, and the same windows as a run over files, batch by batch, for every kind."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from subprocess import run as start
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError
from muntin.tasks import Local
from muntin.testing import report_of, windows_of
from tests.case_counts import some
from tests.catalogue import kinds as catalogue
from tests.catalogue.given_tables import with_table

START = datetime(2024, 3, 1, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
KINDS: dict[str, Any] = {kind.name: kind.window for kind in catalogue.KINDS} | {
    "given": with_table(
        windows.given("shifts.csv", start="begins", end="ends"),
        [tuple(instant_us(START + hours * HOUR, "hours") for hours in each) for each in ((0, 8), (5, 30), (8, 16))],
    ),
    "tumbling": windows.tumbling("6h", grace="1h"),
    "month": windows.tumbling("1mo", timezone="Europe/Vienna"),
    "sliding": windows.sliding("6h", step="2h"),
    "cumulating": windows.cumulating("1d", step="6h"),
    "session": windows.session("2h", grace="1h"),
    "cut": windows.session("3h", max_length="5h"),
    "unique_sliding": windows.unique_sliding("3h", resolution="1h"),
    "all_time": windows.all_time(),
    "by_count": windows.arrival(windows.by_count(3)),
    "by_time": windows.arrival(windows.by_time("4h"), trigger=windows.by_count(2)),
    "by_delta": windows.arrival(windows.by_delta("v", 4)),
    "by_punctuation": windows.arrival(windows.by_punctuation("v = 5")),
    "progressive_sort": windows.progressive_sort(3, by="v"),
    "while_": windows.while_("v > 3", at_most="6h", grace="1h"),
    "while_same": windows.while_same("v // 4", name="four"),
    "between": windows.between("v > 6", "v < 3", max_length="12h"),
}


def at(day: int, hour: float) -> datetime:
    return START + timedelta(days=day, hours=hour)


def row(when: datetime, k: str, v: int) -> dict[str, Any]:
    return {"t": when, "k": k, "v": v, "came": when}


def flow(**more: Any) -> Pipeline:
    usual: dict[str, Any] = {
        "name": "flow",
        "source": sources.files("nowhere/{start:%Y-%m-%d}.parquet", event_time="t"),
        "schedule": "@daily",
        "start": START,
        "keys": ["k"],
        "windows": {"six": windows.tumbling("6h")},
        "aggregates": {"n": agg.count(), "total": agg.sum("v"), "middle": agg.median("v"), "opening": agg.first("v")},
    }
    return Pipeline(**usual | more)


def day(number: int, first: int) -> list[dict[str, Any]]:
    """Twelve rows in order of time, of two keys; from the second day on the last comes a day late."""
    hours = [0, 1, 1.5, 4, 5, 9, 13, 13.5, 14, 20, 23]
    rows = [row(at(number, hour), "ab"[place % 2], (first + place * 7) % 10) for place, hour in enumerate(hours)]
    return [*rows, row(at(number - 1, 22), "a", 9)] if number else rows


# six    [00, 06)   [06, 12)   [12, 18)   [18, 24)   [00, 06)
# day 1  a 1 a 2                                      a 8
# day 2  a 16 too late                                a 4
def test_windows_by_hand() -> None:
    first = [row(at(0, 1), "a", 1), row(at(0, 5), "a", 2), row(at(1, 1), "a", 8)]
    second = [row(at(0, 2), "a", 16), row(at(1, 2), "a", 4)]
    found = windows_of(flow(), [first, second])
    assert [(each["window_start"], each["total"], each["batch"]) for each in found.to_pylist()] == [
        (at(0, 0), 3, at(0, 0)),
        (at(1, 0), 12, at(1, 0)),
    ]
    assert [batch.rows_late for batch in report_of(flow(), [first, second])] == [0, 1]


@pytest.mark.parametrize(("kind", "policy"), some(product(KINDS, ["interval", "events"])))
def test_every_kind_gives_what_runs_over_files_publish(kind: str, policy: str, tmp_path: Path) -> None:
    source = sources.files(str(tmp_path / "{start:%Y-%m-%d}.parquet"), event_time="t", arrival_time="came" if kind == "by_time" else None)
    rows = [day(number, number * 3) for number in range(4)]
    if kind == "by_time":  # arrival never goes back
        rows = [[each for each in batch if each["t"] >= at(number, 0)] for number, batch in enumerate(rows)]
    defined = flow(
        source=source, windows={"w": KINDS[kind]}, watermark=policy, aggregates={**flow().aggregates, "double": "2 * n"}, where="v <> 3"
    )
    for number, batch in enumerate(rows):
        pq.write_table(pa.Table.from_pylist(batch), tmp_path / f"{at(number, 0):%Y-%m-%d}.parquet")
        run(defined, root=tmp_path / "state", start=at(number, 0), end=at(number + 1, 0), spark=Local(1))
    for provisional in (False, True):
        wanted = read(defined, "w", root=tmp_path / "state", provisional=provisional)
        assert windows_of(defined, rows, provisional=provisional).equals(wanted)
        assert len(wanted) or kind in ("month", "trailing", "all_time")


def test_tables_instead_of_dicts() -> None:
    rows = [day(0, 1), day(1, 2)]
    assert windows_of(flow(), [pa.Table.from_pylist(batch) for batch in rows]).equals(windows_of(flow(), rows))


def test_a_list_may_have_empty_batches() -> None:
    assert windows_of(flow(), [[], day(1, 2), []])["batch"].unique().to_pylist() == [at(1, 0)]


def test_a_column_may_stand_in_some_rows_only() -> None:
    found = windows_of(flow(), [[row(at(0, 1), "a", 1), {"t": at(0, 2), "k": "a"}]])
    assert (found["n"].to_pylist(), found["total"].to_pylist()) == ([2], [1])


def test_an_interval_that_a_mapping_leaves_out_is_missing() -> None:
    found = windows_of(flow(), {at(0, 0): day(0, 1), at(2, 0): day(2, 1)})
    assert found["batch"].unique().to_pylist() == [at(0, 0)]


def test_open_windows_and_empty_ones() -> None:
    rows = [[row(at(0, 1), "a", 1), row(at(0, 13), "a", 1), row(at(1, 1), "a", 1)]]
    assert len(windows_of(flow(), rows)) == 2
    assert windows_of(flow(), rows, provisional=True)["provisional"].to_pylist() == [False, False, True]
    assert windows_of(flow(), rows, dense=True)["n"].to_pylist() == [1, 0, 1]


def test_windows_over_windows_take_the_rows_below() -> None:
    upper = flow(
        name="upper", source=sources.windows(flow(), "six"), windows={"day": windows.tumbling("1d")}, aggregates={"most": agg.max("total")}
    )
    lower = windows_of(flow(), [day(0, 1), day(1, 2)])
    tops = [max(each["total"] for each in lower.to_pylist() if each["k"] == key and each["window_end"] < at(1, 0)) for key in "ab"]
    assert windows_of(upper, [day(0, 1), day(1, 2)]).slice(0, 1)["most"].to_pylist() == tops[:1]


@pytest.mark.parametrize(
    ("change", "call", "words"),
    [
        ({"aggregates": {"n": agg.sum("price")}}, {}, "does not fit the source"),
        ({"keys": ["city"]}, {}, "no column 'city'"),
        ({}, {"window": "month"}, "no window 'month'"),
        ({"windows": {"six": windows.tumbling("6h"), "day": windows.tumbling("1d")}}, {}, "window: say which, as window='six'"),
    ],
)
def test_what_does_not_fit_is_told(change: dict[str, Any], call: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        windows_of(replace(flow(), **change), [day(0, 1)], **call)


def test_values_of_two_types_are_told() -> None:
    with pytest.raises(DefinitionError, match="the values of 'v' are not of one type"):
        windows_of(flow(), [[row(at(0, 1), "a", 1), {"t": at(0, 2), "k": "a", "v": "two"}]])


def test_an_instant_that_is_no_border_is_told() -> None:
    with pytest.raises(DefinitionError, match="is not a border of the schedule"):
        windows_of(flow(), {at(0, 5): day(0, 1)})


def test_a_schedule_may_begin_between_two_borders() -> None:
    assert windows_of(flow(start=at(0, 5)), [day(1, 1)])["batch"].unique().to_pylist() == [at(1, 0)]


def test_neither_spark_nor_airflow_is_imported() -> None:
    heavy = ("pyspark", "airflow", "great_expectations", "matplotlib")
    words = f"import sys, muntin.testing; print(sorted(set({heavy}) & set(sys.modules)))"
    assert start([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_names_with_blanks() -> None:
    spaced = Pipeline(
        name="spaced",
        source=sources.files("{start:%Y-%m-%d}.csv", event_time="placed at"),
        schedule="@daily",
        start=START,
        keys=["shop name"],
        where='"amount paid" > 0',
        windows={"day": windows.tumbling("1d")},
        aggregates={"total paid": agg.sum('"amount paid"'), "n": agg.count(), "a head": '"total paid" / n'},
    )
    (row,) = windows_of(spaced, [[{"placed at": START, "shop name": "a b", "amount paid": paid} for paid in (3, 4, -1)]]).to_pylist()
    assert [row[name] for name in ("shop name", "total paid", "a head")] == ["a b", 7, 3.5]
