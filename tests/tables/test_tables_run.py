"""Runs over a Delta table: what comes late, what plan and outdated tell, types, and what is said where the table cannot be read."""

import shutil
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Limits, Pipeline, read, sources, windows
from muntin import aggregates as agg
from muntin.cli.main import main
from muntin.errors import SourceError
from muntin.jobs.check import examined
from muntin.jobs.inspect.plan import plan
from muntin.jobs.state.bound import bind
from muntin.jobs.state.fingerprint import fingerprint
from muntin.jobs.upkeep.outdated import outdated
from muntin.sources.logged.table_log import TableLog
from muntin.testing import run_here, windows_of
from tests.source_options import grouped
from tests.tables.delta_tables import append, dated, without_log_before

START = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
LIMIT_S = 10


def rows(hour: int, *values: float, **more: Any) -> pa.Table:
    at = [START + hour * HOUR + timedelta(minutes=number) for number, _ in enumerate(values)]
    return pa.table({"at": pa.array(at, pa.timestamp("us", "UTC")), "x": list(values), **{name: [v] * len(at) for name, v in more.items()}})


def hourly(table: object, **more: Any) -> Pipeline:
    source = sources.table(str(table), **grouped(**{"event_time": "at", **more.pop("source", {})}))
    known = {"keys": [], "windows": {"hour": windows.tumbling("1h")}, "aggregates": {"n": agg.count(), "total": agg.sum("x")}}
    return Pipeline(name="hourly", source=source, schedule="1h", start=START, **{**known, **more})


def run(pipeline: Pipeline, root: object, begin: int, end: int) -> Any:
    return run_here(pipeline, root=root, start=START + begin * HOUR, end=START + end * HOUR)


def totals(pipeline: Pipeline, root: object) -> list[float]:
    return read(pipeline, "hour", root=root).sort_by("window_start")["total"].to_pylist()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "table"
    for hour, value in enumerate((1, 2, 4)):
        append(folder, rows(hour, value), START + hour * HOUR + HOUR / 2)
    return folder


def test_the_next_run_reads_what_came_late(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 2)
    append(table, rows(0, 8), START + HOUR / 2)  # its writer's clock is slow
    DeltaTable(table).optimize.compact()
    dated(table, START + HOUR / 2)
    report = run(pipeline, root, 2, 3)
    assert [batch.interval_start for batch in report.batches] == [START, START + 2 * HOUR]
    assert totals(pipeline, root) == [9, 2, 4]
    assert [batch.interval_start for batch in run(pipeline, root, 2, 3).batches] == [START + 2 * HOUR]


def test_and_an_interval_that_was_at_work(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 3)
    append(table, rows(2, 8), START + 2.9 * HOUR)
    run(pipeline, root, 0, 1)
    assert totals(pipeline, root) == [1, 2, 12]


def test_a_past_that_lost_rows_is_reported_and_does_not_hold_back_what_is_new(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 2)
    DeltaTable(table).delete("x = 2")
    dated(table, START + 1.8 * HOUR)  # the interval was at work
    append(table, rows(0, 8), START + HOUR / 2)
    for _ in range(2):
        (line,) = run(pipeline, root, 2, 3).unsettled
        assert line.startswith("1 batch changed at the source, oldest 2024-05-01 01:00, and cannot be read: ")
        assert "(DELETE, 2024-05-01T01:48) removed or changed rows" in line
        assert totals(pipeline, root) == [9, 2, 4]


def test_more_late_commits_than_the_limit_are_left_and_named(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table, limits=Limits(max_changed=1)), tmp_path / "state"
    run(pipeline, root, 0, 3)
    for hour in range(2):
        append(table, rows(hour, 8), START + (hour + 0.5) * HOUR)
    (line,) = run(pipeline, root, 3, 4).unsettled
    assert line.startswith("2 batches changed at the source, oldest 2024-05-01 00:00, more than max_changed=1 of limits")
    assert totals(pipeline, root) == [1, 2, 4]
    run(pipeline, root, 0, 2)
    assert (totals(pipeline, root), run(pipeline, root, 3, 4).unsettled) == ([9, 10, 4], ())


def test_a_table_that_is_made_anew_is_compared_from_its_first_commit(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 3)
    shutil.rmtree(table)
    for hour, value in enumerate((16, 32)):
        append(table, rows(hour, value), START + hour * HOUR + HOUR / 2)
    (line,) = run(pipeline, root, 3, 4).unsettled
    assert "oldest 2024-05-01 02:00, and cannot be read: [2024-05-01T02:00, 2024-05-01T03:00): rows were read before" in line
    assert totals(pipeline, root) == [16, 32, 4]


def test_of_two_tables_the_commits_since_the_last_run_are_read(tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, commits = tmp_path / "other", list[int]()
    for hour in range(3):
        append(other, rows(hour, 8), START + hour * HOUR + HOUR / 2)
    two = {name: sources.table(str(path), event_time="at") for name, path in (("a", table), ("b", other))}
    pipeline = Pipeline(
        name="two", source=two, schedule="1h", start=START, windows={"hour": windows.tumbling("1h")}, aggregates={"n": agg.count()}
    )
    run(pipeline, tmp_path / "state", 0, 2)
    run(pipeline, tmp_path / "state", 2, 3)
    append(other, rows(1, 8), START + 1.5 * HOUR)
    commit = TableLog.commit
    monkeypatch.setattr(TableLog, "commit", lambda log, version: commits.append(version) or commit(log, version))
    assert [batch.interval_start for batch in run(pipeline, tmp_path / "state", 2, 3).batches] == [START + HOUR, START + 2 * HOUR]
    assert 0 not in commits
    assert read(pipeline, "hour", root=tmp_path / "state")["n"].to_pylist() == [2, 3, 2]


def test_a_plan_tells_what_is_new(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 2)
    append(table, rows(0, 8), START + HOUR / 2)
    planned = plan(pipeline, root=root, start=START, end=START + 3 * HOUR)
    assert [batch.reading for batch in planned.batches] == ["changed", "unchanged", "new"]
    assert planned.batches[0].why is not None
    assert planned.batches[0].why.startswith("new file: ")
    assert [each.interval_start for each in outdated(pipeline, root=root, start=START, end=START + 3 * HOUR)] == [START, START + 2 * HOUR]


def test_what_the_table_has_forgotten_stays_as_it_was_read(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table), tmp_path / "state"
    run(pipeline, root, 0, 3)
    append(table, rows(3, 8), START + 3.5 * HOUR)
    without_log_before(table, 2)
    run(pipeline, root, 3, 4)
    assert outdated(pipeline, root=root, start=START, end=START + 4 * HOUR) == []
    assert totals(pipeline, root) == [1, 2, 4, 8]
    planned = plan(pipeline, root=root, start=START, end=START + HOUR)
    assert planned.batches[0].reading == "missing"
    assert "the log begins with version 2" in str(planned.batches[0].why)
    with pytest.raises(SourceError, match="the log begins with version 2"):
        run(pipeline, root, 0, 1)
    assert totals(pipeline, root) == [1, 2, 4, 8]


def test_a_later_start_is_another_state(table: Path) -> None:
    one, other = (Pipeline(**{**vars_of(hourly(table)), "start": START + hour * HOUR, "schedule": "@hourly"}) for hour in (0, 1))
    assert fingerprint(one) != fingerprint(other)


def vars_of(pipeline: Pipeline) -> dict[str, Any]:
    return {name: getattr(pipeline, name) for name in ("name", "source", "keys", "windows", "aggregates")}


def test_a_run_in_which_a_batch_has_no_commit(tmp_path: Path, table: Path) -> None:
    append(table, rows(5, 8), START + 5 * HOUR)
    pipeline, root = hourly(table), tmp_path / "state"
    report = run(pipeline, root, 0, 6)
    assert [batch.rows_read for batch in report.batches] == [1, 1, 1, 0, 0, 1]


def test_a_row_without_a_time_is_in_the_quarantine(tmp_path: Path, table: Path) -> None:
    append(table, pa.table({"at": pa.array([None], pa.timestamp("us", "UTC")), "x": [8.0]}), START)
    report = run(hourly(table), tmp_path / "state", 0, 1)
    assert (report.batches[0].rows_read, report.batches[0].rows_quarantined) == (2, 1)


def test_partitions_are_columns_of_their_types(tmp_path: Path) -> None:
    days = pa.array([date(2024, 5, 1), None], pa.date32())
    numbers = pa.array([7, None], pa.int32())
    at = pa.array([START, START], pa.timestamp("us", "UTC"))
    names = pa.array(["a b/c=ü%", None])
    append(tmp_path / "table", pa.table({"at": at, "day": days, "no": numbers, "name": names}), START, by=["day", "no", "name"])
    total = {"days": agg.max("day"), "no": agg.sum("no"), "n": agg.count()}
    pipeline = hourly(tmp_path / "table", keys=["name"], aggregates=total)
    run(pipeline, tmp_path / "state", 0, 1)
    found = read(pipeline, "hour", root=tmp_path / "state").sort_by("no").select(["name", "days", "no", "n"]).to_pylist()
    assert found == [{"name": "a b/c=ü%", "days": date(2024, 5, 1), "no": 7, "n": 1}, {"name": None, "days": None, "no": None, "n": 1}]


def test_instants_as_old_spark_writes_them(tmp_path: Path, table: Path) -> None:
    for path in table.glob("*.parquet"):
        pq.write_table(pq.read_table(path), path, use_deprecated_int96_timestamps=True)
    pipeline = hourly(table)
    run(pipeline, tmp_path / "state", 0, 3)
    assert totals(pipeline, tmp_path / "state") == [1, 2, 4]


def test_types_that_widen(tmp_path: Path, table: Path) -> None:
    pipeline, root = hourly(table, aggregates={"n": agg.count(), "total": agg.sum("y")}), tmp_path / "state"
    append(table, rows(3, 1, y=5), START + 3.5 * HOUR, merge=True)
    run(pipeline, root, 0, 4)
    assert totals(pipeline, root) == [None, None, None, 5]


def test_times_without_a_zone(tmp_path: Path) -> None:
    local = pa.table({"at": pa.array([datetime(2024, 5, 1, 2, 30)], pa.timestamp("us")), "x": [1.0]})  # noqa: DTZ001 - it has none
    append(tmp_path / "table", local, START)
    pipeline = hourly(tmp_path / "table", source={"timezone": "Europe/Vienna"})
    run(pipeline, tmp_path / "state", 0, 1)
    assert read(pipeline, "hour", root=tmp_path / "state")["window_start"].to_pylist() == [START]


def test_duplicates(tmp_path: Path) -> None:
    append(tmp_path / "table", rows(0, 1, id=7), START)
    append(tmp_path / "table", rows(0, 8, id=7), START + HOUR / 2)
    pipeline = hourly(tmp_path / "table", source={"dedupe": "id"})
    run(pipeline, tmp_path / "state", 0, 1)
    assert totals(pipeline, tmp_path / "state") == [1]


def test_a_definition_is_tested_by_rows(table: Path) -> None:
    assert windows_of(hourly(table), [rows(0, 1, 2)], provisional=True)["total"].to_pylist() == [3]


def test_a_definition_is_checked_by_the_first_files(table: Path) -> None:
    assert len(examined(hourly(table), root=table.parent / "state").files) == 1
    late = Pipeline(**{**vars_of(hourly(table)), "start": START - 9 * HOUR, "schedule": "1h"})
    assert len(examined(late, root=table.parent / "state").files) == 1


DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates as agg, sources, windows

hourly = Pipeline(
    name="hourly",
    source=sources.table("{table}", event_time="{time}"),
    schedule="1h",
    start=datetime(2024, 5, 1, {first}, tzinfo=UTC),
    windows={{"hour": windows.tumbling("1h")}},
    aggregates={{"total": agg.sum("x")}},
)
"""


@pytest.mark.parametrize(
    ("how", "said", "mend"),
    [
        ("no table", "{table}/none: there is no Delta table", "mend the path in sources.table(...)"),
        ("no column", "{table}: event_time: no column 'when' in the table; there are at, x", "mend it in sources.table(...)"),
        ("no version", "{table}: the log begins with version 1 of 2024-05-01T01:30", "let start= of the pipeline be"),
        ("no file", "{table}/", "bring it back, read batches sooner"),
        ("changed", "{table}: version 3 (DELETE, 2024-05-01T02:40) removed or changed rows", 'say on_change="skip" in sources.table(...)'),
    ],
)
@pytest.mark.parametrize("command", ["run", "plan"])
def test_one_sentence_within_seconds_and_nothing_is_written(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str], how: str, said: str, mend: str, command: str
) -> None:
    given = {"table": table, "time": "at", "first": 0}
    if how == "no table":
        given["table"] = table / "none"
    elif how == "no column":
        given["time"] = "when"
    elif how == "no version":
        without_log_before(table, 1)
    elif how == "no file":
        next(table.glob("*.parquet")).unlink()
    else:
        DeltaTable(table).delete("x = 1")
        dated(table, START + 2 * HOUR + timedelta(minutes=40))
    file, root = tmp_path / "hourly.py", tmp_path / "state"
    file.write_text(DEFINITION.format(**given))
    begun = time.monotonic()
    status = main([command, str(file), "--root", str(root), "--start", "2024-05-01", "--end", "2024-05-01T03:00"])
    told = capsys.readouterr()
    text = " ".join((told.err + told.out).split())
    assert (status, time.monotonic() - begun < LIMIT_S, root.exists()) == (3, True, False), text
    if command == "run":
        assert said.format(table=table) in text
        assert mend in text


def test_in_an_object_store(bucket: str, tmp_path: Path) -> None:
    table = f"{bucket}/some where/table"
    for hour, name in enumerate(("Graz", "a b/c%", None)):
        append(table, rows(hour, hour).append_column("name", pa.array([name])), START + hour * HOUR, by=["name"])
    pipeline = hourly(table, keys=["name"])
    run(pipeline, f"{bucket}/state", 0, 3)
    found = read(pipeline, "hour", root=f"{bucket}/state").sort_by("window_start").select(["name", "total"]).to_pylist()
    assert found == [{"name": name, "total": hour} for hour, name in enumerate(("Graz", "a b/c%", None))]
    gone = hourly(f"{bucket}/nowhere")
    with pytest.raises(SourceError, match=f"{bucket}/nowhere: there is no Delta table"):
        run(gone, tmp_path / "state", 0, 1)
    assert not Path(bind(gone, tmp_path / "state").folder).exists()
