"""Rows that later rows change or take back: the windows are those of the rows that are left, however the changes come."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from muntin import Pipeline, Retain, plan, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.finalize import finalize
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import quarantined
from tests.case_counts import at_length, some
from tests.end_to_end.hourly import START, Hourly, hour, times
from tests.source_options import grouped
from tests.taken_back.stories import HOUR, WINDOWS, Row, Shop, columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# hour    0                      1                     2
# 7       c, minute 10, 3.0      u, minute 10, 8.0
# 8       c, minute 20, 1.0                            d
# 9                              c, minute 70, 2.0
STORY = {
    0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)],
    1: [("u", 7, 10, 8.0), ("c", 9, 70, 2.0)],
    2: [("d", 8, None, None), ("c", 10, 130, 4.0)],
}


def firsts(shop: Shop) -> list[tuple[int, float]]:
    return [(row["n"], row["first"]) for row in shop.read("hour").to_pylist()]


@pytest.mark.parametrize("form", some(["parquet", "csv", "jsonl"]))
def test_rows_are_changed_and_taken_back_by_later_batches(tmp_path: Path, form: str) -> None:
    shop = Shop(tmp_path, form=form, kinds=WINDOWS)
    shop.tell(STORY)
    report = shop.run(0, 2)
    assert firsts(shop) == [(1, 8.0), (1, 2.0), (1, 4.0)]
    assert [(each.rows_read, each.rows_accepted, each.rows_duplicate) for each in report.batches] == [(2, 1, 1), (2, 1, 1), (2, 1, 1)]
    shop.check()


@pytest.mark.parametrize("hours", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_batch_by_batch_in_any_order_is_as_at_once(tmp_path: Path, hours: Sequence[int]) -> None:
    shop = Shop(tmp_path)
    shop.tell(STORY)
    for at in hours:
        shop.run(at)
    shop.run(0, 2)
    shop.check()


def test_only_batches_whose_rows_changed_are_read_again_as_plan_foresees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop, again = Shop(tmp_path, within=6, kinds=HOUR), list[int]()
    shop.tell({at: [("c", at, 60 * at, 1.0)] for at in range(6)})
    reading = finalize._read_again

    def read_again(bound: Any, runner: Any, wrong: Sequence[Interval]) -> None:
        again.extend(datetime.fromtimestamp(each.start_us / 1e6, UTC).hour for each in wrong)
        reading(bound, runner, wrong)

    def planned(first: int, last: int) -> list[tuple[int, str]]:
        every = plan(shop.pipeline, root=shop.hours.root, start=hour(first), end=hour(last + 1)).batches
        return [(each.interval_start.hour, each.reading) for each in every]

    monkeypatch.setattr(finalize, "_read_again", read_again)
    assert planned(0, 1) == [(0, "new"), (1, "new")]
    shop.run(0, 5)
    assert planned(5, 5) == [(5, "unchanged")]
    shop.tell({6: [("u", 2, 125, 9.0), ("d", 4, None, None), ("c", 6, 365, 1.0), ("d", 77, None, None)]})
    assert planned(6, 6) == [(2, "changed"), (4, "changed"), (6, "new")]
    again.clear()
    shop.run(6)
    assert again == [2, 4]
    again.clear()
    assert planned(6, 6) == [(6, "unchanged")]
    shop.run(6)
    shop.tell({7: [("c", 7, 425, 1.0)]})
    shop.run(7)
    assert not again
    shop.check()
    shop.tell({6: [("u", 2, 125, 9.0), ("c", 6, 365, 1.0)]})
    assert planned(6, 6) == [(4, "changed"), (6, "changed")]


def test_a_change_of_a_change_is_found_by_what_the_row_says(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR)
    shop.tell(STORY)
    shop.run(0, 2)
    shop.tell({1: [("u", 7, 10, 9.5), ("c", 9, 70, 2.0)]})
    shop.run(1)
    assert firsts(shop)[0] == (1, 9.5)
    shop.tell({1: [("c", 9, 70, 2.0)]})
    shop.run(1)
    assert firsts(shop)[0] == (1, 3.0), "the change is gone"
    shop.check()


# hour      0                1                     2                      the rank of a row: 300 x amount, modulo 3
# 7         c, rank 2        u, rank 0: older      u, rank 2: as new      the amount of hour 2
# 8         c, rank 1        d, rank 0: older                             stays
# 9         c, rank 0        d, rank 2             u, rank 1: older       is taken back
RANKED = {
    0: [("c", 7, 10, 3.02), ("c", 8, 20, 1.0), ("c", 9, 30, 3.0), ("c", 11, 40, 1.01), ("u", 11, 40, 1.0)],
    1: [("u", 7, 10, 9.0), ("d", 8, None, 6.0), ("d", 9, None, 3.02), ("u", 11, 40, None)],
    2: [("u", 7, 10, 8.0), ("u", 9, 30, 1.0)],
}


@pytest.mark.parametrize("form", some(["parquet", "csv"]))
@pytest.mark.parametrize("hours", some([[(0, 2)], [(0, 0), (1, 1), (2, 2)], [(2, 2), (1, 1), (0, 0), (0, 2)]], one_in=3))
def test_the_newest_row_counts_whenever_it_comes(tmp_path: Path, form: str, hours: list[tuple[int, int]]) -> None:
    shop = Shop(tmp_path, form=form, kinds=HOUR, newest_by="rank")
    shop.tell(RANKED)
    for first, last in hours:
        shop.run(first, last)
    (window,) = (row for row in shop.read("hour").to_pylist() if row["window_start"] == START)
    assert (window["n"], window["total"]) == (3, (8.0 + 1.0 + 1.01) / 7)
    (row,) = quarantined(shop.pipeline, root=shop.hours.root).to_pylist()
    assert (row["batch"], row["reason"]) == (hour(1), "has no number or time that says how new it is (newest_by)")
    shop.check()
    shop.tell({1: [("u", 8, 20, 1.2)]})  # rank 0 of another amount, and order 9 is not taken back
    shop.run(1)
    shop.check()


def test_explain_says_that_the_newest_row_counts(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, newest_by="rank")
    shop.tell(RANKED)
    shop.run(0, 2)
    (window,) = explain(shop.pipeline, "hour", root=shop.hours.root, at=START).windows
    assert {each.what for each in window.changes} == {"takes a row back, if it is the newest", "changes a row, if it is the newest"}


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"types": {"order": "BIGINT", "rank": "VARCHAR"}}, "newest_by: column 'rank' is VARCHAR, and of texts '9' is newer than '10'"),
        ({"types": {"order": "BIGINT", "rang": "BIGINT"}, "newest_by": "rang"}, "no column 'rang'"),
        ({"newest_by": 7}, "newest_by: 7 is for rows with an id="),
    ],
)
def test_how_new_a_row_is_must_be_known(tmp_path: Path, told: dict[str, Any], says: str) -> None:
    shop = Shop(tmp_path, form="csv", kinds=HOUR, **{"newest_by": "rank", **told})
    shop.tell(RANKED)
    with pytest.raises((DefinitionError, SourceError), match=says):
        shop.run(0, 2)


def test_what_has_no_newest_row() -> None:
    with pytest.raises(DefinitionError, match="of rows that are alike by dedupe= the first counts"):
        sources.events(dedupe="id", newest_by="at")
    with pytest.raises(DefinitionError, match="so newest_by= has no place"):
        sources.table("lake/orders", event_time="at", changes=True, rows=sources.events(id="id", within="7d", newest_by="at"))


# within 1 hour     0      1      2
# order 7           c      u      u: the order is two hours old
def test_what_nobody_can_apply_goes_to_the_quarantine_with_its_reason(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, within=1)
    shop.tell({
        0: [("c", 7, 10, 3.0), ("?", 8, 20, 1.0), ("d", None, 30, 1.0)],
        1: [("u", 7, 10, 4.0)],
        2: [("u", 7, 10, 5.0), ("c", 9, 130, 1.0)],
    })  # fmt: skip
    report = shop.run(0, 2)
    counts = [(each.rows_read, each.rows_accepted, each.rows_duplicate, each.rows_quarantined) for each in report.batches]
    assert counts == [(3, 1, 0, 2), (1, 0, 1, 0), (2, 1, 0, 1)]
    rows = quarantined(shop.pipeline, root=shop.hours.root).to_pylist()
    assert [(row["batch"], row["reason"]) for row in rows] == [
        (START, "operation is not known: ?"),
        (START, "takes a row back and has no id to name it"),
        (hour(2), "changes an event whose first row came more than 1h before, or never (within)"),
    ]
    assert firsts(shop)[0] == (1, 4.0)
    shop.check()


# within 1 hour   0      1      2      3        4
# 1               c             u                     the change came too late, and is no new row
# 2               c                    d
# 3               c                    d, c           an update, as Flink writes it
# 4               c                    c              a new row, says the stream
# 5               c                    d        c     the change came too late; then a new row, says the stream
# 6                      u                            of an order that never came
@pytest.mark.parametrize(
    ("told", "refused", "counts"),
    some(
        [
            ({}, [0, 1, 1, 3, 0], [5, 1, 1]),
            ({"deletes": "op = 'd'"}, [0, 1, 1, 3, 0], [5, 1, 1]),
            ({"deletes": "op = 'd'", "operation": None}, [0, 0, 0, 3, 0], [5, 1, 1, 1, 1]),  # nothing tells an update from a new row
        ]
    ),
)
def test_what_changes_a_row_that_nobody_knows_is_no_new_row(
    tmp_path: Path, told: dict[str, Any], refused: list[int], counts: list[int]
) -> None:
    shop = Shop(tmp_path, kinds=HOUR, within=1, **told)
    shop.tell({
        0: [("c", order, order, 1.0) for order in range(1, 6)],
        1: [("u", 6, 70, 2.0)],
        2: [("u", 1, 130, 3.0)],
        3: [("d", 2, None, None), ("d", 3, 3, 1.0), ("c", 3, 190, 4.0), ("c", 4, 200, 5.0), ("d", 5, None, None)],
        4: [("c", 5, 250, 6.0)],
    })  # fmt: skip
    shop.run(4)
    report = shop.run(0, 4)
    assert [each.rows_quarantined for each in report.batches] == refused
    rows = quarantined(shop.pipeline, root=shop.hours.root).to_pylist()
    assert {row["reason"] for row in rows} == {"changes an event whose first row came more than 1h before, or never (within)"}
    assert [row["n"] for row in shop.read("hour").to_pylist()] == counts
    shop.check()


# hour    0            1
# 7       c "3"        u "three": no number, so the change is refused
# 8       c "4"        u "5"
def test_a_change_of_which_nothing_can_be_computed_changes_nothing(tmp_path: Path) -> None:
    changes = {"id": "order", "operation": "op", "changes_within": "3h"}
    case = Hourly(tmp_path, source=changes, other={"aggregates": {"x": agg.sum("x::BIGINT")}})
    case.write("00.parquet", {"at": times(10, 20), "order": [7, 8], "op": ["c", "c"], "x": ["3", "4"]})
    case.write("01.parquet", {"at": times(10, 20), "order": [7, 8], "op": ["u", "u"], "x": ["three", "5"]})
    report = case.run(0, 1)
    assert case.rows("x") == [(8,)]
    assert [batch.rows_quarantined for batch in report.batches] == [0, 1]


# within 3 hours  0      1      2      3      4      5
#                 c             d             c      u: of the row of hour 4, wherever the first row was touched meanwhile
TOUCHES = [({}, 1), ({1: "u"}, 1), ({2: "d"}, 0), ({1: "d", 2: "u"}, 1), ({1: "-U", 3: "+U"}, 1), ({3: "d"}, 0)]
LASTS = ["u", "d", None]


def brought_again(order: int, touches: Mapping[int, str], last: str | None) -> dict[int, list[Row]]:
    """An order that is brought in hour 0 and in hour 4; what touches it between, and what hour 5 says of it."""
    story = {0: "c", **touches, 4: "c"} | ({5: last} if last else {})
    return {at: [(op, order, 60 * (at if at > 3 else 0) + order + 1, 1.0 + at)] for at, op in story.items()}


def test_ids_that_are_brought_after_their_time_are_new_whatever_touched_them(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    stories = [brought_again(order, touches, last) for order, ((touches, _), last) in enumerate(product(TOUCHES, LASTS))]
    shop.tell({at: [row for story in stories for row in story.get(at, ())] for at in range(6)})
    report = shop.run(0, 5)
    assert [batch.rows_quarantined for batch in report.batches] == [0] * 6
    assert [row["n"] for row in shop.read("hour").to_pylist()] == [4 * 3, 6, 6], "of hours 0, 4 and 5"
    shop.check()


@at_length
@pytest.mark.parametrize(("touches", "there"), TOUCHES)
@pytest.mark.parametrize("last", LASTS)
def test_an_id_that_is_brought_after_its_time_is_new_whatever_touched_it(
    tmp_path: Path, touches: dict[int, str], there: int, last: str | None
) -> None:
    shop = Shop(tmp_path)
    shop.tell(dict.fromkeys(range(6), ()) | brought_again(7, touches, last))
    report = shop.run(0, 5)
    assert [batch.rows_quarantined for batch in report.batches] == [0] * 6
    assert [row["n"] for row in shop.read("hour").to_pylist()] == [1] * there + [1] * (last != "d")
    shop.check()


# within 2 hours  0      1      3
#                 c      c      c      the last changes the row of hour 1, which is no row of its own but changes the row of hour 0
def test_an_id_that_is_brought_again_and_again_is_no_two_rows(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, within=2)
    shop.tell({0: [("c", 7, 10, 3.0)], 1: [("c", 7, 10, 4.0)], 2: [], 3: [("c", 7, 190, 5.0)]})
    assert [batch.rows_quarantined for batch in shop.run(0, 3).batches] == [0, 0, 0, 1]
    assert firsts(shop) == [(1, 4.0)]
    shop.check()


# deletes="op = 'x'" and operation="op": 7 is taken back by its word, 8 by the condition; 9 is changed, 10 has another word
def test_beside_a_condition_words_take_back_too(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, deletes="op = 'x' OR amount > 100 AND op <> 'c'")
    words, first, second = ("d", "D", "-U", "-D", "DELETE", "Delete", " d", "update_preimage"), list[Row](), list[Row]()
    for ten, word in enumerate(words):
        at = 10 * ten
        first += [("c", at + order, order, 1.0) for order in (7, 8, 9)] + [("c", at + 6, 6, 200.0), (word, at + 6, None, None)]
        second += [(word, at + 7, None, None), ("x", at + 8, None, None), ("u", at + 9, 9, 8.0), ("placed", at + 5, 70, 2.0)]
    shop.tell({0: first, 1: second})
    report = shop.run(0, 1)
    assert [batch.rows_quarantined for batch in report.batches] == [0, 0]
    assert firsts(shop) == [(len(words), 8.0), (len(words), 2.0)]


@pytest.mark.parametrize(("told", "refused"), [({"deletes": "op = 3"}, 0), ({}, 3)])
def test_operations_may_be_numbers(tmp_path: Path, told: dict[str, Any], refused: int) -> None:
    source = {"id": "order", "operation": "op", "changes_within": "3h", "types": {"op": "INTEGER", "order": "BIGINT"}, **told}
    case = Hourly(tmp_path, "{start:%H}.parquet", source=source)
    case.write("00.parquet", {"at": times(10, 20, 30), "order": [7, 8, 7], "op": [1, 1, 3]})
    report = case.run(0)
    assert report.batches[0].rows_quarantined == refused
    assert case.rows("n") == ([] if refused else [(1,)])


def test_a_condition_may_tell_what_is_taken_back(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, operation=None, deletes="op = 'cancelled' and amount is null")
    shop.tell({0: [("ordered", 7, 10, 3.0), ("ordered", 8, 20, 4.0)], 1: [("cancelled", 7, None, None), ("cancelled", 8, 25, 1.5)]})
    shop.run(0, 1)
    assert firsts(shop) == [(1, 1.5)]


def test_types_of_two_batches_are_joined_without_loss(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR, types={})
    shop.tell({0: [("c", 7, 10, 3.0), ("c", 8, 20, 4.0)]})
    table = pa.table(columns([("c", 7, 10, 3.0), ("c", 8, 20, 4.0)]))
    shop.hours.write("00.parquet", {**dict(zip(table.column_names, table.columns, strict=True)), "amount": pa.array([3, 4])})
    shop.tell({1: [("u", 7, 10, 2.5)]})
    shop.run(0, 1)
    assert firsts(shop) == [(2, 2.5)]


def test_whole_numbers_of_json_may_be_negative_in_some_batches(tmp_path: Path) -> None:
    """DuckDB takes them for BIGINT, and for HUGEINT where both signs occur."""
    source = {"id": "order", "operation": "op", "changes_within": "3h", "types": {"order": "BIGINT"}}
    case = Hourly(tmp_path, "{start:%H}.jsonl", source, {"aggregates": {"n": agg.count(), "total": agg.sum("amount")}})
    case.write("00.jsonl", {"at": times(10, 20, 30), "order": [7, 8, 9], "op": ["c"] * 3, "amount": [-3, 4, 1]})
    case.write("01.jsonl", {"at": times(70, 80), "order": [7, 8], "op": ["u", "d"], "amount": [5, None]})
    case.write("02.jsonl", {"at": times(130, 140), "order": [7, 9], "op": ["u", "u"], "amount": [-5, 6]})
    case.run(0, 1)
    case.run(2, 2)
    assert case.rows("n", "total") == [(2, 1)]


def test_a_batch_whose_changes_are_gone_is_told_and_nothing_is_published(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR)
    shop.tell(STORY)
    shop.run(0, 2)
    (tmp_path / "data/01.parquet").unlink()
    before = firsts(shop)
    shop.tell({0: [("c", 7, 11, 3.0), ("c", 8, 20, 1.0)]})
    with pytest.raises(SourceError, match="01"):
        shop.run(0)
    assert firsts(shop) == before


def test_windows_over_windows(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR)
    longer = Pipeline(
        name="longer", source=sources.windows(shop.pipeline, "hour"), schedule="1h", start=START, windows={"all": windows.tumbling("1d")},
        aggregates={"orders": agg.sum("n"), "most": agg.max("first")},
    )  # fmt: skip
    for first, last in ((0, 0), (1, 1), (2, 5)):
        shop.tell({at: STORY.get(at, []) for at in range(first, last + 1)})
        shop.run(first, last)
        run(longer, root=shop.hours.root, start=START, end=hour(last + 1))
    rows = read(longer, "all", root=shop.hours.root, provisional=True)
    assert rows.select(["orders", "most"]).to_pylist() == [{"orders": 3, "most": 8.0}]


def test_the_windows_are_the_same_on_spark(tmp_path: Path, spark: "SparkSession") -> None:
    shop = Shop(tmp_path)
    shop.tell(STORY)
    run(shop.pipeline, root=shop.hours.root, start=START, end=hour(3), spark=spark)
    assert firsts(shop) == [(1, 8.0), (1, 2.0), (1, 4.0)]
    shop.check()


RIGHT: dict[str, Any] = {"event_time": "at", "id": "order", "operation": "op", "changes_within": "30d"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"id": None}, "name the columns that tell events apart"),
        ({"changes_within": None}, "give all three"),
        ({"operation": None}, "give all three"),
        ({"dedupe": "order"}, "leave dedupe= out"),
        ({"operation": ""}, "no column"),
        ({"changes_within": "200d"}, "longer than"),
        ({"changes_within": "0s"}, "within: .0s. must be longer"),
        ({"id": []}, "id"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        sources.files("data/{start:%H}.parquet", **grouped(**(RIGHT | given)))


def test_a_condition_that_does_not_fit_the_columns_is_told(tmp_path: Path) -> None:
    shop = Shop(tmp_path, operation=None, deletes="nope = 1")
    shop.tell(STORY)
    with pytest.raises(SourceError, match=r'does not fit the columns.*"nope"'):
        shop.run(0)


def test_the_id_of_text_files_is_a_text() -> None:
    assert sources.files("data/{start:%H}.csv", **grouped(**RIGHT)).types["order"] == "VARCHAR"


def test_states_are_kept_as_long_as_rows_may_change(tmp_path: Path) -> None:
    shop = Shop(tmp_path, within=30)
    with pytest.raises(DefinitionError, match="within="):
        replace(shop.pipeline, retain=Retain(states=timedelta(hours=29)))
    replace(shop.pipeline, retain=Retain(states=timedelta(hours=40)))


def test_an_aggregate_that_is_added_is_of_the_rows_that_are_left(tmp_path: Path) -> None:
    shop = Shop(tmp_path, kinds=HOUR)
    shop.tell(STORY)
    shop.run(0, 2)
    for each in (shop.hours, shop.clean):
        each.other["aggregates"] = {**each.other["aggregates"], "least": agg.min("amount")}  # type: ignore[index]
    shop.run(0, 2)
    assert [row["least"] for row in shop.read("hour").to_pylist()] == [8.0, 2.0, 4.0]
    shop.check()


@pytest.mark.parametrize("form", some(["parquet", "csv"]))
def test_explain_names_the_changes_of_rows_and_where_they_stand_and_says_so_where_they_cannot_be_read(tmp_path: Path, form: str) -> None:
    shop = Shop(tmp_path, kinds=HOUR, form=form)
    shop.tell(STORY | {1: [("c", 9, 70, 2.0), ("?", 1, 1, 1.0), ("u", 7, 10, 8.0)]})
    shop.run(0, 2)
    (window,) = explain(shop.pipeline, "hour", root=shop.hours.root, at=START).windows
    told = [(each.batch, each.by, each.what, Path(each.file).name, each.position) for each in window.changes]
    assert told == [
        (START, hour(1), "changes a row", f"01.{form}", 2),
        (START, hour(2), "takes a row back", f"02.{form}", 0),
    ]
    assert [json.loads(each.row)["order"] for each in window.changes] == [7, 8]
    assert [each.line for each in window.changes] == ([None, None] if form == "parquet" else [4, 2])
    assert firsts(shop) == [(1, 8.0), (1, 2.0), (1, 4.0)]
    shop.check()
    (tmp_path / f"data/02.{form}").unlink()
    (window,) = explain(shop.pipeline, "hour", root=shop.hours.root, at=START).windows
    assert "[2024-01-01T02:00, 2024-01-01T03:00): rows were read before" in str(window.unread)
