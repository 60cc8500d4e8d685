"""Windows given by a table that changes from run to run: shifts of two sites over three machines.

hours            0        1        2        3
site A           [ early  )[      late      )
site A           [          long            )
site B           [       all       )
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from muntin import aggregates as agg
from muntin import plan, read, sources, windows
from muntin.definition.instants import instant_us
from muntin.definition.pipeline import at_home
from muntin.engine.given_spans import END as END_OF_SPAN
from muntin.engine.given_spans import START as START_OF_SPAN
from muntin.engine.given_spans import given_spans
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.status import status
from muntin.jobs.publish.publish import publish
from muntin.jobs.published.staged_windows import Staged
from muntin.jobs.state.bound import bind, claimed
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.states.columns import INSTANT
from muntin.tasks import Local
from muntin.timeline.closing import closing
from tests.end_to_end.hourly import START, Hourly, hour, times

EARLY, LATE, LONG, ALL = ("A", "early", 0, 60), ("A", "late", 60, 180), ("A", "long", 0, 180), ("B", "all", 0, 120)
SPANS = (EARLY, LATE, LONG, ALL)
Spans = Sequence[tuple[str, str, float, float]]


def table_of(spans: Spans) -> pa.Table:
    """Site, name, start and end in minutes."""
    sites, names, starts, ends = zip(*spans, strict=True) if spans else ((), (), (), ())
    instant, text = pa.timestamp("us", tz="UTC"), pa.string()
    columns = {"site": pa.array(sites, text), "shift": pa.array(names, text)}
    return pa.table(columns | {"begins": pa.array(times(*starts), instant), "ends": pa.array(times(*ends), instant)})


def made(folder: Path, spans: Spans = SPANS, source: Any = None, **more: Any) -> Hourly:
    """Three hours of four events, of sites A and B."""
    kind = windows.given(
        source or str(folder / "shifts.csv"), start="begins", end="ends", keys=["site"], columns=["shift"], **more.pop("kind", {})
    )
    other = {"keys": ["site", "machine"], "windows": {"hour": kind}, "aggregates": {"n": agg.count(), "x": agg.mean("x")}}
    case = Hourly(folder, other=other | more)
    folder.mkdir(exist_ok=True)
    put(case, spans)
    for at in range(3):
        minutes = times(*(at * 60 + minute for minute in (0, 5, 30, 59)))
        columns = {"site": ["A", "A", "B", "A"], "machine": [1, 2, 1, 1], "x": [0.1 + at, 0.7, -3.3, 1e9]}
        case.write(f"{at:02d}.parquet", {"at": minutes, **columns})
    return case


def put(case: Hourly, spans: Spans) -> None:
    """The table holds these spans from now on."""
    lines = [f"{site},{name},{times(start)[0]:%Y-%m-%d %H:%M:%S},{times(end)[0]:%Y-%m-%d %H:%M:%S}" for site, name, start, end in spans]
    (case.folder / "shifts.csv").write_text("\n".join(["site,shift,begins,ends", *lines]) + "\n")


def counts(case: Hourly) -> dict[tuple[Any, ...], int]:
    """(site, machine, shift, hours from, to) -> rows."""
    rows = case.rows("site", "machine", "shift", "window_start", "window_end", "n")
    return {(site, machine, shift, (start - START) / (hour(1) - START), (end - START) / (hour(1) - START)): n
            for site, machine, shift, start, end, n in rows}  # fmt: skip


FIRST = {
    ("A", 1, "early", 0, 1): 2, ("A", 1, "late", 1, 3): 4, ("A", 1, "long", 0, 3): 6,
    ("A", 2, "early", 0, 1): 1, ("A", 2, "late", 1, 3): 2, ("A", 2, "long", 0, 3): 3,
    ("B", 1, "all", 0, 2): 2,
}  # fmt: skip


def test_a_span_is_a_window_of_each_key_that_it_is_of(tmp_path: Path) -> None:
    case = made(tmp_path)
    report = case.run(0, 2)
    assert counts(case) == FIRST
    assert report.tables["hour"].startswith(f"{tmp_path}/shifts.csv, 4 spans, content ")
    assert json.loads(json.dumps(report.to_dict()))["tables"] == report.tables
    assert [each.windows_closed for each in report.batches] == [{"hour": 2}, {"hour": 1}, {"hour": 4}]


def test_published_windows_are_read_without_the_table(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 1)
    before = read(case.pipeline, "hour", root=case.root, provisional=True)
    (tmp_path / "shifts.csv").unlink()
    assert read(case.pipeline, "hour", root=case.root, provisional=True).equals(before)
    assert explain(case.pipeline, "hour", root=case.root, key=("A", 1), at=hour(0.5)).windows


def test_the_report_of_each_batch_names_the_copy_of_the_table(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 0)
    rows = DeltaTable(str(next(case.root.glob("hourly/*/reports")))).to_pyarrow_table().to_pylist()
    [copy] = case.root.glob("hourly/*/given/*.parquet")
    assert [json.loads(row["tables"]) for row in rows if row["step"] == "publish"] == [{"hour": copy.name}]


# late ends an hour sooner: it moves to the batch before; nothing else is derived but what these two batches close
def test_a_table_that_changes_is_a_replaced_batch_of_it(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    before = read(case.pipeline, "hour", root=case.root)
    put(case, [EARLY, ("A", "late", 60, 120), LONG, ALL])
    assert plan(case.pipeline, root=case.root, start=hour(2), end=hour(3)).windows == {"hour": (hour(1), hour(2))}
    report = case.run(2, 2)
    assert report.published == {"hour": (hour(1), hour(2))}
    [changed] = report.changed["hour"]
    assert sorted((row["change"], row["key"]["shift"]) for row in changed.rows()) == [("gone", "late")] * 2 + [("new", "late")] * 2
    late = {("A", 1, "late", 1, 2): 2, ("A", 2, "late", 1, 2): 1}
    assert counts(case) == {key: n for key, n in FIRST.items() if key[2] != "late"} | late
    assert case.run(2, 2).published == {}
    put(case, SPANS)
    case.run(2, 2)
    assert read(case.pipeline, "hour", root=case.root).equals(before)


def test_a_span_that_is_gone_takes_its_windows_with_it(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    put(case, [EARLY, LATE, ALL])
    assert case.run(0, 0).published == {"hour": (hour(2),)}
    assert counts(case) == {key: n for key, n in FIRST.items() if key[2] != "long"}
    put(case, [])
    case.run(0, 0)
    assert counts(case) == {}


def test_the_order_of_lines_and_the_place_of_the_table_change_nothing(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    put(case, SPANS[::-1])
    assert case.run(2, 2).published == {}
    (tmp_path / "shifts.csv").rename(tmp_path / "moved.csv")
    kind = case.pipeline.windows["hour"]
    elsewhere = replace(kind, table=replace(kind.given_by, source=f"{tmp_path}/moved.csv"))
    moved = replace(case, other={**case.other, "windows": {"hour": elsewhere}})
    assert moved.run(2, 2).published == {}


def test_late_rows_count_anew_where_a_span_comes_later(tmp_path: Path) -> None:
    """At 2:10 comes a row of 0:10: late for a span that ended at 1:00, whenever the table says so."""
    case, other = made(tmp_path / "one"), made(tmp_path / "other", [*SPANS, ("B", "first", 0, 60)])
    for each in (case, other):
        each.write("02b.parquet", {"at": times(10), "site": ["B"], "machine": [1], "x": [0.5]})
        each.run(0, 2)
    put(case, [*SPANS, ("B", "first", 0, 60)])
    case.run(1, 1)
    assert counts(case) == counts(other)
    ours, theirs = (status(each.pipeline, root=each.root).windows[0] for each in (case, other))
    assert (ours.rows_late, ours.windows_missed) == (theirs.rows_late, theirs.windows_missed) == (1, 2)


def test_a_copy_of_the_table_that_is_lost_costs_a_derivation_of_all(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    [copy] = case.root.glob("hourly/*/given/*.parquet")
    copy.write_bytes(b"damaged")
    report = case.run(2, 2)
    assert report.published == {"hour": (hour(0), hour(1), hour(2))}
    assert "table that windows were published by is lost" in report.remarks[0]
    assert counts(case) == FIRST
    assert case.run(2, 2).remarks == ()


def test_copies_that_nobody_needs_are_swept(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    put(case, SPANS[:3])
    case.run(2, 2)
    removed = vacuum(case.root, older_than_us=0, now=datetime(2100, 1, 1, tzinfo=UTC))
    assert [each.files for each in removed if each.what == "outlived tables"] == [1]
    assert case.run(2, 2).published == {}


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([*SPANS, ("A", "none", 60, 60)], "ends is not after begins: row 5 ('2024-01-01 01:00:00'); a span ends after it starts"),
        ([("A", "odd", 0.5, 60)], "begins is no whole multiple of 1m: row 1 ('2024-01-01 00:00:30'); say a finer resolution="),
        ([*SPANS, EARLY], "1 row too many, the first of the span from 2024-01-01 to 2024-01-01T01:00, site A, shift early"),
    ],
)
def test_rows_that_are_no_spans_are_refused(spans: Spans, said: str, tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 2)
    put(case, spans)
    with pytest.raises(SourceError, match=r"windows.given, table .*shifts.csv: ") as wrong:
        case.run(2, 2)
    assert said in str(wrong.value)
    put(case, SPANS)
    assert counts(case) == FIRST


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    case = made(tmp_path)
    with (tmp_path / "shifts.csv").open("a") as lines:
        lines.write("A,open,2024-01-01 05:00:00,\n")
    with pytest.raises(SourceError, match=r"ends is no time: row 5 \(None\); each span has a start and an end"):
        case.run(0, 0)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    case = made(tmp_path)
    (tmp_path / "shifts.csv").unlink()
    with pytest.raises(SourceError, match=r"windows.given, table .*shifts.csv: there is no file"):
        case.run(0, 0)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    case = made(tmp_path)
    (tmp_path / "shifts.csv").write_text("site,begins,ends\n")
    with pytest.raises(SourceError, match=r"shifts.csv: columns: no column 'shift'; there are site, begins, ends"):
        case.run(0, 0)


def test_a_key_of_another_type_is_refused(tmp_path: Path) -> None:
    case = made(tmp_path, [("1", "x", 0, 60)])
    with pytest.raises(DefinitionError, match=r"site is int64 in .*shifts.csv, and the key site is string: no span would meet a key"):
        case.run(0, 0)


def test_a_delta_table_tells_its_version(tmp_path: Path) -> None:
    place = str(tmp_path / "shifts")
    write_deltalake(place, table_of(SPANS))
    case = made(tmp_path, source=sources.table(place, event_time="begins"))
    assert "shifts, version 0, 4 spans" in case.run(0, 2).tables["hour"]
    assert counts(case) == FIRST
    write_deltalake(place, table_of(SPANS[:2]), mode="overwrite")
    report = case.run(2, 2)
    assert "shifts, version 1, 2 spans" in report.tables["hour"]
    assert counts(case) == {key: n for key, n in FIRST.items() if key[2] in ("early", "late")}


def test_times_of_a_zone_are_as_the_source_says(tmp_path: Path) -> None:
    source = sources.files(str(tmp_path / "shifts.csv"), event_time=sources.at("begins", timezone="Asia/Kolkata"), all_files=True)
    case = made(tmp_path, source=source, kind={"resolution": "30m"})
    put(case, [("A", "early", 330, 390)])
    case.run(0, 2)
    assert counts(case) == {("A", 1, "early", 0, 1): 2, ("A", 2, "early", 0, 1): 1}


def test_rollups_keep_the_keys_of_the_table(tmp_path: Path) -> None:
    case = made(tmp_path, rollups={"site": ["site"]})
    case.run(0, 2)
    found = read(case.pipeline, "hour.site", root=case.root)
    rows = sorted(zip(*(found[name].to_pylist() for name in ("site", "shift", "n")), strict=True))
    assert rows == [("A", "early", 3), ("A", "late", 6), ("A", "long", 9), ("B", "all", 2)]
    with pytest.raises(DefinitionError, match=r"'hour.all'\]: the table of spans has the key 'site', and its windows have no keys"):
        made(tmp_path, rollups={"all": []}).pipeline  # noqa: B018


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: windows.given("d/{start:%Y}.csv", start="a", end="b"), "is no path of a table that is the same for each batch"),
        (lambda: windows.given(sources.files("d/{start:%Y}.csv", event_time="a"), start="a", end="b"), "has other files in each batch"),
        (lambda: windows.given(sources.spark(print, event_time="a"), start="a", end="b"), "rows of sources.spark(...) belong to batches"),
        (lambda: windows.given("a.csv", start="a", end="a"), "start and end are both 'a'"),
        (lambda: windows.given("a.csv", start="a", end="b", keys=["k"], columns=["K"]), "'K' is a key"),
        (lambda: windows.given("a.csv", start="a", end="b", columns=["batch"]), "'batch' is a key, or a column that windows may have"),
        (lambda: windows.given("a.csv", start="a", end="b", resolution=0), "resolution"),
    ],
)  # fmt: skip
def test_calls_that_cannot_be_are_refused(call: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(said)):
        call()


def test_a_window_is_explained_and_read_before_it_is_closed(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 1)
    explained = explain(case.pipeline, "hour", root=case.root, key=("A", 1), at=hour(1.5)).windows
    assert sorted(each.window["shift"] for each in explained) == ["late", "long"]
    found: Mapping[str, Any] = read(case.pipeline, "hour", root=case.root, provisional=True).to_pydict()
    assert sorted(zip(found["shift"], found["n"], found["provisional"], strict=True)) == [
        ("all", 2, False), ("early", 1, False), ("early", 2, False),
        ("late", 1, True), ("late", 2, True), ("long", 2, True), ("long", 4, True),
    ]  # fmt: skip


# batch   0   1   2  ...  99
# short   [   )
# long    [                 )
OPEN = (EARLY, LATE, ALL, ("A", "long", 0, 540))
OPEN_SPANS = {
    "a span more": (*OPEN, ("A", "next", 120, 540)),
    "a span of all of the past": (*OPEN, ("B", "era", 0, 540)),
    "an end that moves": (EARLY, LATE, ALL, ("A", "long", 0, 600)),
    "another name": (EARLY, LATE, ALL, ("A", "far", 0, 540)),
    "a span less": (EARLY, LATE, ALL),
}


@pytest.mark.parametrize("change", OPEN_SPANS)
def test_open_spans_are_those_of_the_table_as_the_last_run_read_it(change: str, tmp_path: Path) -> None:
    case, clean = made(tmp_path / "changed", OPEN), made(tmp_path / "clean", OPEN_SPANS[change])
    case.run(0, 2)
    put(case, OPEN_SPANS[change])
    case.run(2, 2)
    clean.run(0, 2)
    both = [read(one.pipeline, "hour", root=one.root, provisional=True).drop_columns(["batch"]) for one in (case, clean)]
    assert both[0].equals(both[1])
    case.run(2, 2)  # and what is noted is not noted again
    noted = status(case.pipeline, root=case.root).windows[0].version
    case.run(2, 2)
    assert status(case.pipeline, root=case.root).windows[0].version == noted


def test_a_change_touches_the_batches_that_close_its_spans_and_none_between() -> None:
    minute = 60 * 10**6
    columns = {START_OF_SPAN: pa.array([0, 0], INSTANT), END_OF_SPAN: pa.array([minute, 100 * minute], INSTANT)}
    spans = given_spans(pa.table(columns), ())
    kind = windows.given("spans.csv", start="begins", end="ends").with_spans(lambda: spans)
    when = closing(kind, np.arange(1, 101) * minute)
    assert kind.batches_closing(when, 0, 5).tolist() == [0, 99]
    assert kind.batches_closing(when, minute, minute).tolist() == [99]


def test_relative_paths_lie_below_the_home_of_the_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = made(tmp_path, source="shifts.csv")
    monkeypatch.chdir("/")
    moved = at_home(case.pipeline, tmp_path).windows
    there = replace(case, other={**case.other, "windows": moved})
    there.run(0, 2)
    assert counts(there) == FIRST


# zone     Asia/Kolkata: 05:30 there is midnight in UTC
def test_a_key_that_is_a_time_without_a_zone_meets_its_span(tmp_path: Path) -> None:
    local = datetime(2024, 1, 1, 5, 30)  # noqa: DTZ001 - as a file may have it
    instant = pa.timestamp("us", tz="UTC")
    spans = {"since": pa.array([local], pa.timestamp("us")), "begins": pa.array([hour(0)], instant), "ends": pa.array([hour(1)], instant)}
    pq.write_table(pa.table(spans), tmp_path / "spans.parquet")
    table = sources.files(str(tmp_path / "spans.parquet"), event_time=sources.at("begins", timezone="Asia/Kolkata"), all_files=True)
    kind = windows.given(table, start="begins", end="ends", keys=["since"])
    case = Hourly(tmp_path, other={"keys": ["since"], "windows": {"hour": kind}, "aggregates": {"n": agg.count()}})
    case.write("00.parquet", {"at": times(5), "since": pa.array([local.replace(tzinfo=UTC) - timedelta(hours=5.5)], instant)})
    case.run(0, 0)
    assert case.rows("since", "n") == [(hour(0), 1)]


# nobody of site A works in the fourth hour, and nothing is known of site C
def test_spans_without_events_are_there_if_asked(tmp_path: Path) -> None:
    case = made(tmp_path, [*SPANS, ("A", "night", 150, 151), ("A", "old", -120, -60), ("C", "all", 0, 60), ("A", "next", 180, 240)])
    case.run(0, 2)
    found = read(case.pipeline, "hour", root=case.root, dense=True)
    empty = [(row["site"], row["machine"], row["shift"], row["x"], row["batch"]) for row in found.to_pylist() if not row["n"]]
    assert empty == [("A", 1, "night", None, hour(2)), ("A", 2, "night", None, hour(2))]
    assert len(found) == len(FIRST) + 2
    assert len(read(case.pipeline, "hour", root=case.root)) == len(FIRST)


def test_spans_of_all_keys_are_there_without_any_event(tmp_path: Path) -> None:
    case = made(tmp_path, [*SPANS, ("C", "all", 0, 60), ("C", "open", 120, 240)], keys=["site"], kind={"dense": True})
    case.run(0, 2)
    found = read(case.pipeline, "hour", root=case.root)
    assert [(row["shift"], row["n"]) for row in found.to_pylist() if row["site"] == "C"] == [("all", 0)]
    found = read(case.pipeline, "hour", root=case.root, provisional=True)
    rows = [(row["shift"], row["n"], row["batch"], row["provisional"]) for row in found.to_pylist() if row["site"] == "C"]
    assert rows == [("all", 0, hour(0), False), ("open", 0, None, True)]


# as tasks of Airflow do it: each step binds anew, and the table changes between finalize and publish
def test_a_table_that_changes_between_two_steps_is_the_next_runs(tmp_path: Path) -> None:
    case = made(tmp_path)
    case.run(0, 1)
    intervals = case.pipeline.intervals.intervals(instant_us(hour(2), "start"), instant_us(hour(3), "end"))
    accumulate(claimed(bind(case.pipeline, case.root)), Local(1), intervals)
    staged = finalize(bind(case.pipeline, case.root), Local(1), [intervals[0].start_us]).dumps()
    put(case, [EARLY, ("A", "late", 60, 120), LONG, ALL])
    publish(bind(case.pipeline, case.root), Staged.loads(staged))
    assert counts(case) == FIRST
    assert case.run(2, 2).published == {"hour": (hour(1), hour(2))}
    assert ("A", 1, "late", 1, 2) in counts(case)
