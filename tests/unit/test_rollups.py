"""Rollups in a definition: which windows they add, and what is refused with what can be."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, Renamed, sources, windows
from muntin import aggregates as agg
from muntin.definition.remarks import remarks
from muntin.errors import DefinitionError
from muntin.jobs.state.bound import bind
from muntin.jobs.state.definition_note import described, differences
from muntin.jobs.state.fingerprint import derivation, fingerprint

ROLLUPS = {"by_city": ["city"], "all": []}


def pipeline(**more: Any) -> Pipeline:
    right: dict[str, Any] = {
        "name": "sales",
        "source": sources.files("sales/{start:%H}.parquet", event_time="at"),
        "schedule": "1h",
        "start": datetime(2024, 1, 1, tzinfo=UTC),
        "keys": ["city", "item"],
        "windows": {"day": windows.tumbling("1d"), "visits": windows.session("20m")},
        "aggregates": {"n": agg.count()},
        "rollups": ROLLUPS,
    }
    return Pipeline(**(right | more))


def test_each_window_is_followed_by_its_rollups() -> None:
    found = pipeline()
    assert list(found.windows) == ["day", "day.by_city", "day.all", "visits", "visits.by_city", "visits.all"]
    assert {name: found.keys_of(name) for name in list(found.windows)[:3]} == {
        "day": ("city", "item"), "day.by_city": ("city",), "day.all": ()
    }  # fmt: skip
    assert found.windows["visits.all"] == found.windows["visits"]


def test_a_definition_made_of_another_has_the_rollups_that_it_says() -> None:
    assert [*replace(pipeline(), description="of shops").windows] == [*pipeline().windows]
    assert [*replace(pipeline(), rollups={"all": []}).windows] == ["day", "day.all", "visits", "visits.all"]
    assert pipeline(rollups={}).windows == {"day": windows.tumbling("1d"), "visits": windows.session("20m")}
    travelled = pickle.loads(pickle.dumps(pipeline()))  # noqa: S301 - our own
    assert [*replace(travelled, rollups={}).windows] == ["day", "visits"]


REFUSED = [
    (["city"], r'rollups: \[.city.\] is not a mapping; write \{"by_city": \["city"\], "all": \[\]\}'),
    ({"by.city": ["city"]}, "'by.city' cannot end the name of a table.*use letters, digits, '_' and '-'"),
    ({"by/city": ["city"]}, "cannot end the name of a table"),
    ({"": ["city"]}, "cannot end the name of a table"),
    ({7: ["city"]}, "7 cannot end the name of a table"),
    ({"by_city": "city"}, r"rollups\['by_city'\]: 'city' is not a list of column names"),
    ({"by_city": None}, r"rollups\['by_city'\]: None is not a list of column names"),
    ({"by_city": ["citty"]}, r"rollups\['by_city'\]: 'citty' is no key; the keys are city, item; did you mean 'city'\?"),
    ({"by_city": ["city", "city"]}, "a column stands twice"),
    ({"same": ["item", "city"]}, "a rollup has fewer keys than the pipeline; leave at least one of them out"),
]


@pytest.mark.parametrize(("rollups", "told"), REFUSED, ids=[str(rollups) for rollups, _ in REFUSED])
def test_what_is_no_rollup_is_refused(rollups: object, told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        pipeline(rollups=rollups)


def test_without_keys_there_are_no_fewer() -> None:
    with pytest.raises(DefinitionError, match="without keys a window has all events already; leave rollups out"):
        pipeline(keys=[], rollups={"all": []})


@pytest.mark.parametrize("window", [windows.arrival(windows.by_count(100)), windows.while_("item > 3")], ids=["by_count", "while_"])
def test_windows_of_single_rows_are_refused_by_name(window: object) -> None:
    of_rows = {"day": windows.tumbling("1d"), "hundred": window}
    with pytest.raises(DefinitionError, match=r"rollups: windows\['hundred'\] goes by single rows: .*Put 'hundred' into"):
        pipeline(windows=of_rows)
    assert [*pipeline(windows=of_rows, rollups={}).windows] == ["day", "hundred"]


def test_a_window_with_the_name_of_a_rollup_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"'day\.all' is a window of its own already"):
        pipeline(windows={"day": windows.tumbling("1d"), "day.all": windows.tumbling("1d")})


def test_what_names_windows_may_name_rollups() -> None:
    found = pipeline(expectations={"day.by_city": "city.json"}, renamed=Renamed(windows={"visits": "sessions", "day.all": "total"}))
    assert found.renamed_tables == {
        "visits": "sessions", "visits.by_city": "sessions.by_city", "visits.all": "sessions.all", "day.all": "total"
    }  # fmt: skip
    with pytest.raises(DefinitionError, match=r"expectations: 'day.by_item' is not possible; choose from 'day', 'day.by_city', 'day.all'"):
        pipeline(expectations={"day.by_item": "item.json"})


def test_states_do_not_depend_on_rollups_and_windows_on_their_own_keys_alone(tmp_path: Path) -> None:
    plain = pipeline(rollups={})
    assert fingerprint(pipeline()) == fingerprint(plain)
    assert derivation(pipeline(), "day") == derivation(plain, "day")
    assert derivation(pipeline(), "day.all") == derivation(pipeline(rollups={"all": []}), "day.all")
    names = {derivation(pipeline(rollups={"by": by}), "day.by") for by in ([], ["city"], ["item"])}
    assert len({*names, derivation(plain, "day")}) == 4
    assert [*bind(pipeline(), tmp_path).frames_by_window] == [*pipeline().windows]


def test_the_difference_of_definitions_names_the_keys() -> None:
    assert differences(described(pipeline(rollups={})), described(pipeline(rollups={"by_city": ["city"], "all": []})))[:2] == [
        "windows: 'day.by_city' is new: Tumbling(size=1d, align=0us, zone=None, grace=0us, dense=False) by city",
        "windows: 'day.all' is new: Tumbling(size=1d, align=0us, zone=None, grace=0us, dense=False) by no key",
    ]


def test_a_remark_on_a_window_is_made_once() -> None:
    assert len(remarks(pipeline(windows={"day": windows.tumbling("1d", grace=3)}))) == 1
