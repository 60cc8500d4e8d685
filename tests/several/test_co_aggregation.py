"""Runs over several sources: what each aggregate takes, what a batch lacks, what the reports say, and what is refused when it is bound."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, plan, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.accumulate import readings
from muntin.jobs.check import examined
from muntin.jobs.inspect.diff import diff
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.status import status
from muntin.jobs.records.reports_table import last_accumulated, manifest
from muntin.jobs.state.bound import bind
from muntin.jobs.state.definition_note import described, differences
from muntin.jobs.upkeep.outdated import outdated, versions
from muntin.store.delta import DeltaStore
from muntin.tasks import Local
from muntin.testing import report_of, windows_of
from tests.several.shop import HOUR, START, Shop, at, click, order
from tests.tables.delta_tables import append


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Two hours of Ann and Bob, who buys without a click."""
    made = Shop(tmp_path)
    made.write("clicks", 0, [click(1), click(2, page="shoes"), click(40, "cid")])
    made.write("orders", 0, [order(3, amount=7), order(50, "bob", page=2)])
    made.write("clicks", 1, [click(61), click(62)])
    made.write("orders", 1, [order(63, "bob")])
    return made


# hour 0   ann   click 1 2   order 3      hour 1   ann   click 61 62
#          bob               order 50              bob                order 63
#          cid   click 40
def test_each_aggregate_takes_rows_of_its_source(shop: Shop) -> None:
    """A window is there if any source has a row in it; of the other an aggregate says what it says of no rows."""
    shop.run(0, 1)
    assert shop.rows("user", "window_start", "events", "clicks", "spent") == [
        ("ann", at(0), 3, 2, 7),
        ("ann", at(60), 2, 2, None),
        ("bob", at(0), 1, 0, 5),
        ("bob", at(60), 1, 0, 5),
        ("cid", at(0), 1, 1, None),
    ]


def test_reports_say_the_rows_of_each_source(shop: Shop) -> None:
    shop.write("orders", 1, [order(63, "bob"), {"user": "bob", "amount": 1}])
    _, second = shop.run(0, 1).batches
    assert (second.rows_read, second.rows_accepted, second.rows_quarantined) == (4, 3, 1)
    told = second.to_dict()["sources"]
    assert told == {
        "clicks": {"read": 2, "accepted": 2, "quarantined": 0, "duplicate": 0, "ambiguous": 0, "nonexistent": 0, "forgotten": 0},
        "orders": {"read": 2, "accepted": 1, "quarantined": 1, "duplicate": 0, "ambiguous": 0, "nonexistent": 0, "forgotten": 0},
    }
    store = DeltaStore(bind(shop.pipeline, shop.folder / "state").folder)
    files = [(file.source, Path(file.path).parent.name, file.rows) for file in manifest(last_accumulated(store)[_us(at(60))])]
    assert files == [("clicks", "clicks", 2), ("orders", "orders", 2)]


def _us(instant: Any) -> int:
    return int(instant.timestamp() * 1_000_000)


def test_a_batch_that_lacks_a_source_is_a_hole(shop: Shop) -> None:
    """The error names the source; the rest waits until its file comes."""
    lost = shop.folder / "orders/01.parquet"
    content = lost.read_bytes()
    lost.unlink()
    with pytest.raises(SourceError, match=r"^source 'orders': no file at .*orders/01.parquet for the interval \[2024-01-01T01:00"):
        shop.run(0, 1)
    shop.run(0)
    shop.write("clicks", 2, [click(121)])
    shop.write("orders", 2, [order(122)])
    assert shop.run(2, 2).waiting_for == ((at(60), at(120)),)
    planned = plan(shop.pipeline, root=shop.folder / "state", start=START, end=at(180))
    assert [batch.reading for batch in planned.batches] == ["unchanged", "missing", "unchanged"]
    lost.write_bytes(content)
    assert shop.run(1, 1).waiting_for == ()
    assert len(shop.rows("user")) == 6


def test_which_source_has_changed(shop: Shop) -> None:
    shop.run(0, 1)
    root = shop.folder / "state"
    assert outdated(shop.pipeline, root=root, start=START, end=at(120)) == []
    shop.write("orders", 1, [order(63, "bob"), order(64, "bob")])
    (found,) = outdated(shop.pipeline, root=root, start=START, end=at(120))
    assert (found.interval_start, found.reason) == (at(60), "orders: a file has another size")
    assert plan(shop.pipeline, root=root, start=START, end=at(120)).batches[1].why == "orders: a file has another size"
    shop.run(1, 1)
    assert shop.rows("spent")[3] == (10,)


def test_a_source_whose_file_is_gone_is_not_emptied(shop: Shop) -> None:
    shop = replace(shop, orders={"missing": "empty"})
    shop.run(0, 1)
    (shop.folder / "orders/01.parquet").unlink()
    with pytest.raises(SourceError, match=r"^source 'orders': \[2024-01-01T01:00.*rows were read before"):
        shop.run(1, 1)
    (found,) = outdated(shop.pipeline, root=shop.folder / "state", start=START, end=at(120))
    assert found.purged
    shop.run(1, 1, allow_missing=True)
    assert shop.rows("user", "spent") == [("ann", 7), ("ann", None), ("bob", 5), ("cid", None)]


def test_types_are_those_of_earlier_batches_where_a_source_is_empty(shop: Shop) -> None:
    shop = replace(shop, orders={"missing": "empty"})
    shop.run(0)
    (shop.folder / "orders/01.parquet").unlink()
    shop.run(1, 1)
    assert shop.rows("spent") == [(7,), (None,), (5,), (None,)]


def test_types_are_those_of_the_first_file_that_there_is(shop: Shop) -> None:
    shop = replace(shop, orders={"missing": "empty"})
    (shop.folder / "orders/00.parquet").unlink()
    shop.run(0)
    assert shop.rows("user", "clicks", "spent") == [("ann", 2, None), ("cid", 1, None)]


def test_types_that_nobody_knows(shop: Shop) -> None:
    shop = replace(shop, orders={"missing": "empty"})
    for file in (shop.folder / "orders").iterdir():
        file.unlink()
    with pytest.raises(SourceError, match=r"^source 'orders': no file of it was found, so nobody knows the types"):
        shop.run(0)
    with pytest.raises(SourceError, match=r"^source 'orders': no file of it was found.*'amount'"):
        replace(shop, orders={"missing": "empty", "types": {"placed": "BIGINT", "user": "VARCHAR"}}).run(0)
    replace(shop, orders={"missing": "empty", "types": {"placed": "BIGINT", "user": "VARCHAR", "amount": "BIGINT"}}).run(0)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"aggregates": {"n": agg.count(), "x": agg.sum("price", source="orders")}}, r"source 'orders': aggregates\['x'\].*price"),
        ({"aggregates": {"x": agg.sum("amount")}}, r"source 'clicks': aggregates\['x'\].*amount"),
        ({"aggregates": {"x": agg.max("page")}}, r"max_page is VARCHAR in source 'clicks' and SMALLINT in 'orders'"),
        ({"keys": ["page"], "aggregates": {"n": agg.count()}}, r"page is VARCHAR in source 'clicks' and SMALLINT in 'orders'"),
        ({"keys": ["amount"]}, r"source 'clicks': keys: no column 'amount'"),
        ({"where": "amount > 1"}, r"source 'clicks': where: 'amount > 1'"),
    ],
)
def test_what_is_refused_when_it_is_bound(shop: Shop, other: dict[str, Any], told: str) -> None:
    wrong = replace(shop, other=other)
    with pytest.raises(DefinitionError, match=told):
        examined(wrong.pipeline, root=shop.folder / "state")
    with pytest.raises(DefinitionError, match=told):
        wrong.run(0)


def test_sql_is_looked_at_before_it_is_bound(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """As binding alone may read a file."""
    monkeypatch.setattr(readings, "check_aggregates", lambda *_: pytest.fail("DuckDB was asked first"))
    reading = replace(
        shop, other={"aggregates": {"n": agg.count(), "x": agg.max("(SELECT content FROM read_text('/etc/hosts'))", source="orders")}}
    )
    with pytest.raises(DefinitionError, match=r"aggregates\['x'\]"):
        examined(reading.pipeline, root=shop.folder / "state")


def test_integers_of_several_widths(shop: Shop) -> None:
    """`id` is a long of clicks, an integer of orders."""
    shop.write("clicks", 0, [click(1, id=1)])
    shop.write("orders", 0, [order(1, id=2)])
    wide = replace(shop, other={"aggregates": {"ids": agg.collect("id"), "largest": agg.max("id")}})
    wide.run(0)
    assert wide.table().schema.field("largest").type == pa.int64()
    assert wide.rows("ids", "largest") == [([1, 2], 2)]


# arrived   batch 0: orders 2 3, clicks 1        batch 1: orders 5, clicks 4
# windows           (2, 3, 1)                            (5, 4, ...
def test_rows_arrive_source_by_source(shop: Shop) -> None:
    """In the order of the definition, whatever their event times are."""
    for number, (clicks, orders) in enumerate((([1], [2, 3]), ([4], [5, 6]))):
        shop.write("clicks", number, [click(60 * number + 1, id=each) for each in clicks])
        shop.write("orders", number, [order(60 * number + 2, id=each) for each in orders])
    members = shop.pipeline.sources
    turned = replace(
        shop,
        other={
            "source": {name: members[name] for name in ("orders", "clicks")},
            "keys": [],
            "windows": {"three": windows.arrival(windows.by_count(3))},
            "aggregates": {"ids": agg.collect("id"), "spent": agg.sum("amount", source="orders")},
        },
    )
    turned.run(0, 1)
    assert turned.rows("ids", "spent", window="three") == [([2, 3, 1], 10), ([5, 6, 4], 10)]


def test_windows_that_end_with_files(shop: Shop) -> None:
    """The files of two sources are two files, though each is the first of its source."""
    ends = replace(
        shop,
        other={
            "keys": [],
            "windows": {"file": windows.arrival(windows.by_punctuation("file"))},
            "aggregates": {"clicks": agg.count(source="clicks"), "spent": agg.sum("amount", source="orders")},
        },
    )
    ends.run(0, 1)
    assert ends.rows("clicks", "spent", window="file") == [(3, None), (0, 12), (2, None), (0, 5)]


def test_conditions_and_duplicates_of_one_source(shop: Shop) -> None:
    shop.write("clicks", 0, [click(1, id=1), click(2, id=1), click(3, id=1, page="none")])
    own = replace(shop, orders={"dedupe": "id"}, other={"where": {"clicks": "page <> 'none'"}})
    shop.write("orders", 0, [order(1, id=1), order(2, id=1), order(3)])
    (report,) = own.run(0).batches
    assert own.rows("clicks", "spent") == [(2, 10)]
    assert (report.sources["clicks"].accepted, report.sources["orders"].duplicate) == (2, 1)
    assert report.rows_left_out == 1


def test_a_file_that_both_read(tmp_path: Path) -> None:
    """One file of events of two kinds."""
    pq.write_table(pa.table({"at": [at(1), at(2), at(3)], "kind": ["a", "b", "b"], "x": [1, 2, 3]}), tmp_path / "00.parquet")
    both = sources.files(f"{tmp_path}/{{start:%H}}.parquet", event_time="at")
    pipeline = Pipeline(
        name="both",
        source={"a": both, "b": both},
        where={"a": "kind = 'a'", "b": "kind = 'b'"},
        schedule="1h",
        start=START,
        windows={"hour": windows.tumbling("1h")},
        aggregates={"as": agg.sum("x", source="a"), "bs": agg.sum("x", source="b")},
    )
    run(pipeline, root=tmp_path / "state", start=START, end=at(60), spark=Local(2))
    assert read(pipeline, "hour", root=tmp_path / "state").select(["as", "bs"]).to_pylist() == [{"as": 1, "bs": 5}]
    assert outdated(pipeline, root=tmp_path / "state", start=START, end=at(60)) == []


def test_a_batch_with_a_contradiction_waits_with_all_its_sources(shop: Shop) -> None:
    """The rows of the other source wait, too, until the file is mended."""
    strict = replace(shop, orders={"on_schema": "quarantine"})
    strict.run(0)
    path = shop.folder / "orders/01.parquet"
    content = path.read_bytes()
    pq.write_table(pa.table({"placed": [order(63)["placed"]], "user": ["bob"], "amount": ["many"]}), path)
    (report,) = strict.run(1, 1).batches
    assert (report.rows_accepted, report.rows_quarantined) == (0, 2)
    assert {name: rows.quarantined for name, rows in report.sources.items()} == {"clicks": 1, "orders": 1}
    assert len(strict.rows("user")) == 3
    path.write_bytes(content)
    strict.run(1, 1)
    assert len(strict.rows("user")) == 5


def test_a_bad_row_of_the_first_file(tmp_path: Path) -> None:
    """The types are those of the good rows."""
    for name, text in (("clicks", "at,user\n2024-01-01T00:01:00Z,ann\n"), ("orders", 'at,user,amount\n2024-01-01T00:02:00Z,ann,5\n,,"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00.csv").write_text(text)
    members = {name: sources.files(f"{tmp_path}/{name}/{{start:%H}}.csv", event_time="at") for name in ("clicks", "orders")}
    shop = Shop(tmp_path, {"source": members})
    (report,) = shop.run(0).batches
    assert report.sources["orders"].quarantined == 1
    assert shop.rows("user", "clicks", "spent") == [("ann", 1, 5)]


def test_small_batches_share_files(shop: Shop) -> None:
    """A bulk run leaves as few files as of one source; a batch in them can be replaced, and its version is that of a run by itself."""
    for number in range(2, 7):
        shop.write("clicks", number, [click(60 * number)])
        shop.write("orders", number, [order(60 * number), {"user": "bob"}])
    shop.run(0, 6)
    for number in range(7):
        shop.run(number, number, "alone")
    bulk, alone = (bind(shop.pipeline, shop.folder / state) for state in ("state", "alone"))
    table = bulk.frame_sets[0].table
    assert [len(bound.store.snapshot(table).files) for bound in (bulk, alone)] == [4, 7]
    assert len(bulk.store.snapshot("quarantine").files) <= 4
    assert versions(bulk) == versions(alone)
    assert shop.table().equals(shop.table(state="alone"))
    shop.write("clicks", 5, [])
    shop.run(5, 5)
    shop.run(5, 5, "alone")
    assert shop.table().equals(shop.table(state="alone"))


def test_files_and_a_table(shop: Shop) -> None:
    """What comes to the table late is read again by the next run."""
    table = shop.folder / "table"
    rows = {"at": pa.array([at(5)], pa.timestamp("us", "UTC")), "user": ["ann"], "amount": [3]}
    append(table, pa.table(rows), at(5))
    append(table, pa.table(rows), at(65))
    orders = sources.table(str(table), event_time="at")
    mixed = replace(shop, other={"source": {"clicks": shop.pipeline.sources["clicks"], "orders": orders}})
    mixed.run(0, 1)
    assert mixed.rows("user", "clicks", "spent") == [("ann", 2, 3), ("ann", 2, None), ("cid", 1, None)]
    append(table, pa.table(rows | {"amount": [4]}), at(50))
    mixed.run(1, 1)
    assert mixed.rows("user", "clicks", "spent")[0] == ("ann", 2, 7)


def test_a_new_aggregate_reads_again(shop: Shop) -> None:
    """And what is dropped is taken over: the state has all that is left."""
    shop.run(0, 1)
    more = replace(shop, other={"aggregates": {**shop.pipeline.aggregates, "pages": agg.count_distinct("page", source="clicks")}})
    more.run(0, 1)
    assert more.rows("user", "clicks", "spent", "pages") == [
        ("ann", 2, 7, 2),
        ("ann", 2, None, 1),
        ("bob", 0, 5, 0),
        ("bob", 0, 5, 0),
        ("cid", 1, None, 1),
    ]


def test_a_changed_definition_is_compared_with_the_one_before(shop: Shop) -> None:
    """Before it takes its place."""
    shop.run(0, 1)
    root = shop.folder / "state"
    changed = replace(shop, other={"where": {"orders": "amount > 6"}})
    run(changed.pipeline, root=root, start=START, end=at(120), spark=Local(2), promoting=False)
    (found,) = diff(changed.pipeline, root=root)
    assert (found.before, found.after) == (5, 3)
    assert differences(described(shop.pipeline), described(changed.pipeline)) == ["where: '' is now {'orders': 'amount > 6'}"]


def test_windows_over_windows_of_several_sources(shop: Shop) -> None:
    shop.run(0, 1)
    above = Pipeline(
        name="above",
        source=sources.windows(shop.pipeline, "hour", event_time="window_start"),
        schedule="1h",
        start=START,
        windows={"two": windows.tumbling("2h")},
        aggregates={"spent": agg.sum("spent")},
    )
    run(above, root=shop.folder / "state", start=START, end=at(120), spark=Local(2))
    assert read(above, "two", root=shop.folder / "state", provisional=True)["spent"].to_pylist() == [17]


def test_what_looks_at_a_state(shop: Shop) -> None:
    shop.run(0, 1)
    root = shop.folder / "state"
    found = explain(shop.pipeline, "hour", root=root, key=["ann"], at=at(1))
    assert sum(part.rows for part in found.windows[0].parts) == 3
    assert status(shop.pipeline, root=root).batches == 2
    assert [Path(path).parent.name for path in examined(shop.pipeline, root=root).files] == ["clicks", "orders"]
    assert read(shop.pipeline, "hour", root=root, provisional=True)["provisional"].to_pylist() == [False] * 5


def test_a_definition_is_tried_on_rows(shop: Shop) -> None:
    rows = [{"clicks": [click(1), click(2)], "orders": [order(3)]}, {"clicks": [click(61)]}]
    found = windows_of(shop.pipeline, rows)
    assert found.select(["user", "clicks", "spent"]).to_pylist() == [
        {"user": "ann", "clicks": 2, "spent": 5},
        {"user": "ann", "clicks": 1, "spent": None},
    ]
    assert [report.sources["clicks"].read for report in report_of(shop.pipeline, {START: rows[0], START + HOUR: rows[1]})] == [2, 1]
    with pytest.raises(DefinitionError, match="a batch of several sources is a mapping from 'clicks', 'orders' to rows"):
        windows_of(shop.pipeline, [[click(1)]])
