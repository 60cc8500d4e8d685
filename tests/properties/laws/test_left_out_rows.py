"""Of a row that `where=` leaves out nothing is computed: an aggregate over rows of which some would fail is that over the other rows."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from muntin import Limits, Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import DefinitionError
from muntin.laws.states import finished, lifted
from muntin.testing import report_of, windows_of
from tests.case_counts import at_length
from tests.catalogue.aggregates import NO_STATES, ROWS, Row
from tests.catalogue.columns import COLUMNS, fixed
from tests.end_to_end.hourly import START

KINDS = COLUMNS | {"keep": pa.string()}
TYPES = {"n": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "s": "VARCHAR", "b": "BOOLEAN", "d": "DECIMAL(38,2)"}
KEPT = [{**fixed(at), "keep": "yes", "time": at * 1_000_000} for at in range(9)]
ROWS_OF_BOTH = [each for row in KEPT for each in (row, {**row, "keep": "no"})]


def failing(call: str) -> str:
    """The call with expressions that fail where `keep` is no."""

    def changed(text: re.Match[str]) -> str:
        word = r"(?<![\w'.])([nxysbd])(?![\w'.(])"
        return re.sub(
            word,
            lambda each: f"(CASE keep WHEN 'yes' THEN {each[1]} ELSE ({each[1]}::VARCHAR || 'odd')::BIGINT::VARCHAR::{TYPES[each[1]]} END)",
            text[0],
        )

    return re.sub(r'"[^"]*"', changed, call)


def results(of: Aggregate, rows: list[dict[str, Any]]) -> list[Any]:
    return finished(of, lifted(of, [rows], KINDS)).to_pylist()


CALLS = [row for row in ROWS if row.name not in NO_STATES and "where=" not in row.call and failing(row.call) != row.call]


@pytest.mark.parametrize("row", CALLS, ids=[row.call for row in CALLS])
def test_each_aggregate_computes_nothing_of_them(row: Row) -> None:
    try:
        odd = replace(row, call=failing(row.call)).made().only("keep = 'yes'")
    except DefinitionError:
        pytest.skip("an argument that is a column, and no expression")
    assert str(results(odd, ROWS_OF_BOTH)) == str(results(row.made(), KEPT))


NUMBER = "kind = 'number'"
EVENTS = pa.table(
    {
        "at": pa.array([START + timedelta(minutes=at) for at in range(3)], pa.timestamp("us", "UTC")),
        "kind": ["number", "text", "number"],
        "v": ["12", "abc", "30"],
        "s": pa.array(["a", None, "b"]),
        "k": ["k", "k", "k"],
    }
)
CASES: dict[str, tuple[Aggregate, Any]] = {
    "sum": (agg.sum("v::INTEGER", where=NUMBER), 42),
    "only": (agg.max("v::INTEGER").only(NUMBER), 30),
    "two conditions": (agg.count_if("v::INTEGER > 20", where=NUMBER), 1),
    "carry": (agg.last("v::INTEGER", carry="1h", where=NUMBER), 30),
    "best": (agg.max_by("kind", "v::INTEGER", n=2, where=NUMBER), ["number", "number"]),
    "sorted": (agg.collect_sorted("s", by="v::INTEGER"), ["a", "b"]),
    "map": (agg.to_map("s", "v::INTEGER"), [("a", 12), ("b", 30)]),
    "by": (agg.by("k", agg.sum("v::INTEGER", where=NUMBER)), [("k", 42)]),
    "by of some": (agg.by("v::INTEGER", agg.count(), where=NUMBER), [(12, 1), (30, 1)]),
}
KINDS_OF_WINDOWS = {"tumbling": windows.tumbling("1h"), "arrival": windows.arrival(windows.by_count(3)), "session": windows.session("1h")}


def pipeline(kind: str, **aggregates: Aggregate) -> Pipeline:
    source = sources.files("x/{start:%Y%m%dT%H}.parquet", event_time="at")
    given: dict[str, Any] = {"windows": {"w": KINDS_OF_WINDOWS[kind]}, "aggregates": aggregates, "limits": Limits(max_quarantined=None)}
    return Pipeline(name="p", source=source, schedule="1h", start=START, **given)


@pytest.mark.parametrize("what", CASES)
def test_no_row_is_refused_for_what_is_not_computed(what: str) -> None:
    of, right = CASES[what]
    flow = pipeline("tumbling", a=of)
    assert windows_of(flow, [EVENTS])["a"].to_pylist() == [right]
    assert report_of(flow, [EVENTS])[0].rows_quarantined == 0


@at_length
@pytest.mark.parametrize("kind", KINDS_OF_WINDOWS)
@pytest.mark.parametrize("what", CASES)
def test_in_windows_of_each_kind(what: str, kind: str) -> None:
    of, right = CASES[what]
    try:
        flow = pipeline(kind, a=of)
    except DefinitionError:
        pytest.skip("not of these windows")
    assert windows_of(flow, [EVENTS], provisional=True)["a"].to_pylist() == [right]
    assert report_of(flow, [EVENTS])[0].rows_quarantined == 0


def test_a_row_that_counts_and_fails_is_refused_and_no_other() -> None:
    flow = pipeline("tumbling", a=agg.sum("v::INTEGER", where=NUMBER), b=agg.count("v::INTEGER", where="s IS NULL"))
    assert report_of(flow, [EVENTS])[0].rows_quarantined == 1
