"""Arguments of pipelines and sources that belong together: what may be said, and what old names are refused with."""

import inspect
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import muntin
from muntin import Limits, Pipeline, Renamed, Retain, sinks, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import derivation, fingerprint
from muntin.old_names import ARGUMENTS

HOUR_US = 3_600_000_000


def pipeline(**more: Any) -> Pipeline:
    return Pipeline(**{
        "name": "p",
        "source": sources.files("{start:%Y-%m-%d}.csv", event_time="at"),
        "schedule": "@daily",
        "start": datetime(2024, 1, 1, tzinfo=UTC),
        "windows": {"day": windows.tumbling("1d")},
        "aggregates": {"n": agg.count()},
    } | more)  # fmt: skip


@pytest.mark.parametrize(
    ("group", "given", "words"),
    [
        (Limits, {"idle_after": "2x"}, "idle_after: '2x' is not a duration"),
        (Limits, {"max_behind": "-1h"}, "max_behind: '-1h'"),
        (Limits, {"max_ahead": None}, "max_ahead: None is not a duration"),
        (Limits, {"fresh_within": 0}, "fresh_within: 0 must be longer than 0"),
        (Limits, {"max_quarantined": 2}, "max_quarantined: 2 is not a share of rows"),
        (Retain, {"refused": 0}, "retain: refused: 0 must be longer than 0"),
        (Renamed, {"windows": ["day"]}, r"renamed: windows: \['day'\] is not a mapping"),
        (Renamed, {"windows": {"day": "a/b"}}, "'a/b' cannot name a folder"),
        (Renamed, {"pipeline": "a/b"}, "renamed: pipeline: 'a/b' cannot name a folder"),
    ],
)
def test_a_group_is_checked_when_built(group: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        group(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"limits": {"max_behind": "1d"}}, "limits: {'max_behind': '1d'} is no Limits; write limits=Limits"),
        ({"renamed": "old"}, "renamed: 'old' is no Renamed; write renamed=Renamed"),
        ({"retain": {"quarantine": "90d"}}, "retain: {'quarantine': '90d'} is no Retain; write retain=Retain"),
        ({"max_behind": "1d"}, r"max_behind is an argument of Limits: limits=Limits\(max_behind=...\)"),
        ({"derive": {"m": "n / 2"}}, "derive is a part of aggregates, as SQL"),
        ({"on_gap": "empty"}, 'on_gap is no argument any more: .*missing="empty"'),
    ],
)
def test_a_pipeline_refuses_what_is_no_group_and_says_the_new_line(given: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        pipeline(**given)


def test_what_is_said_in_groups_means_what_it_meant() -> None:
    assert pipeline(retain="30d").retention == Retain(states="30d", windows="30d", refused="30d", reports="30d")
    assert not pipeline().retention
    assert pipeline(retain=Retain(refused=timedelta(hours=30))).retention.refused_us == 30 * HOUR_US
    ways = [Limits(), Limits(max_ahead="24h"), Limits(max_quarantined=None, fresh_within="3d")]
    assert len({(fingerprint(each), derivation(each, "day")) for each in (pipeline(limits=limits) for limits in ways)}) == 1
    assert fingerprint(pipeline(limits=Limits(max_behind="1d"))) != fingerprint(pipeline())


@pytest.mark.parametrize(("call", "old"), [(call, old) for call, arguments in ARGUMENTS.items() for old in arguments])
def test_an_old_argument_is_refused_with_what_is_written_now(call: str, old: str) -> None:
    of = Pipeline if call == "Pipeline" else getattr(sources, call)
    with pytest.raises(DefinitionError, match=f"^{call}: {old} is "):
        of(**{old: 1})
    assert old not in inspect.signature(of).parameters or old == "columns"


def test_a_new_argument_or_name_pays_with_an_old_one() -> None:
    assert len(inspect.signature(Pipeline).parameters) <= 20
    assert len(inspect.signature(sources.files).parameters) <= 16
    assert sum(len(each.__all__) for each in (muntin, agg, windows, sources, sinks)) <= 150


def test_the_same_words_are_in_all_sources() -> None:
    for each in (sources.files, sources.table, sources.iceberg, sources.kafka, sources.spark):
        assert {"event_time", "rows", "arrival_order", "arrival_time"} <= inspect.signature(each).parameters.keys()


def test_changes_are_events_with_an_id() -> None:
    said: dict[str, Any] = {"id": "order_id", "operation": "op", "within": "30d"}
    rows = sources.events(**said)
    assert sources.changes(**said) == rows
    path, types = "{start:%Y-%m-%d}.csv", {"order_id": "VARCHAR"}
    assert sources.files(path, event_time="at", rows=rows, types=types) == sources.files(path, event_time="at", changes=rows, types=types)
    with pytest.raises(DefinitionError, match="leave one of them out"):
        sources.files(path, event_time="at", rows=rows, changes=rows, types=types)


def test_values_of_sources_are_alike_however_they_are_said() -> None:
    path = "{start:%Y-%m-%d}.csv"
    assert sources.files(path, event_time=sources.at("at"), format=sources.csv()) == sources.files(path, event_time="at", format="csv")
    assert (
        sources.lookup(sources.files("r.csv"), keys=["k"], since=sources.at("s", timezone="Europe/Berlin")).source.timezone
        == "Europe/Berlin"
    )
    given = windows.given(sources.files("s.csv"), start=sources.at("b", unit="s"), end="e").given_by
    assert given is not None
    assert (given.start, given.source.unit) == ("b", "s")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: sources.at(""), "'' is not the name of a column"),
        (lambda: sources.at("x", unit="h"), "unit: 'h' is not possible"),
        (lambda: sources.at("x", unit="s", format="%H"), "give one of them"),
        (lambda: sources.files("{start}.csv", event_time=3), "event_time: 3 is not the name of a column"),  # type: ignore[arg-type]
        (lambda: sources.files("{start}.json", event_time="x", format="json"), "choose from 'parquet', 'csv', 'jsonl'"),  # type: ignore[arg-type]
        (sources.events, "name the columns that tell events apart"),
        (lambda: sources.events(dedupe="x", operation="op"), "give all three"),
        (lambda: sources.table("x", event_time="x", rows=sources.events(id="x", within="1d")), "say changes=True"),
        (lambda: sources.spark(print, event_time="x", rows=sources.events(id="x", within="1d")), "finds rows that come twice"),
        (lambda: sources.lookup(sources.files("r.csv"), keys=["k"], since=7), "since: 7 is not the name of a column"),  # type: ignore[arg-type]
        (lambda: windows.given("s.csv", start=sources.at("b"), end="e"), r"give sources.files\('s.csv'\)"),
    ],
)
def test_what_cannot_be_said_of_a_source_is_refused(given: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        given()
