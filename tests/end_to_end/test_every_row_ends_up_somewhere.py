"""A row that cannot be read or computed goes to the quarantine, and the rest of its batch counts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muntin import Limits, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.inspect.late import quarantined, to_retry
from muntin.jobs.state.fingerprint import fingerprint
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly, hour, times

AT = "2024-01-01 00:10:00"


def written(folder: Path, name: str, content: str | bytes, *, source: dict[str, Any] | None = None, **other: Any) -> Hourly:
    """An hour with one file."""
    case = Hourly(folder, "{start:%H}*." + name.split(".", 1)[1], source or {}, other)
    case.write(name, {"at": []}).write_bytes(content.encode() if isinstance(content, str) else content)
    return case


def refused(case: Hourly) -> list[tuple[Any, ...]]:
    """Name of the file, line, column and reason of each row in the quarantine."""
    rows = quarantined(case.pipeline, root=case.root).to_pylist()
    return [(Path(row["file"]).name, row["line"], row["column"], row["reason"]) for row in rows]


SUM = {"aggregates": {"x": agg.sum("x")}}
NUMBERS = {"types": {"x": "BIGINT"}}
OF_TEXT: dict[str, tuple[str, str | bytes, tuple[int, str | None, str]]] = {
    "a word": ("00.csv", f"at,x\n{AT},1\n{AT},twelve\n{AT},2\n", (3, "x", "x cannot be read as BIGINT")),
    "too few cells": ("00.csv", f"at,x\n{AT},1\n{AT}\n{AT},2\n", (3, None, "1 cell instead of 2")),
    "too many cells": ("00.csv", f"at,x\n{AT},1\n{AT},3,4\n{AT},2\n", (3, None, "3 cells instead of 2")),
    "a stray quote": ("00.csv", f'at,x\n{AT},1\n{AT},"3\n{AT},2\n', (3, None, "a quote opens, and none closes it")),
    "latin-1": ("00.csv", f"at,x\n{AT},1\n{AT},\xfc\n{AT},2\n".encode("latin-1"), (3, None, "byte 0xfc is no UTF-8")),
    "behind a cell of two lines": ("00.csv", f'x,at,k\n1,{AT},"a\nb"\n2,{AT},c\ntwelve,{AT},d\n', (5, "x", "x cannot be read as BIGINT")),
    "no time": ("00.csv", f'at,x,k\n{AT},1,"a\nb"\n,3,c\n{AT},2,d\n', (4, "at", "event time is null")),
    "half an object": ("00.jsonl", f'{{"at":"{AT}","x":1}}\n\n{{"at":\n{{"at":"{AT}","x":2}}', (3, None, "no valid JSON")),
    "no name": (
        "00.jsonl",
        f'{{"at":"{AT}","x":1}}\n{{"at":"{AT}","":3,"x":4}}\n{{"at":"{AT}","x":2}}',
        (2, None, "the object has a member without a name"),
    ),
    "a list": ("00.jsonl", f'{{"at":"{AT}","x":1}}\n[1]\n{{"at":"{AT}","x":2}}', (2, None, "a JSON value that is no object")),
    "a word in JSON": (
        "00.jsonl",
        f'{{"at":"{AT}","x":1}}\n{{"at":"{AT}","x":"twelve"}}\n{{"at":"{AT}","x":2}}',
        (2, "x", "x cannot be read as BIGINT"),
    ),
}


@pytest.mark.parametrize(("ending", "name"), paired(["csv", "jsonl", "parquet"], ["position", "file", "line", "reason", "row"]))
def test_a_column_may_be_called_as_a_column_of_the_quarantine_is(ending: str, name: str, tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}*." + ending, {}, {"aggregates": {"total": agg.sum(name)}})
    case.write(f"00.{ending}", {"at": [*times(1), None, *times(2)], name: [10, 20, 40]})
    case.run()
    (row,) = quarantined(case.pipeline, root=case.root).to_pylist()
    assert (case.rows("total"), row["position"], row["reason"]) == ([(50,)], 1, "event time is null")
    assert "20" in row["row"]
    assert row["file"].endswith(f"00.{ending}")


@pytest.mark.parametrize("what", OF_TEXT)
def test_a_bad_row_of_a_file_of_text(what: str, tmp_path: Path) -> None:
    name, content, told = OF_TEXT[what]
    case = written(tmp_path, name, content, source=NUMBERS, **SUM)
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 2, 1)
    assert case.rows("x") == [(3,)]
    assert refused(case) == [(name, *told)]


def test_its_text_is_kept_as_it_is_written(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f'at,x\n{AT},1\n{AT},"twelve, or so"\n', source=NUMBERS, **SUM)
    case.run()
    assert quarantined(case.pipeline, root=case.root)["row"].to_pylist() == [f'{AT},"twelve, or so"']


def test_a_batch_of_bad_rows_is_an_empty_batch(tmp_path: Path) -> None:
    case = written(tmp_path, "00.jsonl", "{\n{\n", **SUM)
    case.write("01.jsonl", {"at": [AT.replace("00:", "01:", 1)], "x": [5]})
    first, second = case.run(0, 1).batches
    assert (first.rows_read, first.rows_quarantined, second.rows_accepted) == (2, 2, 1)
    assert case.rows("x") == [(5,)]


COMPUTED: dict[str, tuple[dict[str, Any], str]] = {
    "an aggregate": ({"aggregates": {"s": agg.sum("k::BIGINT")}}, "aggregates['s']: CAST(k AS BIGINT) cannot be computed"),
    "a product": ({"aggregates": {"s": agg.sum("x * x")}}, "aggregates['s']: (x * x) cannot be computed"),
    "the filter": ({"where": "k::BIGINT > 0"}, "where: k::BIGINT > 0 cannot be computed"),
    "a condition": ({"aggregates": {"s": agg.sum("x % 7", where="k::BIGINT > 0")}}, "aggregates['s']: k::BIGINT > 0 cannot be computed"),
    "a window": (
        {"windows": {"hour": windows.arrival(windows.by_delta("k::BIGINT", 2))}},
        "windows['hour']: CAST(k AS BIGINT) cannot be computed",
    ),
}


@pytest.mark.parametrize(("what", "ending"), paired(COMPUTED, ["parquet", "csv"]))
def test_a_row_that_cannot_be_computed(what: str, ending: str, tmp_path: Path) -> None:
    other, reason = COMPUTED[what]
    rows = {"at": times(1, 2, 3), "k": ["1", "twelve", "3"], "x": [1, 2**62, 3]}
    spared = {name: [column[0], column[2]] for name, column in rows.items()}
    bad, good = (Hourly(tmp_path / name, f"{{start:%H}}.{ending}", {"types": {"k": "VARCHAR"}}, other) for name in ("bad", "good"))
    bad.write(f"00.{ending}", rows)
    good.write(f"00.{ending}", spared)
    (batch,) = bad.run().batches
    good.run()
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 2, 1)
    names = [*bad.pipeline.aggregates]
    assert bad.rows(*names) == good.rows(*names)
    assert refused(bad) == [(f"00.{ending}", 3 if ending == "csv" else None, None, reason)]


# k        1   left   twelve   3       the filter leaves the second out; what it holds is never computed
def test_what_the_filter_leaves_out_is_not_computed(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"where": "k <> 'left'", "aggregates": {"s": agg.sum("k::BIGINT")}})
    case.write("00.parquet", {"at": times(1, 2, 3, 4), "k": ["1", "left", "twelve", "3"]})
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_left_out, batch.rows_quarantined) == (4, 2, 1, 1)
    assert case.rows("s") == [(4,)]


# three hours that would be read together
def test_batches_beside_a_bad_row_are_as_they_are_without_it(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"aggregates": {"s": agg.sum("k::BIGINT")}})
    for at, text in enumerate(["1", "twelve", "3"]):
        case.write(f"{at:02d}.parquet", {"at": times(60 * at + 1, 60 * at + 2), "k": [text, "5"]})
    assert [batch.rows_quarantined for batch in case.run(0, 2).batches] == [0, 1, 0]
    assert case.rows("s") == [(6,), (5,), (8,)]


def test_a_type_of_the_definition_holds_in_parquet(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.parquet", NUMBERS, SUM)
    case.write("00.parquet", {"at": times(1, 2), "x": ["7", "twelve"]})
    case.run()
    assert (case.rows("x"), refused(case)) == ([(7,)], [("00.parquet", None, "x", "x cannot be read as BIGINT")])
    assert quarantined(case.pipeline, root=case.root)["row"].to_pylist()[0].endswith('"x":"twelve"}')


def test_windows_by_arrival_count_the_rows_that_are_left(tmp_path: Path) -> None:
    counted = {"windows": {"hour": windows.arrival(windows.by_count(2))}, "aggregates": {"all": agg.collect("k::BIGINT")}}
    case = written(tmp_path, "00.csv", f"at,k\n{AT},1\n{AT}\n{AT},x\n{AT},2\n{AT},y\n{AT},3\n{AT},4\n", **counted)
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (7, 4, 3)
    assert case.rows("all") == [([1, 2],), ([3, 4],)]


# hour     0      1      2      3        windows of an upstream are rows, too
# n        1      2      1      1        the last is still open
def test_a_window_of_an_upstream_that_cannot_be_computed(tmp_path: Path) -> None:
    hours = Hourly(tmp_path, other={"name": "hours"})
    for at in range(4):
        hours.write(f"{at:02d}.parquet", {"at": times(*(60 * at + minute for minute in range(1 + (at == 1))))})
    hours.run(0, 3)
    case = Hourly(
        tmp_path,
        other={"source": sources.windows(hours.pipeline, "hour", event_time="window_start"), "aggregates": {"s": agg.sum(f"n * {2**62}")}},
    )
    batches = case.run(0, 3).batches
    assert [(batch.rows_read, batch.rows_quarantined) for batch in batches] == [(1, 0), (1, 1), (1, 0), (1, 0)]
    assert case.rows("s") == [(2**62,), (2**62,)]


def test_a_sum_that_no_row_is_to_blame_for_is_an_error(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other=SUM)
    case.write("00.parquet", {"at": times(1, 2), "x": [2**63 - 1, 2**63 - 1]})
    with pytest.raises(SourceError, match="a sum does not fit its type"):
        case.run()


def test_without_a_type_the_error_says_which_cells_make_it_a_text(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f'at,x,k\n{AT},1,"a\nb"\n{AT},twelve,c\n{AT},2,d\n', **SUM)
    with pytest.raises(DefinitionError, match=r"x is text, for 1 of its 3 cells .* 'twelve' in .*00\.csv, line 4\. .*\"x\": \"BIGINT\""):
        case.run()


def test_so_it_does_in_a_later_file(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f"at,x\n{AT},1.5\n", **SUM)
    case.write("01.csv", {"at": []}).write_text(f"at,x\n{AT},1.5\n{AT},twelve\n")
    with pytest.raises(MuntinError, match=r"'twelve' in .*01\.csv, line 3\. .*\"x\": \"DOUBLE\""):
        case.run(0, 1)


def test_a_batch_with_too_many_of_them_fails_before_anything_is_committed(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f"at,x\n{AT},1\n{AT},twelve\n", source=NUMBERS, limits=Limits(max_quarantined=0.4), **SUM)
    case.write("01.csv", {"at": times(61), "x": [1]})
    words = (
        r"01:00\): 1 of 2 rows \(50\.00%\) are in the quarantine; max_quarantined=0\.4 .*\n.*00\.csv, line 3: x cannot be read as BIGINT"
    )
    with pytest.raises(SourceError, match=words):
        case.run(0, 1)
    assert case.rows("x") == []
    assert (
        Hourly(tmp_path, case.path, case.source, {**SUM, "limits": Limits(max_quarantined=0.5)}).run(0, 1).batches[0].rows_quarantined == 1
    )


@pytest.mark.parametrize("share", [-0.1, 1.1, True, "1%"])
def test_a_share_is_between_none_and_all(share: Any) -> None:
    with pytest.raises(DefinitionError, match="max_quarantined"):
        Hourly(Path("/x"), other={"limits": Limits(max_quarantined=share)}).pipeline  # noqa: B018 - to build it


def test_the_share_makes_no_other_states() -> None:
    some, none = (Hourly(Path("/x"), other={"limits": Limits(max_quarantined=share)}).pipeline for share in (0.1, None))
    assert fingerprint(some) == fingerprint(none)


def test_rows_are_read_again_when_their_file_is_mended(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f"at,x\n{AT},1\n{AT},twelve\n", source=NUMBERS, **SUM)
    case.write("01.csv", {"at": times(61), "x": [1]})
    case.run(0, 1)
    (batch,) = to_retry(case.pipeline, quarantined(case.pipeline, root=case.root), root=case.root)
    assert (batch.interval_start, batch.interval_end, batch.reason) == (hour(0), hour(1), "1 row in the quarantine")
    case.write("00.csv", {"at": []}).write_text(f"at,x\n{AT},1\n{AT},12\n")
    case.run(0, 0)
    assert (refused(case), case.rows("x")) == ([], [(13,), (1,)])


def test_a_stretch_of_the_quarantine(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.csv")
    for at in range(3):
        case.write(f"{at:02d}.csv", {"at": []}).write_text("at\nsoon\n")
    case.run(0, 2)
    found = quarantined(case.pipeline, root=case.root, start=hour(1), end=hour(2))
    assert found["batch"].to_pylist() == [hour(1)]


def test_a_pipeline_without_refused_rows_has_an_empty_quarantine(tmp_path: Path) -> None:
    case = written(tmp_path, "00.csv", f"at\n{AT}\n")
    case.run()
    assert len(quarantined(case.pipeline, root=case.root)) == 0


NAMELESS = [{"at": AT, "x": {"a": 1}}, {"at": AT, "x": {"": 5, "a": 3}}, {"at": AT, "x": {"a": 2}}]


@pytest.mark.parametrize("inside", [lambda x: x, lambda x: [x], lambda x: {"b": x}])
def test_an_empty_name_inside_of_a_value_costs_its_row_alone(inside: Callable[[Any], Any], tmp_path: Path) -> None:
    """DuckDB tells no type of an object where one row has such a name."""
    lines = [{**line, "x": inside(line["x"])} for line in NAMELESS]
    sql = {dict: "x.b.a" if "b" in lines[0]["x"] else "x.a", list: "x[1].a"}[type(lines[0]["x"])]
    case = written(tmp_path, "00.jsonl", "\n".join(map(json.dumps, lines)), aggregates={"x": agg.sum(sql)})
    case.run()
    assert (case.rows("x"), refused(case)) == ([(3,)], [("00.jsonl", 2, None, "x has a member without a name")])


def test_but_no_row_where_nobody_reads_it(tmp_path: Path) -> None:
    case = written(tmp_path, "00.jsonl", "\n".join([*map(json.dumps, NAMELESS), "{"]))
    assert [(batch.rows_accepted, batch.rows_quarantined) for batch in case.run().batches] == [(3, 1)]
