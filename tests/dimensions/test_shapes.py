"""Look-ups in pipelines of all shapes: several sources, windows over windows, keys that are looked up, Delta tables, rows that are bad."""

from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from muntin import Limits, Pipeline, RunReport, plan, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import path_of
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.inputs.dimensions.changed_rows import forget_other_versions, lookup_changes, noted_versions
from muntin.jobs.inputs.dimensions.lookup_log import commit_met
from muntin.jobs.inputs.inputs import with_dimensions
from muntin.jobs.inspect.explain import explain
from muntin.jobs.records.reports_table import record_accumulated, utc_now
from muntin.jobs.state.bound import bind
from muntin.sources.reading.lookup import Lookup
from muntin.tasks import Local
from tests.case_counts import paired
from tests.source_options import grouped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 5, 1, tzinfo=UTC)
TYPES = {"currency": "VARCHAR"}


def day(number: int) -> datetime:
    return START + timedelta(days=number)


class Shop:
    """Orders of days in CSV, and rates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "orders").mkdir()
        (folder / "rates").mkdir()
        self.orders(0, "10:00,EUR,10", "11:00,USD,10", "12:00,GBP,7")
        self.orders(1, "10:00,USD,10", "13:00,USD,10")
        self.rates("EUR,2024-05-01,1.0", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")

    def orders(self, number: int, *rows: str) -> None:
        name = f"{day(number):%Y-%m-%d}"
        text = "".join(f"{name} {row}\n" for row in rows)
        (self.folder / f"orders/{name}.csv").write_text(f"at,currency,amount\n{text}")

    def rates(self, *rows: str, name: str = "a") -> None:
        (self.folder / f"rates/{name}.csv").write_text("currency,valid_from,rate\n" + "".join(f"{row}\n" for row in rows))

    def source(self, **more: Any) -> Any:
        return sources.files(f"{self.folder}/orders/{{start:%Y-%m-%d}}.csv", **grouped(event_time="at", types=TYPES, **more))

    def lookup(self, source: Any = None, **more: Any) -> Lookup:
        given = source or sources.files(f"{self.folder}/rates/*.csv", types=TYPES)
        return sources.lookup(given, **{"keys": ["currency"], "since": "valid_from", **more})

    def pipeline(self, lookup: Any = None, **other: Any) -> Pipeline:
        right: dict[str, Any] = {
            "name": "shop",
            "source": self.source(),
            "schedule": "@daily",
            "start": START,
            "windows": {"day": windows.tumbling("1d")},
            "aggregates": {"n": agg.count(), "euro": agg.sum("amount * rates.rate")},
            "lookups": {"rates": lookup or self.lookup()},
        }
        return Pipeline(**(right | other))

    def run(self, pipeline: Pipeline, first: int = 0, last: int = 2, **more: Any) -> RunReport:
        return run(pipeline, root=str(self.folder / "state"), start=day(first), end=day(last), **{"spark": Local(2)} | more)

    def read(self, pipeline: Pipeline, *columns: str) -> list[tuple[Any, ...]]:
        rows = read(pipeline, "day", root=str(self.folder / "state")).to_pylist()
        return [tuple(row[name] for name in columns or ("n", "euro")) for row in rows]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_an_event_without_a_row_finds_null(shop: Shop) -> None:
    shop.run(shop.pipeline())
    assert shop.read(shop.pipeline()) == [(3, 19.0), (2, 17.0)]


def test_a_required_row_that_is_missing_goes_to_the_quarantine(shop: Shop) -> None:
    pipeline = shop.pipeline(shop.lookup(required=True))
    assert [(each.rows_accepted, each.rows_quarantined) for each in shop.run(pipeline).batches] == [(2, 1), (2, 0)]
    (table,) = (shop.folder / "state/shop").glob("*/quarantine")
    (row,) = pa.table(DeltaTable(table).to_pyarrow_table()).to_pylist()
    assert (row["reason"], row["line"]) == ("rates has no row that is valid at the event time for GBP", 4)
    shop.rates("GBP,2024-05-01,1.2", name="b")
    assert [(each.rows_accepted, each.rows_quarantined) for each in shop.run(pipeline, 1).batches] == [(3, 0), (2, 0)]


def test_a_column_that_gets_another_type_is_looked_up_again(shop: Shop) -> None:
    pipeline = shop.pipeline(aggregates={"n": agg.count(), "kind": agg.max("typeof(rates.rate)")})
    shop.rates("EUR,2024-05-01,9", "USD,2024-05-01,8")
    shop.run(pipeline)
    assert shop.read(pipeline, "kind") == [("BIGINT",), ("BIGINT",)]
    shop.rates("EUR,2024-05-01,9", "USD,2024-05-01,8", "GBP,2024-06-01,x")
    shop.run(pipeline, 1)
    assert shop.read(pipeline, "kind") == [("VARCHAR",), ("VARCHAR",)]


def test_windows_are_kept_apart_by_what_is_looked_up(shop: Shop) -> None:
    pipeline = shop.pipeline(keys=["rates.rate_class"], aggregates={"n": agg.count()})
    (shop.folder / "rates/a.csv").write_text("currency,valid_from,rate_class\nEUR,2024-05-01,hard\nUSD,2024-05-01,soft\n")
    shop.run(pipeline)
    assert shop.read(pipeline, "rates.rate_class", "n") == [("hard", 1), ("soft", 1), ("soft", 2), (None, 1)]


def test_the_filter_and_windows_say_what_is_looked_up(shop: Shop) -> None:
    other = {"where": "rates.rate < 1", "windows": {"day": windows.tumbling("1d"), "cheap": windows.session("2h")}}
    pipeline = shop.pipeline(**other)
    shop.run(pipeline)
    assert shop.read(pipeline) == [(1, 9.0), (2, 17.0)]
    shop.rates("EUR,2024-05-01,0.5", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
    shop.run(pipeline, 1)
    assert shop.read(pipeline) == [(2, 14.0), (2, 17.0)]


def test_rows_that_cannot_be_computed_are_left_out(shop: Shop) -> None:
    shop.orders(0, "10:00,EUR,10", "11:00,USD,x", "no time,EUR,3")
    source = shop.source()
    aggregates = {"n": agg.count(), "euro": agg.sum("amount::DOUBLE * rates.rate")}
    pipeline = shop.pipeline(source=source, aggregates=aggregates, limits=Limits(max_quarantined=None))
    assert [each.rows_quarantined for each in shop.run(pipeline).batches] == [2, 0]
    assert shop.read(pipeline) == [(1, 10.0), (2, 17.0)]
    shop.rates("EUR,2024-05-01,2.0", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    assert shop.read(pipeline) == [(1, 20.0), (2, 17.0)]


def test_several_sources(shop: Shop) -> None:
    """Orders look up, clicks do not; a change that only orders met reads the batch again, with all its sources."""
    (shop.folder / "clicks").mkdir()
    for number in range(2):
        at = pa.array([day(number) + timedelta(hours=2)], pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"seen": at, "page": ["a"]}), shop.folder / f"clicks/{day(number):%d}.parquet")
    clicks = sources.files(f"{shop.folder}/clicks/{{start:%d}}.parquet", event_time="seen")
    pipeline = shop.pipeline(
        shop.lookup(of=["orders"]),
        source={"clicks": clicks, "orders": shop.source()},
        aggregates={"n": agg.count(), "euro": agg.sum("amount * rates.rate", source="orders")},
    )
    shop.run(pipeline)
    assert shop.read(pipeline) == [(4, 19.0), (3, 17.0)]
    shop.rates("GBP,2024-05-01,1.5", name="b")
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    assert shop.read(pipeline) == [(4, 29.5), (3, 17.0)]


def test_windows_over_windows(shop: Shop) -> None:
    """Windows of another pipeline look up, too."""
    below = shop.pipeline(name="below", keys=["currency"], lookups={}, aggregates={"amount": agg.sum("amount")})
    above = shop.pipeline(source=sources.windows(below, "day", event_time="window_start"))
    shop.run(below)
    shop.run(above)
    assert shop.read(above) == [(3, 19.0)]
    shop.rates("GBP,2024-05-01,1.5", name="b")
    assert [each.interval_start for each in shop.run(above, 1).batches] == [day(0), day(1)]
    assert shop.read(above) == [(3, 29.5)]


def test_a_delta_table(shop: Shop) -> None:
    """Rows of a table that are updated and deleted: a dimension is what the table holds now."""
    rates = {"currency": ["EUR", "USD"], "valid_from": pa.array([day(0)] * 2, pa.timestamp("us", "UTC")), "rate": [1.0, 0.9]}
    write_deltalake(shop.folder / "table", pa.table(rates))
    pipeline = shop.pipeline(shop.lookup(sources.table(str(shop.folder / "table"))))
    shop.run(pipeline)
    assert shop.read(pipeline) == [(3, 19.0), (2, 18.0)]
    DeltaTable(shop.folder / "table").update(predicate="currency = 'EUR'", updates={"rate": "3.0"})
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    DeltaTable(shop.folder / "table").delete("currency = 'EUR'")
    shop.run(pipeline, 1)
    assert shop.read(pipeline) == [(3, 9.0), (2, 18.0)]


def test_plan_names_what_would_be_read_and_does_nothing(shop: Shop) -> None:
    pipeline = shop.pipeline()
    shop.run(pipeline)
    shop.rates("GBP,2024-05-01,1.5", name="b")
    for _ in range(2):
        found = plan(pipeline, root=str(shop.folder / "state"), start=day(1), end=day(2)).batches
        assert [(each.interval_start, each.reading, each.why) for each in found] == [
            (day(0), "changed", "rows of rates that its events looked up have changed"),
            (day(1), "unchanged", None),
        ]


def test_a_batch_is_read_again_where_nobody_knows_what_it_met(shop: Shop) -> None:
    """A run that ended between its commits leaves states that rest on something else than is noted."""
    pipeline = shop.pipeline()
    shop.run(pipeline)
    bound = bind(pipeline, shop.folder / "state")
    assert lookup_changes(bound).why == {}
    commit_met(bound, np.array([int(day(0).timestamp() * 1e6)]), [])
    assert list(lookup_changes(bound).why.values()) == ["what its events looked up is not known"]
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    assert lookup_changes(bound).why == {}


# orders of 1 May     3, 4 and one without a number
# rates               3: 2.0       then 4: 5.0, too
@pytest.mark.parametrize(("name", "kind"), paired(["id", "number"], ["BIGINT", "UTINYINT", "UBIGINT", "VARCHAR"]))
def test_keys_of_all_types_and_names(shop: Shop, name: str, kind: str) -> None:
    (shop.folder / "orders/2024-05-01.csv").write_text(f"at,{name},amount\n" + "".join(f"2024-05-01 10:00,{n},1\n" for n in (3, 4, "")))
    (shop.folder / "rates/a.csv").write_text("n,valid_from,rate\n3,2024-05-01,2.0\n")
    source = sources.files(f"{shop.folder}/orders/{{start:%Y-%m-%d}}.csv", event_time="at", types={name: kind})
    dimension = sources.files(f"{shop.folder}/rates/*.csv", types={"n": "VARCHAR" if kind == "VARCHAR" else "BIGINT"})
    pipeline = shop.pipeline(shop.lookup(dimension, keys={name: "n"}), source=source)
    shop.run(pipeline, 0, 1)
    assert shop.read(pipeline) == [(3, 2.0)]
    (shop.folder / "rates/b.csv").write_text("n,valid_from,rate\n4,2024-05-01,5.0\n5,2024-05-01,7.0\n")
    assert list(lookup_changes(bind(pipeline, shop.folder / "state")).why) != []
    shop.run(pipeline, 0, 1)
    assert shop.read(pipeline) == [(3, 7.0)]
    (shop.folder / "rates/b.csv").write_text("n,valid_from,rate\n4,2024-05-01,5.0\n5,2024-05-01,8.0\n")
    assert list(lookup_changes(bind(pipeline, shop.folder / "state")).why) == []


def test_explain_says_what_was_looked_up(shop: Shop) -> None:
    pipeline = shop.pipeline()
    shop.run(pipeline)
    shop.rates("GBP,2024-05-01,1.5", name="b")
    met = list[list[tuple[str, str, str, str | None]]]()
    for at, right in ((day(0), (day(0), "rates", 3, 1, True)), (day(1), (day(1), "rates", 2, 0, False))):
        (window,) = explain(pipeline, "day", root=str(shop.folder / "state"), at=at).windows
        assert [astuple(each) for each in window.looked_up] == [right]
        met.append([(each.lookup, *each.key, f"{each.since:%m-%d %H}", each.until and f"{each.until:%m-%d %H}") for each in window.met])
    dollars = [("rates", "USD", "05-01 00", "05-02 12"), ("rates", "USD", "05-02 12", None)]
    assert met == [[("rates", "EUR", "05-01 00", None), dollars[0]], dollars]


def test_the_windows_are_the_same_on_spark(shop: Shop, spark: "SparkSession") -> None:
    pipeline = shop.pipeline()
    shop.run(pipeline, spark=spark)
    assert shop.read(pipeline) == [(3, 19.0), (2, 17.0)]
    shop.rates("GBP,2024-05-01,1.5", name="b")
    assert [each.interval_start for each in shop.run(pipeline, 1, spark=spark).batches] == [day(0), day(1)]
    assert shop.read(pipeline) == [(3, 29.5), (2, 17.0)]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([",2024-05-01,1.0"], "a key is null"),
        (["EUR,,1.0"], "'valid_from' is null"),
        (["EUR,2024-05-01,1.0", "EUR,2024-05-01,1.1"], "two rows of a key begin at the same time"),
    ],
)
def test_rows_that_nobody_could_look_up_are_refused(shop: Shop, rows: list[str], problem: str) -> None:
    shop.rates(*rows)
    with pytest.raises(SourceError, match=problem):
        shop.run(shop.pipeline())


def test_a_row_that_stands_twice_counts_once(shop: Shop) -> None:
    shop.rates("EUR,2024-05-01,1.0", "USD,2024-05-01,0.9", name="again")
    shop.run(shop.pipeline())
    assert shop.read(shop.pipeline()) == [(3, 19.0), (2, 17.0)]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["EUR,2024-05-01,2024-05-03,1.0", "EUR,2024-05-02,,1.1"], "two rows of a key are valid at the same time"),
        (["EUR,2024-05-02,2024-05-02,1.0"], "'valid_to' is not behind 'valid_from'"),
    ],
)
def test_spans_that_overlap_are_refused(shop: Shop, rows: list[str], problem: str) -> None:
    (shop.folder / "rates/a.csv").write_text("currency,valid_from,valid_to,rate\n" + "\n".join(rows) + "\n")
    with pytest.raises(SourceError, match=problem):
        shop.run(shop.pipeline(shop.lookup(until="valid_to")))


def test_keys_of_other_types_are_refused(shop: Shop) -> None:
    shop.rates("1,2024-05-01,1.0")
    with pytest.raises(DefinitionError, match="'currency' is VARCHAR in the events and BIGINT in the dimension"):
        shop.run(shop.pipeline(shop.lookup(sources.files(f"{shop.folder}/rates/*.csv"))))


def test_a_column_of_the_events_with_the_same_name_is_refused(shop: Shop) -> None:
    with pytest.raises(DefinitionError, match="the source has a column 'amount', too"):
        shop.run(shop.pipeline(lookups={"amount": shop.lookup()}, aggregates={"n": agg.count()}))


def test_a_path_without_files_is_an_error(shop: Shop) -> None:
    with pytest.raises(SourceError, match="no file or message of"):
        shop.run(shop.pipeline(shop.lookup(sources.files(f"{shop.folder}/rats/*.csv"))))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"since": None}, "no run could repeat that"),
        ({"keys": []}, "keys: none"),
        ({"keys": "currency"}, "is no list of columns"),
        ({"of": ["orders"]}, "the only source has no name"),
    ],
)
def test_definitions_that_cannot_be_are_refused(shop: Shop, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        shop.pipeline(shop.lookup(**given))


def test_sources_of_batches_cannot_be_looked_up(shop: Shop) -> None:
    with pytest.raises(DefinitionError, match="a dimension has none"):
        shop.lookup(shop.source())
    with pytest.raises(DefinitionError, match=r"sources.windows\(...\) cannot be looked up"):
        shop.lookup(sources.windows(shop.pipeline(), "day"))
    with pytest.raises(DefinitionError, match=r"sources.spark\(...\) cannot be looked up: .+ Let a task before the run write it"):
        shop.lookup(sources.spark(lambda spark, *_: spark.table("rates"), event_time="valid_from"))
    with pytest.raises(DefinitionError, match=r"rows=events\(id=...\) have no place in its source"):
        shop.lookup(sources.table("rates", changes=True, rows=sources.events(id="currency", within="1d")))


def test_a_source_of_events_needs_an_event_time(shop: Shop) -> None:
    with pytest.raises(DefinitionError, match="event_time is missing"):
        shop.pipeline(source=sources.files(f"{shop.folder}/rates/*.csv"))


def test_the_run_that_reads_changed_rows_notes_on_what_all_batches_rest(shop: Shop) -> None:
    pipeline = shop.pipeline()
    shop.run(pipeline)
    shop.rates("EUR,2024-05-01,7.0", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    (window,) = explain(pipeline, "day", root=str(shop.folder / "state"), at=day(0)).windows
    assert [(*each.key, each.since) for each in window.met] == [("EUR", day(0)), ("USD", day(0))]


@pytest.mark.parametrize("noted", [True, False])
def test_of_two_runs_by_other_versions_neither_notes_its_own(shop: Shop, noted: bool) -> None:
    """
    one     reads by 7.0 ...                    notes?
    other            reads by 5.0 ... is killed
    """
    pipeline = shop.pipeline()
    shop.run(pipeline)
    if not noted:
        (bind(pipeline, shop.folder / "state").folder / "dimensions.json").unlink()
    bounds = []
    for rate in ("7.0", "5.0"):
        shop.rates(f"EUR,2024-05-01,{rate}", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
        bound = bind(pipeline, shop.folder / "state")
        bounds.append((lookup_changes(bound), with_dimensions(bound, written=True)))
    for _, bound in bounds:
        forget_other_versions(bound)
    changes, bound = bounds[0]
    changes.remember(bound)
    assert noted_versions(bound) == {}


def test_a_dimension_that_changes_and_changes_back_while_batches_are_read(shop: Shop) -> None:
    """A batch that was read by other versions than all others rest on is found, though the dimension is what it was."""
    pipeline = shop.pipeline()
    shop.run(pipeline)
    bound = bind(pipeline, shop.folder / "state")
    shop.rates("EUR,2024-05-01,7.0", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
    first = pipeline.intervals.intervals(instant_us(day(0), "start"), instant_us(day(1), "end"))
    record_accumulated(bound.store, accumulate(bound, Local(1), first), utc_now())
    shop.rates("EUR,2024-05-01,1.0", "USD,2024-05-01,0.9", "USD,2024-05-02 12:00:00,0.8")
    assert [each.interval_start for each in shop.run(pipeline, 1).batches] == [day(0), day(1)]
    assert shop.read(pipeline) == [(3, 19.0), (2, 17.0)]


def test_files_and_states_in_an_object_store(shop: Shop, bucket: str) -> None:
    rates = path_of(bucket, "rates/a.csv")
    rates.write_bytes((shop.folder / "rates/a.csv").read_bytes())
    pipeline = shop.pipeline(shop.lookup(sources.files(f"{bucket}/rates/*.csv", types=TYPES)))
    for text, found, batches in ((b"EUR,2024-05-01,1.0\n", 19.0, 2), (b"EUR,2024-05-01,2.0\n", 29.0, 2)):
        rates.write_bytes(rates.read_bytes().replace(b"EUR,2024-05-01,1.0\n", text))
        report = run(pipeline, root=f"{bucket}/state", start=day(1) if found == 29.0 else day(0), end=day(2), spark=Local(2))
        assert len(report.batches) == batches
        assert read(pipeline, "day", root=f"{bucket}/state")["euro"].to_pylist() == [found, 17.0]
    assert lookup_changes(bind(pipeline, f"{bucket}/state")).why == {}
