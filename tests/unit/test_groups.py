"""Arguments of a pipeline that belong together: what may be said, and what old names are refused with."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muntin import Limits, Pipeline, Renamed, Retain, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import derivation, fingerprint

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
