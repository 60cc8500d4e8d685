"""Rollups as a user meets them: read, shown, explained, planned, changed and kept like any window."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, Renamed, Retain, as_of, plan, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.check import check_suites
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.inspect.diff import diff
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import late, late_states
from muntin.jobs.inspect.status import status
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.quality.suite import ExpectationsFailed, SuiteError
from tests.end_to_end.hourly import START, hour, times
from tests.made_once import made_once
from tests.storage.three_batches import HERE

SCHEMA = pa.schema([("at", pa.timestamp("us", tz="UTC")), ("city", pa.string()), ("item", pa.string()), ("euro", pa.float64())])
Rows = list[tuple[float, str | None, str, float]]

#               0h                 1h                 2h
# rome, tea     5                  65            110
# rome, ink              40                   (50) came late
# oslo, tea       12
BATCHES: list[Rows] = [
    [(5, "rome", "tea", 0.1), (12, "oslo", "tea", 0.7), (40, "rome", "ink", 0.2)],
    [(65, "rome", "tea", 0.3), (110, None, "tea", 1.0)],
    [(50, "rome", "ink", 9.0), (170, "oslo", "ink", 0.4)],
]


@dataclass(frozen=True)
class Shop:
    """Sales by city and item; hours, and visits between silences of 30 minutes."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "state"

    def pipeline(self, **more: Any) -> Pipeline:
        right: dict[str, Any] = {
            "name": "shop",
            "source": sources.files(f"{self.folder}/data/{{start:%H}}.parquet", event_time="at"),
            "schedule": "1h",
            "start": START,
            "keys": ["city", "item"],
            "windows": {"hour": windows.tumbling("1h"), "visits": windows.session("30m")},
            "aggregates": {"n": agg.count(), "euro": agg.sum("euro"), "first": agg.first("item")},
            "rollups": {"by_city": ["city"], "all": []},
        }
        return Pipeline(**(right | more))

    def write(self, at: int, rows: Rows) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        found = [dict(zip(SCHEMA.names, (times(minute)[0], *rest), strict=True)) for minute, *rest in rows]
        pq.write_table(pa.Table.from_pylist(found, SCHEMA), self.folder / f"data/{at:02d}.parquet")

    def run(self, pipeline: Pipeline | None = None, first: int = 0, last: int = 2, **more: Any) -> Any:
        at = {"start": hour(first), "end": hour(last + 1)}
        return run(pipeline or self.pipeline(), root=self.root, **at, spark=HERE, **more)

    def rows(self, window: str, *names: str, pipeline: Pipeline | None = None, **more: Any) -> list[tuple[Any, ...]]:
        table = read(pipeline or self.pipeline(), window, root=self.root, **more)
        return list(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return written(tmp_path)


@pytest.fixture
def done(tmp_path: Path) -> Shop:
    made_once(tmp_path, _run)
    return Shop(tmp_path)


def written(folder: Path) -> Shop:
    shop = Shop(folder)
    for at, rows in enumerate(BATCHES):
        shop.write(at, rows)
    return shop


def _run(folder: Path) -> None:
    written(folder).run()


def test_published_in_the_same_run_from_the_same_states(shop: Shop) -> None:
    report = shop.run()
    closed = {name: sum(batch.windows_closed[name] for batch in report.batches) for name in report.batches[0].windows_closed}
    assert closed == {"hour": 6, "hour.by_city": 5, "hour.all": 3, "visits": 5, "visits.by_city": 4, "visits.all": 2}
    assert [batch.rows_late for batch in report.batches] == [0, 0, 1]
    assert shop.rows("hour.by_city", "city", "n", "window_start") == [
        ("oslo", 1, hour(0)), ("oslo", 1, hour(2)), ("rome", 2, hour(0)), ("rome", 1, hour(1)), (None, 1, hour(1))
    ]  # fmt: skip
    assert shop.rows("hour.all", "n", "batch") == [(3, hour(0)), (2, hour(1)), (1, hour(2))]
    assert read(shop.pipeline(), "hour.all", root=shop.root).column_names[0] == "window_start"
    table = DeltaTable(str(shop.root / "shop/windows/hour.by_city"))
    assert table.to_pyarrow_table().num_rows == 5
    assert table.metadata().name == "shop.hour.by_city"


# rome: tea at 5 and 65, ink at 40, each a visit of its own; together 5 -(35)- 40 -(25)- 65. All: oslo's 12 bridges 5 and 40
def test_sessions_are_of_the_merged_events_no_sums_of_sessions(done: Shop) -> None:
    spans = [(hour(0) + timedelta(minutes=5), 1), (hour(0) + timedelta(minutes=40), 2)]
    assert shop_rows(done, "visits.by_city", "rome") == spans
    assert done.rows("visits.all", "n") == [(4,), (1,)]


def shop_rows(shop: Shop, window: str, city: str) -> list[tuple[Any, int]]:
    return [(start, n) for name, start, n in shop.rows(window, "city", "window_start", "n") if name == city]


# at minute 7 both items were sold at once: the file has tea first, yet ink is the first key
def test_of_rows_at_one_time_a_rollup_takes_those_of_the_first_key(shop: Shop) -> None:
    shop.write(0, [(7, "rome", "tea", 1.0), (7, "rome", "ink", 2.0)])
    shop.run(last=0)
    assert shop.rows("hour.by_city", "first") == [("ink",)]


def test_a_batch_read_again_replaces_them(done: Shop) -> None:
    done.write(1, [(70, "oslo", "tea", 5.0)])
    done.run(first=1, last=1)
    assert done.rows("hour.all", "n") == [(3,), (1,), (1,)]
    changed = read(done.pipeline(), "hour.by_city", root=done.root, changes_since=0).to_pylist()
    assert {(row["city"], row["change"], row["n"]) for row in changed if row["window_start"] == hour(1)} >= {
        ("oslo", "new", 1), ("rome", "gone", None)
    }  # fmt: skip


def test_open_windows_are_provisional_and_empty_ones_dense(done: Shop) -> None:
    assert done.rows("visits.all", "n", "provisional", provisional=True)[-1] == (1, True)
    assert done.rows("hour.by_city", "city", "n", dense=True, keys={"city": "oslo"}) == [("oslo", 1), ("oslo", 0), ("oslo", 1)]
    with pytest.raises(DefinitionError, match="keys: there is no 'item'; there are city"):
        done.rows("hour.by_city", "n", keys={"item": "tea"})


def test_explained_from_the_states_of_all_their_keys(done: Shop) -> None:
    pipeline, at = done.pipeline(), START + timedelta(minutes=41)
    [one] = explain(pipeline, "hour.by_city", root=done.root, key=["rome"], at=at).windows
    assert (one.window["n"], [part.rows for part in one.parts], [part.rows for part in one.missed]) == (2, [1, 1], [1])
    [of_all] = explain(pipeline, "hour.all", root=done.root, at=at).windows
    assert (of_all.window["n"], len(of_all.parts)) == (3, 3)
    assert explain(pipeline, "hour.by_city", root=done.root, key=["bern"], at=at).why_none
    with pytest.raises(DefinitionError, match=r"key: \['rome', 'tea'\] is not a value for each of the key columns: city"):
        explain(pipeline, "hour.by_city", root=done.root, key=["rome", "tea"], at=at)


def test_late_rows_are_those_of_the_window(done: Shop) -> None:
    found = {one.window: (one.late, one.missed) for one in late(done.pipeline(), root=done.root)}
    assert found["hour"] == found["hour.by_city"] == found["hour.all"] == (1, 1)
    assert late_states(done.pipeline(), "hour.by_city", root=done.root).select(["city", "rows"]).to_pylist() == [
        {"city": "rome", "rows": 1}
    ]
    assert late_states(done.pipeline(), "hour.all", root=done.root).column_names == ["frame", "batch", "rows", "windows"]


def test_a_plan_and_a_status_name_them(done: Shop) -> None:
    assert {*plan(done.pipeline(), root=done.root, start=hour(0), end=hour(3)).windows} == {*done.pipeline().windows}
    one = status(done.pipeline(), root=done.root)
    assert [(window.window, window.open) for window in one.windows] == [
        ("hour", 0), ("hour.by_city", 0), ("hour.all", 0), ("visits", 1), ("visits.by_city", 1), ("visits.all", 1)
    ]  # fmt: skip


def test_what_was_known_then_is_looked_up_by_their_keys(done: Shop) -> None:
    asked = pa.table({"city": ["rome", "bern"], "seen": pa.array(times(125, 125), pa.timestamp("us", tz="UTC"))})
    assert as_of(done.pipeline(), "hour.by_city", asked, at="seen", root=done.root)["n"].to_pylist() == [1, 0]
    assert as_of(done.pipeline(), "hour.all", asked, at="seen", root=done.root)["n"].to_pylist() == [2, 2]


def test_added_and_left_out_without_reading_a_source(shop: Shop) -> None:
    plain = shop.pipeline(rollups={})
    shop.run(plain)
    for path in (shop.folder / "data").iterdir():
        path.unlink()
    before = shop.rows("hour", "n", pipeline=plain)
    shop.write(2, BATCHES[2])
    shop.run(first=2)
    assert shop.rows("hour.all", "n") == [(3,), (2,), (1,)]
    assert shop.rows("hour", "n") == before
    assert [*(shop.root / "shop").glob("*/frames")] == [shop.root / "shop" / bind(plain, shop.root).state / "frames"]
    shop.run(plain, first=2)
    assert (shop.root / "shop/windows/hour.all").is_dir()


def test_other_keys_are_derived_anew_in_the_same_table(done: Shop) -> None:
    other = done.pipeline(rollups={"by_city": ["item"], "all": []})
    with pytest.raises(DefinitionError, match=r"hour\.by_city: keys were city, and are item: no window is another's successor"):
        diff(other, root=done.root, window="hour.by_city")
    done.run(other, first=2)
    assert done.rows("hour.by_city", "item", "n", pipeline=other) == [("ink", 1), ("ink", 1), ("tea", 2), ("tea", 2)]
    promote(done.pipeline(), root=done.root)
    assert len(done.rows("hour.by_city", "city")) == 5


def test_a_changed_definition_is_compared_promoted_and_rolled_back(done: Shop) -> None:
    more = replace(done.pipeline(), aggregates={**done.pipeline().aggregates, "most": agg.max("euro")})
    done.run(more)
    [found] = diff(more, root=done.root, window="hour.all")
    assert (found.before, found.after, found.counted()) == (3, 3, {"new": 0, "gone": 0, "changed": 0})
    assert done.rows("hour.all", "most", pipeline=more) == [(0.7,), (1.0,), (0.4,)]
    rollback(more, root=done.root)
    assert "most" not in DeltaTable(str(done.root / "shop/windows/hour.all")).to_pyarrow_table().column_names


def test_a_renamed_window_takes_its_rollups_along(done: Shop) -> None:
    named = done.pipeline(
        windows={"hours": windows.tumbling("1h"), "visits": windows.session("30m")}, renamed=Renamed(windows={"hours": "hour"})
    )
    before = done.rows("hour.all", "n", "euro")
    done.run(named, first=2)
    assert done.rows("hours.all", "n", "euro", pipeline=named) == before
    assert not (done.root / "shop/windows/hour.all").exists()


def test_files_put_together_and_old_rows_removed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MANY", 2)
    kept = shop.pipeline(retain=Retain(windows="1h", states="1h"))
    clean = Shop(shop.folder / "clean")
    clean.folder.mkdir()
    for at, rows in enumerate(BATCHES):
        clean.write(at, rows)
    clean.run()
    for at in range(3):
        shop.run(first=at, last=at)
    assert shop.rows("hour.by_city", "city", "n", "euro") == clean.rows("hour.by_city", "city", "n", "euro")
    for _ in range(4):
        shop.run(kept, first=2, last=2)
    vacuum(shop.root, older_than_us=0, pipeline=kept)
    assert shop.rows("hour.all", "n", pipeline=kept)[-1:] == [(1,)]
    assert len(shop.rows("hour.all", "n", pipeline=kept)) < 3


def test_windows_over_the_windows_of_a_rollup(done: Shop) -> None:
    over = Pipeline(
        name="cities",
        source=sources.windows(done.pipeline(), "hour.by_city", event_time="window_start"),
        schedule="1h",
        start=START,
        windows={"all_hours": windows.tumbling("1h")},
        aggregates={"cities": agg.count(), "euro": agg.sum("n")},
    )
    done.run(over)
    assert done.rows("all_hours", "cities", "euro", pipeline=over) == [(2, 3), (2, 2)]


SUITE = """{"name": "n", "expectations": [{"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "max_value": 1}}]}"""


def test_a_suite_guards_a_rollup_and_names_its_keys(shop: Shop) -> None:
    (shop.folder / "suite.json").write_text(SUITE)
    guarded = shop.pipeline(expectations={"hour.by_city": str(shop.folder / "suite.json")})
    with pytest.raises(ExpectationsFailed) as failed:
        shop.run(guarded)
    (check,) = failed.value.report.checks
    assert [{name: row[name] for name in ("city", "n")} for row in check.failing_rows] == [{"city": "rome", "n": 2}]
    assert "item" not in check.failing_rows[0]
    (shop.folder / "suite.json").write_text(SUITE.replace('"n"', '"item"'))
    with pytest.raises(SuiteError, match=r"no column 'item' in window 'hour\.by_city'; there are city, window_start"):
        check_suites(bind(guarded, shop.root))


def test_a_result_of_a_key_that_a_rollup_lacks_is_refused_with_what_there_is(shop: Shop) -> None:
    named = shop.pipeline(aggregates={"n": agg.count(), "where_what": "city || ' ' || item"})
    with pytest.raises(
        DefinitionError, match=r"does not fit the windows of '(hour|visits).by_city': .*A window has: city VARCHAR, window_start"
    ):
        shop.run(named)
