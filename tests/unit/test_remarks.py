"""What is allowed and seldom meant, and what is refused of durations, schedules and retention: rules by table."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, Retain, sources, windows
from muntin import aggregates as agg
from muntin.definition.durations import microseconds
from muntin.definition.remarks import of_naive_times, remarks
from muntin.errors import DefinitionError
from muntin.files.near import near
from tests.properties.kind_with_holes import Doors
from tests.source_options import grouped

START, HOUR_US = datetime(2024, 5, 1, tzinfo=UTC), 3_600_000_000
BERLINS = {"timezone": "Europe/Berlin", "start": START - timedelta(hours=2)}


def pipeline(**other: Any) -> Pipeline:
    given = {
        "name": "p",
        "source": sources.files("{start:%Y%m%d%H}.csv", event_time="t"),
        "schedule": "@daily",
        "start": START,
        "windows": {"w": windows.tumbling("1d")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**{**given, **other})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({}, None),
        ({"start": START + timedelta(hours=7, minutes=30)}, "is no border of the schedule '0 0 * * *'; the first batch is [2024-05-02,"),
        ({"schedule": "7h", "start": START + timedelta(minutes=3)}, None),  # a duration counts from the start
        ({"windows": {"w": windows.tumbling("24h", timezone="Europe/Berlin")}}, 'so it is the same as "1d"'),
        ({"windows": {"w": windows.tumbling("48h", timezone="Europe/Berlin")}}, 'so it is the same as "2d"'),
        ({"windows": {"w": windows.cumulating("24h", step="1h", timezone="Europe/Berlin")}}, 'so it is the same as "1d"'),
        ({"windows": {"w": windows.tumbling("1d", timezone="Europe/Berlin")}}, None),
        ({"windows": {"w": windows.tumbling("6h", timezone="Europe/Berlin")}}, None),
        ({"windows": {"w": windows.tumbling("24h", timezone="Asia/Tokyo")}}, None),  # whose clock is not changed
        ({"windows": {"w": windows.tumbling("24h", timezone="UTC")}}, None),
        ({"windows": {"w": windows.tumbling("24h")}}, None),
        ({"windows": {"w": windows.tumbling("1w")}}, "weeks without timezone begin on Thursday"),
        ({"windows": {"w": windows.tumbling("1w", align_to="monday")}}, None),
        ({"windows": {"w": windows.tumbling("1w", timezone="UTC")}}, None),
        ({**BERLINS, "windows": {"w": windows.tumbling("1d")}}, 'say timezone="Europe/Berlin" in the window'),
        ({**BERLINS, "windows": {"w": windows.cumulating("1mo", step="1d")}}, "cut by the clock of UTC"),
        ({**BERLINS, "windows": {"w": windows.tumbling("1h")}}, None),
        ({**BERLINS, "windows": {"w": windows.tumbling("1d", timezone="UTC")}}, None),
        ({"windows": {"w": windows.tumbling(3600)}}, "3600 are microseconds"),
        ({"windows": {"w": windows.tumbling("500ms")}}, None),
        ({"windows": {"w": windows.sliding("6h", step="1h", grace=60)}}, "a grace of 60us"),
        ({"windows": {"w": windows.tumbling("1s", grace="50ms")}}, None),
    ],
)  # fmt: skip
def test_remarks_on_a_definition(other: dict[str, Any], words: str | None) -> None:
    found = remarks(pipeline(**other))
    assert len(found) == (words is not None)
    assert all(words in each for each in found)


BERLIN = {"utc": windows.tumbling("1d"), "w": windows.tumbling("1d", timezone="Europe/Berlin")}


@pytest.mark.parametrize(
    ("kind", "said", "kinds", "remarked"),
    [
        ("TIMESTAMP", {}, BERLIN, True),
        ("TIMESTAMP_NS", {}, BERLIN, True),
        ("DATE", {}, BERLIN, True),
        ("TIMESTAMP", {}, {"w": windows.cumulating("1d", step="1h", timezone="Europe/Berlin")}, True),
        ("TIMESTAMP", {}, {"w": windows.trailing(2, timezone="Europe/Berlin")}, True),
        ("TIMESTAMP", {}, {"w": windows.tumbling("1mo", timezone="Europe/Berlin")}, True),
        ("VARCHAR", {"time_format": "%d.%m.%Y"}, BERLIN, True),
        ("VARCHAR", {"time_format": "%d.%m.%Y %z"}, BERLIN, False),
        ("VARCHAR", {}, BERLIN, False),  # each may have a zone
        ("TIMESTAMP WITH TIME ZONE", {}, BERLIN, False),
        ("BIGINT", {"unit": "s"}, BERLIN, False),
        ("TIMESTAMP", {"timezone": "Europe/Berlin"}, BERLIN, False),
        ("TIMESTAMP", {"timezone": "UTC"}, BERLIN, False),
        ("TIMESTAMP", {}, {"w": windows.tumbling("1d")}, False),
        ("TIMESTAMP", {}, {"w": windows.tumbling("1d", timezone="UTC")}, False),
    ],
)
def test_naive_event_times_beside_a_local_clock(kind: str, said: dict[str, Any], kinds: dict[str, Any], remarked: bool) -> None:
    remark = of_naive_times(sources.files("{start:%Y}.csv", **grouped(event_time="t", **said)), {"t": kind}, kinds)
    assert (remark is not None) == remarked
    assert (
        not remark
        or "windows['w'] follows the clock of Europe/Berlin; say event_time=sources.at(\"t\", timezone='Europe/Berlin')" in remark
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1 day", "1d"),
        ("2 Days", "2d"),
        ("1D", "1d"),
        ("60min", "1h"),
        ("1.5h", "90m"),
        ("90 secs", "90s"),
        ("P1D", "1d"),
        ("PT15M", "15m"),
        ("15M", None),  # minutes or months
        ("P1M", None),
        ("1month", None),
        ("soon", None),
        ("0 days", None),
    ],
)
def test_the_duration_that_was_meant(written: str, meant: str | None) -> None:
    with pytest.raises(DefinitionError, match="is not a duration") as told:
        microseconds(written, "size")
    assert ("did you mean" in str(told.value)) == (meant is not None)
    assert meant is None or f'(did you mean "{meant}"?)' in str(told.value)


@pytest.mark.parametrize(
    ("retain", "other", "words"),
    [
        ("30m", {}, "states of 30m would be gone before the next come, since a batch takes 1d"),
        (Retain(refused="1h"), {}, "refused of 1h would be gone"),
        (Retain(reports="23h"), {}, "reports of 23h would be gone"),
        ("1d", {}, None),
        (
            Retain(windows="2h"),
            {"schedule": "1h"},
            "since the next window of 'w' can take 1d",
        ),
        (Retain(states="2h"), {"schedule": "1h"}, None),  # states that windows need stay
        (Retain(windows="2h"), {"schedule": "1h", "windows": {"w": windows.sliding("7d", step="1h")}}, None),
        (Retain(windows="30d"), {"windows": {"w": windows.tumbling("1mo")}}, "since the next window of 'w' can take 31d"),
        (Retain(windows="29d"), {"start": datetime(2023, 2, 1, tzinfo=UTC), "windows": {"w": windows.tumbling("1mo")}}, "can take 31d"),
        (Retain(windows="9h"), {"schedule": "1h", "windows": {"w": Doors(24 * HOUR_US, 8 * HOUR_US)}}, "can take 1d"),
        (Retain(windows="1d"), {"schedule": "1h", "windows": {"w": Doors(24 * HOUR_US, 8 * HOUR_US)}}, None),
        (
            Retain(windows="2d"),
            {"start": datetime(2024, 4, 17, tzinfo=UTC), "windows": {"w": Doors(30 * 24 * HOUR_US, HOUR_US)}},
            "can take 30d",
        ),
        (Retain(windows="2h"), {"schedule": "1h", "windows": {"w": windows.session("1d")}}, None),
        (Retain(states="27d"), {"schedule": "@monthly"}, "since a batch takes 31d"),
    ],
)
def test_what_would_be_gone_at_once_is_refused(retain: Any, other: dict[str, Any], words: str | None) -> None:
    if words is None:
        assert pipeline(retain=retain, **other).retention
        return
    with pytest.raises(DefinitionError, match=words):
        pipeline(retain=retain, **other)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("data/x.csv", "{here}/data holds a.csv, b.csv"),
        ("dta/x.csv", "there is no folder 'dta' in {here}, which holds da[t]a, data; did you mean 'data'?"),
        ("data/2024-*/x.csv", "there is no folder '2024-*' in {here}/data, which holds no folder, but a.csv, b.csv"),
        ("da[[]t]a/x.csv", "{here}/da[t]a holds nothing"),
        ("da[[]t]a/new/x.csv", "there is no folder 'new' in {here}/da[t]a, which holds nothing"),
        ("data/**/x.csv", "there is no folder '**' in {here}/data, which holds no folder, but a.csv, b.csv"),
    ],
)
def test_what_is_there_where_a_path_leads_to_nothing(tmp_path: Path, pattern: str, words: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "da[t]a").mkdir()
    for name in ("a.csv", "b.csv", ".hidden"):
        (tmp_path / "data" / name).touch()
    assert near(f"{tmp_path}/{pattern}") == words.replace("{here}", str(tmp_path))


def test_nothing_is_said_of_an_object_store() -> None:
    assert near("s3://bucket/a/b.csv") == ""
