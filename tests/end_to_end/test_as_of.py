"""As of: what was known of a key at an instant, drawn; what rows may be; and what is refused."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Retain, as_of, run, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError, StateError
from muntin.jobs.lookups import asked_rows
from tests.case_counts import at_length, some
from tests.end_to_end.hourly import HOUR, START, Hourly
from tests.storage.three_batches import HERE

MINUTE = timedelta(minutes=1)
KINDS = {
    "hour": windows.tumbling("1h"),
    "patient": windows.tumbling("1h", grace="1h"),
    "three": windows.arrival(windows.by_count(3)),
    "quiet": windows.session("5m"),
}


def hours(folder: Path, **other: Any) -> Hourly:
    """Hourly batches of users; windows of four kinds, unless said otherwise."""
    definition = {"keys": ["user"], "windows": KINDS, "aggregates": {"n": agg.count(), "spent": agg.sum("v")}}
    return Hourly(folder, other=definition | other)


def batch(made: Hourly, hour: int, *events: tuple[str, float, int], published: bool = True) -> None:
    """A file of an hour with (user, minutes since the start of all, value), and its run."""
    users, minutes, values = zip(*events, strict=True) if events else ((), (), ())
    at = pa.array([START + each * MINUTE for each in minutes], pa.timestamp("us", "UTC"))
    made.write(f"{hour:02}.parquet", {"user": pa.array(users, pa.string()), "at": at, "v": pa.array(values, pa.int64())})
    if published:
        run(made.pipeline, root=made.root, start=START + hour * HOUR, end=START + (hour + 1) * HOUR, spark=HERE)


def rows(*asked: tuple[str | None, float | None]) -> pa.Table:
    """Users, and when they are asked about: minutes since the start of all."""
    at = [None if minutes is None else START + minutes * MINUTE for _, minutes in asked]
    return pa.table({"user": pa.array([user for user, _ in asked], pa.string()), "seen": pa.array(at, pa.timestamp("us", "UTC"))})


def told(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    """Start of the window in minutes, and some columns."""
    starts = [each and (each - START) / MINUTE for each in table["window_start"].to_pylist()]
    return list(zip(starts, *(table[name].to_pylist() for name in columns), strict=True))


def test_a_late_event_and_a_later_batch_are_not_known_before(tmp_path: Path) -> None:
    """
    hours        0 |--------------| 60 |--------------| 120 |------------| 180
    ann             5 (v=1)             70 (v=2)  and 50 (v=9), late
    hour            [0, 60) n=1         [60, 120) n=1
    patient         closed by the batch that ends at 120: [0, 60) n=2
    """
    made = hours(tmp_path)
    batch(made, 0, ("ann", 5, 1))
    batch(made, 1, ("ann", 70, 2), ("ann", 50, 9))
    asked = rows(("ann", 59.9), ("ann", 60), ("ann", 119.9), ("ann", 120), ("bob", 60), (None, 61), ("ann", None), ("ann", -5))
    hour = as_of(made.pipeline, "hour", asked, at="seen", root=made.root)
    assert told(hour, "n", "spent") == [
        (None, None, None), (0, 1, 1), (0, 1, 1), (60, 1, 2), (0, 0, None), (0, 0, None), (None, None, None), (None, None, None)
    ]  # fmt: skip
    patient = as_of(made.pipeline, "patient", asked, at="seen", root=made.root)
    assert told(patient, "n", "spent")[:4] == [(None, None, None), (-60, 0, None), (-60, 0, None), (0, 2, 10)]
    assert told(as_of(made.pipeline, "patient", asked, at="seen", root=made.root, known="ended"), "n")[1] == (0, 2)
    then = as_of(made.pipeline, "patient", asked, at="seen", root=made.root, provisional=True)
    assert told(then, "n", "provisional")[1:4] == [(0, 1, True), (0, 1, True), (60, 1, True)]


LATE_KINDS = {
    "tumbling": (windows.tumbling("1h", grace="1h"), (0, 1), (0, 2)),
    "sliding": (windows.sliding("1h", step="30m", grace="1h"), (0, 1), (0, 2)),
    "cumulating": (windows.cumulating("1h", step="30m", grace="1h"), (0, 1), (0, 2)),
    "calendar": (windows.tumbling("1d", timezone="Atlantic/Azores", grace="1h"), (-1380, 1), (-1380, 2)),
    "trailing": (windows.trailing(1, timezone="Atlantic/Azores", grace="1h"), (-44580, 1), (-44580, 2)),
    "session": (windows.session("5m", grace="1h"), (50, 1), (47, 2)),
    "unique": (windows.unique_sliding("10m", resolution="1m", grace="1h"), (40, 1), (48, 1)),
    "arrival": (windows.arrival(windows.by_count(2)), (50, 1), (47, 2)),
}
"""Kind -> start and number of rows of ann's window at minute 60: as it was known then, and as it is today."""


@pytest.mark.parametrize("kind", some(LATE_KINDS))
def test_nothing_of_a_later_batch_leaks(kind: str, tmp_path: Path) -> None:
    """
    hours    0 |---------------------| 60 |------------------| 120
    ann                       50           and 47, late
    at 60    known: 50 alone               today: both
    """
    window, then, today = LATE_KINDS[kind]
    made = hours(tmp_path, windows={kind: window})
    batch(made, 0, ("ann", 50, 1))
    batch(made, 1, ("ann", 47, 9))
    asked = {"known": {}, "today": {"known": "ended"}}
    found = {
        name: as_of(made.pipeline, kind, rows(("ann", 60)), at="seen", root=made.root, provisional=True, **how)
        for name, how in asked.items()
    }
    assert {name: told(table, "n") for name, table in found.items()} == {"known": [then], "today": [today]}


def test_a_corrected_hour_is_what_a_run_on_schedule_over_the_corrected_files_gives(tmp_path: Path) -> None:
    made = hours(tmp_path)
    batch(made, 0, ("ann", 5, 1))
    batch(made, 1, ("ann", 70, 2))
    batch(made, 0, ("ann", 5, 1), ("ann", 6, 4))
    assert told(as_of(made.pipeline, "hour", rows(("ann", 60), ("ann", 130)), at="seen", root=made.root), "n", "spent") == [
        (0, 2, 5),
        (60, 1, 2),
    ]


def test_of_windows_that_data_make_it_is_the_last_of_the_key_at_most_so_long_ago(tmp_path: Path) -> None:
    """
    ann      5 6 7            20 ...        70
    quiet    [5, 12)          [20, 25)      [70, 75)   each known when its hour had ended
    three    (5, 6, 7)                  (20, 70, .)    never full
    """
    made = hours(tmp_path)
    batch(made, 0, *(("ann", minute, minute) for minute in (5, 6, 7, 20)))
    batch(made, 1, ("ann", 70, 70))
    asked = rows(("ann", 30), ("ann", 60), ("ann", 121), ("bob", 121))
    assert told(as_of(made.pipeline, "quiet", asked, at="seen", root=made.root), "n") == [(None, None), (20, 1), (70, 1), (None, None)]
    assert told(as_of(made.pipeline, "quiet", asked, at="seen", root=made.root, within="35m"), "n")[1:3] == [(20, 1), (None, None)]
    three = as_of(made.pipeline, "three", asked, at="seen", root=made.root)
    assert told(three, "n", "spent", "window_index") == [(None, None, None, None), *[(5, 3, 18, 0)] * 2, (None, None, None, None)]


def test_rows_are_anything_that_speaks_arrow_and_come_back_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_rows, "PIECE", 7)
    made = hours(tmp_path)
    batch(made, 0, *((f"u{number}", 5, number) for number in range(10)))
    plain = pa.table({"seen": pa.array([START + HOUR] * 20, pa.timestamp("ns")), "user": [f"u{number % 12}" for number in range(20)]})
    (tmp_path / "rows/more").mkdir(parents=True)
    pq.write_table(plain.slice(0, 11), tmp_path / "rows/a.parquet")
    pq.write_table(plain.slice(11), tmp_path / "rows/more/b.parquet")
    pq.write_table(plain, tmp_path / "rows/_draft.parquet")
    expected = [number % 12 if number % 12 < 10 else None for number in range(20)]
    coded = plain.set_column(1, "user", plain["user"].dictionary_encode())
    for given in (
        plain,
        plain.to_pandas(),
        pl.from_arrow(plain),
        duckdb.sql("FROM plain"),
        coded,
        tmp_path / "rows",
        str(tmp_path / "rows"),
    ):
        found = as_of(made.pipeline, "hour", given, at="seen", root=made.root)
        assert found["spent"].to_pylist() == expected, type(given)
        assert found.column_names == ["seen", "user", "window_start", "window_end", "n", "spent", "batch"]
    assert as_of(made.pipeline, "hour", plain.slice(0, 0), at="seen", root=made.root, prefix="h_").column_names[2:] == [
        f"h_{name}" for name in ("window_start", "window_end", "n", "spent", "batch")
    ]


def of_two(made: Hourly, folder: Path, batches: int) -> dict[str, Any]:
    """Windows of two pipelines, with keys of their own: of users, and of all rows."""
    everybody = hours(folder, name="everybody", keys=[], windows={"hour": windows.sliding("2h", step="1h")})
    run(everybody.pipeline, root=made.root, start=START, end=START + batches * HOUR, spark=HERE)
    return {"hour": made.pipeline, "quiet": made.pipeline, "all": (everybody.pipeline, "hour")}


def test_windows_of_several_pipelines_make_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_rows, "PIECE", 2)
    made = hours(tmp_path)
    batch(made, 0, ("ann", 5, 1), ("bob", 6, 2))
    batch(made, 1, ("ann", 70, 2))
    asked, wanted = rows(("ann", 60), ("bob", 119), ("eve", 130), (None, 59), ("ann", 125)), of_two(made, tmp_path, 2)
    how: dict[str, Any] = {"at": "seen", "root": made.root}
    each = as_of(made.pipeline, "hour", asked, prefix="hour_", **how)
    each = as_of(made.pipeline, "quiet", each, prefix="quiet_", within="1h", **how)
    each = as_of(wanted["all"][0], "hour", each, prefix="all_", **how)
    assert as_of(wanted, asked, within="1h", **how) == each
    assert each["all_n"].to_pylist() == [2, 2, 3, None, 3]
    two = as_of(made.pipeline, ["hour", "quiet"], asked, within="1h", prefix="f_", **how)
    assert two.column_names == [*asked.column_names, *(f"f_{name}" for name in each.column_names[2:] if not name.startswith("all_"))]


REFUSED = {
    "there is no column 'seem', the instant of each row; there are user, seen; did you mean 'seen'": {"at": "seem"},
    "column 'user' is string; a look-up needs a timestamp": {"at": "user"},
    "there is no column 'user', the key of the windows": {"rows": pa.table({"seen": [START]})},
    "column 'user' is int64, and the key 'user' of the windows is string": {"rows": pa.table({"seen": [START], "user": [7]})},
    "there is a column 'n' already": {"rows": rows(("ann", 60)).append_column("n", pa.array([1]))},
    "2 columns are called 'user'": {"rows": rows(("ann", 60)).append_column("user", pa.array([1]))},
    "no window 'hours'": {"window": "hours"},
    "known: 'now' is neither": {"known": "now"},
    "within: 'hour' has a grid": {"within": "1h"},
    "int does not speak Arrow": {"rows": 7},
    "there is no Parquet file at /nowhere": {"rows": "/nowhere"},
    "instants that microseconds do not hold": {"rows": pa.table({"user": ["ann"], "seen": pa.array([2**60], pa.timestamp("s", "UTC"))})},
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_asked_is_refused_by_name(text: str, tmp_path: Path) -> None:
    made = hours(tmp_path)
    batch(made, 0, ("ann", 5, 1))
    asked = {"window": "hour", "rows": rows(("ann", 60)), "at": "seen"} | REFUSED[text]
    with pytest.raises((DefinitionError, SourceError), match=text.replace("(", r"\(")):
        as_of(made.pipeline, asked.pop("window"), asked.pop("rows"), root=made.root, **asked)


def test_several_windows_that_cannot_be_asked_are_refused(tmp_path: Path) -> None:
    made = hours(tmp_path)
    batch(made, 0, ("ann", 5, 1))
    asked, how = rows(("ann", 60)), {"at": "seen", "root": made.root}
    for words, text in (
        ((made.pipeline, ["hour", "hours"], asked), "no window 'hours'"),
        ((made.pipeline, [], asked), "no window is named"),
        ((made.pipeline, asked), r"write as_of\(pipeline, WINDOW, ROWS"),
        (({"hour": made.pipeline}, "hour", asked), r"write as_of\(\{WINDOW: pipeline\}, ROWS"),
    ):
        with pytest.raises(DefinitionError, match=text):
            as_of(*words, **how)


def test_before_the_first_run_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"no window 'hour' is published below .* run it first"):
        as_of(hours(tmp_path).pipeline, "hour", rows(("ann", 60)), at="seen", root=tmp_path / "state")


def test_windows_that_are_removed_are_not_taken_for_empty_ones(tmp_path: Path) -> None:
    made = hours(tmp_path, retain=Retain(windows="2h"))
    for hour in range(8):
        batch(made, hour, ("ann", 60 * hour + 5, hour))
    from muntin.jobs.housekeeping.expire import expire
    from muntin.jobs.state.bound import bind

    while expire(bind(made.pipeline, made.root), at_once=True):
        pass
    assert told(as_of(made.pipeline, "hour", rows(("ann", 480)), at="seen", root=made.root), "n") == [(420, 1)]
    with pytest.raises(StateError, match=r"1 rows ask for windows that batches before .* closed; these are removed"):
        as_of(made.pipeline, "hour", rows(("ann", 480), ("ann", 61)), at="seen", root=made.root)


def test_longs_and_ints_are_the_same_key(tmp_path: Path) -> None:
    made = hours(tmp_path, keys=["v"], aggregates={"n": agg.count()})
    batch(made, 0, ("ann", 5, 1), ("ann", 5, 2))
    seen = pa.array([START + HOUR] * 3, pa.timestamp("ms", "Europe/Berlin"))
    for kind in (pa.int8(), pa.uint32(), pa.int64()):
        found = as_of(made.pipeline, "hour", pa.table({"v": pa.array([1, 3, 2], kind), "seen": seen}), at="seen", root=made.root)
        assert found["n"].to_pylist() == [1, 0, 1], kind


@at_length
def test_so_it_is_on_spark(tmp_path: Path, spark: Any) -> None:
    made = hours(tmp_path)
    batch(made, 0, *((f"u{number}", 5, number) for number in range(10)))
    plain = pa.table({"id": range(20), "user": [f"u{number % 12}" for number in range(20)], "seen": pa.array([START + HOUR] * 20)})
    plain = plain.set_column(2, "seen", plain["seen"].cast(pa.timestamp("us", "UTC")))
    here = as_of(made.pipeline, "hour", plain, at="seen", root=made.root)
    there = as_of(made.pipeline, "hour", spark.createDataFrame(plain), at="seen", root=made.root)
    assert there.orderBy("id").toArrow().cast(here.schema) == here
    wanted = of_two(made, tmp_path, 1)
    here = as_of(wanted, plain, at="seen", root=made.root)
    there = as_of(wanted, spark.createDataFrame(plain), at="seen", root=made.root)
    assert there.orderBy("id").toArrow().cast(here.schema) == here
    with pytest.raises(DefinitionError, match="there is no column 'at'"):
        as_of(made.pipeline, "hour", spark.createDataFrame(plain), at="at", root=made.root)
