"""What cannot be is refused where it is written, with what can."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from tests.source_options import grouped

W = windows
EMITTED, ROWS = W.keep(age="1h", emit=True), W.keep(rows=3)
REFUSED: list[tuple[str, Callable[[], object], str]] = [
    ("size 0", lambda: W.unique_sliding("0s"), "must be longer than 0"),
    ("size below 0", lambda: W.unique_sliding("-1s"), "must be longer than 0"),
    ("grace below 0", lambda: W.unique_sliding("10s", grace="-1s"), "must not be negative"),
    ("parts of a resolution", lambda: W.unique_sliding("10s", resolution="3s"), "whole number of resolutions"),
    ("another word", lambda: W.unique_sliding("10s", on="leave"), '"change" or "enter"'),
    ("months by weekday", lambda: W.tumbling("1mo", align_to="monday"), "months do not begin on a monday"),
    ("months by any day", lambda: W.tumbling("1mo", align_to=datetime(2024, 1, 29, tzinfo=UTC)), "is day 29 of a month"),
    ("business days by weekday", lambda: W.tumbling("1bd", align_to="monday"), "no time of day"),
    ("two business days", lambda: W.tumbling("2bd"), '"1bd"'),
    ("half of a half month", lambda: W.cumulating("1sm", step="1mo"), "a step of"),
    ("steps with holes", lambda: W.sliding("1m", step="1h"), "say gaps=True"),
    ("sliding by a clock", lambda: W.sliding("7d", step="1d", timezone="Europe/Berlin"), r"windows.trailing\(days=7, every=\"1d\""),
    ("back to nowhere", W.trailing, "nothing is given"),
    ("back to two places", lambda: W.trailing(days=1, hours=2), "days=1 and hours=2"),
    ("no whole day", lambda: W.trailing(days=1.5), "not a number of days"),
    ("months each day", lambda: W.trailing(months=2, every="1d"), "no whole number of every"),
    ("parts of days", lambda: W.trailing(hours=36), "no whole number of every"),
    ("days over months", lambda: W.trailing(days=40, every="1mo"), "in parts of months"),
    ("no month", lambda: W.tumbling("0mo"), "longer than 0"),
    ("steps that do not divide", lambda: W.cumulating("10s", step="3s"), "try step 1s, 2s, 5s, 10s"),
    ("weeks of a month", lambda: W.cumulating("1mo", step="1w"), "a step of"),
    ("shorter than the gap", lambda: W.session("10m", max_length="5m"), "every session would be cut"),
    ("count 0", lambda: W.by_count(0), "such a window never holds anything"),
    ("count -1", lambda: W.by_count(-1), "give 1 or more"),
    ("half a row", lambda: W.by_count(2.5), "give 1 or more"),
    ("time 0", lambda: W.by_time("0s"), "longer than 0"),
    ("delta below 0", lambda: W.by_delta("v", -1), "0 or more"),
    ("no expression", lambda: W.by_delta("", 1), "not a SQL expression"),
    ("punctuation slides", lambda: W.arrival(W.by_punctuation("v = 1"), trigger=W.by_count(1)), "leave out the trigger"),
    ("trigger by punctuation", lambda: W.arrival(W.by_count(5), trigger=W.by_punctuation("batch")), "leave out the trigger"),
    ("or_time slides", lambda: W.arrival(W.by_count(5, or_time="1h"), trigger=W.by_count(1)), "or_time= is for tumbling"),
    ("incomplete tumbles", lambda: W.arrival(W.by_count(5), incomplete=True), "flush=True gives the rest"),
    ("dense by count", lambda: W.arrival(W.by_count(5), dense=True), "never empty"),
    ("kept of punctuation", lambda: W.arrival(W.by_punctuation("batch"), partitions=W.keep(age="1h")), "nothing is kept for long"),
    (
        "emitted while sliding",
        lambda: W.arrival(W.by_count(5), trigger=W.by_count(1), partitions=W.keep(age="1h", emit=True)),
        "given its results",
    ),
    ("groups as a text", lambda: W.arrival(W.by_count(5), group_by="product"), "not a list of column names"),
    ("kept for nothing", W.keep, "give an age, or a count"),
    ("kept in two ways", lambda: W.keep(age="1h", count=3), "give an age, or a count"),
    ("kept by no number", lambda: W.keep(count=0), "give 1 or more"),
    ("kept by number and time", lambda: W.arrival(W.by_time("5m"), partitions=W.keep(count=3)), "windows by count and delta"),
    (
        "rows of a sliding delta",
        lambda: W.arrival(W.by_delta("v", 1), trigger=W.by_count(1), partitions=W.keep(rows=3)),
        "does not go with",
    ),
    ("no policy", lambda: W.arrival(5), "5 is no policy"),
    ("rows of what", lambda: W.arrival(W.by_count(5), output="lines"), '"windows" or "rows"'),
]


@pytest.mark.parametrize(("build", "problem"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_where_it_is_written(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        build()


def test_what_cannot_be_spelled() -> None:
    for build in (lambda: W.unique_sliding("10s", step="1s"), lambda: W.session("1m", step="1s"), lambda: W.all_time(grace="1s")):
        with pytest.raises(TypeError):
            build()


def define(window: object, **more: object) -> Pipeline:
    source = sources.files("{start:%H}.csv", **grouped(event_time="t", **more))
    return Pipeline(
        name="p", source=source, schedule="1h", start=datetime(2024, 1, 1, tzinfo=UTC), windows={"w": window}, aggregates={"n": agg.count()}
    )


@pytest.mark.parametrize(
    ("window", "more", "problem"),
    [
        (W.by_time("5m"), {}, "arrival_time="),
        (W.by_count(5, or_time="5m"), {}, "arrival_time="),
        (W.arrival(W.by_count(5), partitions=W.keep(age="1h")), {}, "arrival_time="),
        (W.by_punctuation("upstream"), {}, "sources.windows"),
        (W.arrival(W.by_count(5), group_by=["n"]), {}, "has a column .n. already"),
    ],
)
def test_where_window_and_source_meet(window: object, more: dict[str, object], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        define(window, **more)
