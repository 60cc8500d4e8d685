"""Rows are not counted before they are lifted where footers tell how many there are: what comes of them is what comes of counted rows."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.kinds import Cycle
from muntin.files.paths import path_of
from muntin.jobs.accumulate import accumulate_split, accumulate_task, split_rows
from muntin.jobs.inspect.late import quarantined
from muntin.sources import listing
from muntin.sources.reading import footers
from muntin.states.derived_columns import Extent
from muntin.states.rows_in_slots import rows_in_slots
from muntin.states.slot_tables import Dense, Layout, Lifted, Linked
from muntin.tasks import Local
from muntin.windows.kind import Window
from tests.case_counts import paired
from tests.source_options import grouped

ROWS = 6_000
HOUR = timedelta(hours=1)
START = datetime(2024, 11, 3, 5, tzinfo=UTC)  # in New York, clocks are set back an hour later
START_US = int(START.timestamp()) * 1_000_000
UTC_US, LOCAL_US, LOCAL_NS = pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.timestamp("ns")
NEW_YORK = {"timezone": "America/New_York"}


def instants(rows: int) -> np.ndarray:
    """An hour of times."""
    return START_US + np.arange(rows) * (3_600_000_000 // rows)


def with_next_year(us: np.ndarray) -> pa.Array:
    """The times, some of them of the next year, which no batch takes."""
    return pa.array(us + np.where(np.arange(len(us)) % 1000 == 100, 400 * 86_400_000_000, 0), UTC_US)


def local(times: np.ndarray, zone: str = "America/New_York") -> pa.Array:
    shown = pa.array(times, UTC_US).cast(pa.timestamp("us", tz=zone))
    return pc.local_timestamp(shown)


def before_a_change(times: np.ndarray) -> pa.Array:
    """The local times, the last of them at the end of the hour before clocks are set back."""
    return local(times - 3_600_000_000)


# type of the times in the file, options of the writer, options of the source, whether the footer tells the times
TIMES: dict[str, tuple[Callable[[np.ndarray], pa.Array], dict[str, Any], dict[str, Any], bool]] = {
    "instants": (lambda us: pa.array(us, UTC_US), {}, {}, True),
    "some without": (lambda us: pa.array(us, UTC_US, mask=np.arange(len(us)) % 50 == 3), {}, {}, True),
    "some not taken": (with_next_year, {}, {}, False),
    "none at all": (lambda us: pa.nulls(len(us), UTC_US), {}, {}, False),
    "milliseconds": (lambda us: pa.array(us // 1000, pa.timestamp("ms")), {}, {}, True),
    "nanoseconds": (lambda us: pa.array(us * 1000, LOCAL_NS), {}, {}, True),
    "96 bits": (lambda us: pa.array(us, LOCAL_US), {"use_deprecated_int96_timestamps": True}, {}, False),
    "of a zone": (lambda us: local(us, "Asia/Tokyo"), {}, {"timezone": "Asia/Tokyo"}, True),
    "before a change": (before_a_change, {}, NEW_YORK, True),
    "twice": (local, {}, {**NEW_YORK, "ambiguous": "first"}, False),
    "at a change": (lambda us: local(us - 1_800_000_000), {}, NEW_YORK, False),
    "integers": (lambda us: pa.array(us // 1_000_000), {}, {"unit": "s"}, True),
    "texts": (lambda us: pa.array(us, UTC_US).cast(pa.string()), {}, {}, False),
    "texts of a type": (lambda us: pa.array(us, UTC_US).cast(pa.string()), {}, {"types": {"t": "TIMESTAMPTZ"}}, False),
    "no statistics": (lambda us: pa.array(us, UTC_US), {"write_statistics": False}, {}, False),
}
KINDS: dict[str, Window] = {
    "slots": windows.tumbling("10m"),
    "groups": windows.tumbling("1ms"),
    "runs": windows.session("1s"),
    "rows": windows.arrival(windows.by_count(7)),
}


def definition(folder: Path | str, kinds: list[str], **options: Any) -> Pipeline:
    return Pipeline(
        name="told",
        source=sources.files(f"{folder}/*.parquet", **grouped(event_time="t", all_files=True, **options)),
        schedule="1h",
        limits=Limits(max_quarantined=None),
        start=START,
        keys=["k"],
        windows={name: KINDS[name] for name in kinds},
        aggregates={"n": agg.count(), "total": agg.sum("x"), "wide": agg.stddev("x")},
    )


def write(folder: Path, times: Callable[[np.ndarray], pa.Array], **how: Any) -> None:
    folder.mkdir()
    for number, rows in enumerate((ROWS, ROWS // 2)):
        columns = {"t": times(instants(rows)), "k": np.arange(rows) % 7, "x": np.arange(rows)}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=700, **how)


def result(pipeline: Pipeline, root: Path) -> tuple[list[str], list[Any], list[Any]]:
    """The names of all files of states, which tell their content and their newest time; counts of the batch; refused rows."""
    (batch,) = run(pipeline, root=root, start=START, end=START + HOUR, spark=Local(1)).batches
    refused = quarantined(pipeline, root=root).select(["file", "position", "reason"]).to_pylist()
    names = sorted(str(path.relative_to(root)) for path in root.rglob("frames/**/*.parquet"))
    return names, [batch.rows_read, batch.rows_accepted, batch.rows_quarantined], sorted(tuple(row.values()) for row in refused)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Extent | None]:
    """Slots for however few rows, each split read alone; what footers told of each."""
    found, tell = list[Extent | None](), footers.told_extent

    def noting(*args: Any) -> Extent | None:
        found.append(tell(*args))
        return found[-1]

    monkeypatch.setattr(accumulate_split, "MANY_ROWS", 1)
    monkeypatch.setattr(split_rows, "MANY_ROWS", 1)
    monkeypatch.setattr(accumulate_task, "may_bundle", lambda _: False)
    monkeypatch.setattr(footers, "told_extent", noting)
    return found


def counted(pipeline: Pipeline, root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[Any], list[Any]]:
    with monkeypatch.context() as patch:
        patch.setattr(footers, "told_extent", lambda *_: None)
        return result(pipeline, root)


@pytest.mark.parametrize(("name", "kinds"), paired(TIMES, [["slots"], ["groups"], ["runs"], ["rows"], [*KINDS]]))
def test_told_rows_are_counted_rows(tmp_path: Path, name: str, kinds: list[str], told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    times, how, options, tells = TIMES[name]
    write(tmp_path / "data", times, **how)
    pipeline = definition(tmp_path / "data", kinds, **options)
    expected = counted(pipeline, tmp_path / "counted", monkeypatch)
    assert result(pipeline, tmp_path / "told") == expected
    assert [each is not None for each in told] == [tells]
    assert not tells or told[0].rows == ROWS * 3 // 2


@pytest.mark.parametrize("name", ["file_name", "row_group_num_rows", "stats_min_value", "found", "ends"])
def test_times_may_have_a_name_of_footers(tmp_path: Path, name: str, told: Any) -> None:
    write(tmp_path / "data", TIMES["instants"][0])
    for file in (tmp_path / "data").iterdir():
        pq.write_table(pq.read_table(file).rename_columns({"t": name}), file)
    source = sources.files(f"{tmp_path}/data/*.parquet", event_time=name, all_files=True)
    result(dataclasses.replace(definition(tmp_path / "data", ["slots"]), source=source), tmp_path / "told")
    assert [each.rows for each in told] == [ROWS * 3 // 2]


def test_where_footers_fail_rows_are_counted(tmp_path: Path, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Extent:
        raise duckdb.ConversionException("a statistic of another column")

    write(tmp_path / "data", TIMES["instants"][0])
    pipeline = definition(tmp_path / "data", ["slots"])
    expected = result(pipeline, tmp_path / "told")
    monkeypatch.setattr(footers, "told_extent", failing)
    assert result(pipeline, tmp_path / "counted") == expected


def test_rows_of_many_columns_are_counted(tmp_path: Path, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_rows, "MOST_COLUMNS", 2)
    write(tmp_path / "data", TIMES["instants"][0])
    result(definition(tmp_path / "data", ["slots"]), tmp_path / "told")
    assert not told


def test_few_rows_are_counted(tmp_path: Path, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_rows, "MANY_ROWS", 2**17)
    write(tmp_path / "data", TIMES["instants"][0])
    result(definition(tmp_path / "data", [*KINDS]), tmp_path / "told")
    assert not told


def test_parts_of_a_file(tmp_path: Path, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "SPLIT_BYTES", 30_000)
    write(tmp_path / "data", TIMES["instants"][0])
    pipeline = definition(tmp_path / "data", [*KINDS])
    assert result(pipeline, tmp_path / "told") == counted(pipeline, tmp_path / "counted", monkeypatch)
    assert len(told) > 3
    assert sum(each.rows for each in told) == ROWS * 3 // 2
    assert max(each.newest - each.oldest for each in told) < 3_000_000_000, "of the part alone"


def test_footers_in_an_object_store(tmp_path: Path, bucket: str, told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data", TIMES["instants"][0])
    for file in (tmp_path / "data").iterdir():
        path_of(bucket, f"data/{file.name}").write_bytes(file.read_bytes())
    pipeline = definition(f"{bucket}/data", [*KINDS])
    assert result(pipeline, tmp_path / "told") == counted(pipeline, tmp_path / "counted", monkeypatch)
    assert [each.rows for each in told] == [ROWS * 3 // 2]


# the footers say 05:10 - 05:20, the rows lie in 05:00 - 06:00
@pytest.mark.parametrize(("wrong", "kinds"), paired([(0, 600), (600, 1200), (600, 3600), (600, 0)], [["slots"], [*KINDS]]))
def test_footers_that_are_wrong(
    tmp_path: Path, wrong: tuple[int, int], kinds: list[str], told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest, newest = (START_US + seconds * 1_000_000 for seconds in wrong)
    write(tmp_path / "data", TIMES["instants"][0])
    pipeline = definition(tmp_path / "data", kinds)
    expected = counted(pipeline, tmp_path / "counted", monkeypatch)
    monkeypatch.setattr(footers, "told_extent", lambda *_: Extent(ROWS * 3 // 2, oldest, newest))
    assert result(pipeline, tmp_path / "told") == expected


@pytest.mark.parametrize(("where", "options"), [("x % 2 = 0", {}), (None, {"dedupe": ["x"]})])
def test_rows_that_states_do_not_tell_of_are_counted(tmp_path: Path, where: str | None, options: dict[str, Any], told: Any) -> None:
    write(tmp_path / "data", TIMES["some without"][0])
    pipeline = dataclasses.replace(definition(tmp_path / "data", ["slots"], **options), where=where)
    _, (read, accepted, refused), rows = result(pipeline, tmp_path / "told")
    assert not told
    assert (read, refused, len(rows)) == (ROWS * 3 // 2, 180, 180)
    assert accepted <= read - refused


TENS = Cycle(10, (0,))


# most says 2 rows of the times 10 - 29
@pytest.mark.parametrize(
    ("times", "fits"),
    [([10, 29], True), ([29], True), ([10, 29, 29], False), ([9], False), ([10, 30], False), ([-(2**62)], False), ([], False)],
)
@pytest.mark.parametrize("layout", [lambda: Dense(TENS, 1, 2, 2), lambda: Linked(TENS, 2)], ids=["dense", "linked"])
def test_other_rows_than_told_are_left_to_groups(layout: Callable[[], Layout], times: list[int], fits: bool) -> None:
    batches = [pa.record_batch({"k": [1], "t": [time], "x": [2.5]}) for time in times]
    columns = {"rows": Lifted("count", "t"), "total": Lifted("sum", "x")}
    found = rows_in_slots(batches, ["k"], "t", columns, Extent(2, 10, 29), [layout()])
    assert (found is not None) == fits
    assert found is None or found.extent == Extent(len(times), times[0], times[-1])


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_rows_are_left_to_groups_as_soon_as_a_sum_is_not_finite(odd: float) -> None:
    batches = iter([pa.record_batch({"k": [1], "t": [time], "x": [odd if time == 11 else 2.5]}) for time in range(10, 20)])
    columns = {"rows": Lifted("count", "t"), "total": Lifted("sum", "x")}
    assert rows_in_slots(batches, ["k"], "t", columns, Extent(10, 10, 29), [Linked(TENS, 10)]) is None
    assert len(list(batches)) == 8
