"""How fresh a definition asks windows to be: what can be asked, and that it is no part of states and results."""

from typing import Any

import pytest

from muntin import Limits
from muntin.definition.time_limits import Freshness
from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.end_to_end.hourly import Hourly

HOUR_US = 3_600_000_000


def pipeline(tmp_path: Any, **other: Any) -> Any:
    return Hourly(tmp_path, other=other).pipeline


@pytest.mark.parametrize(("asked", "us"), [(None, None), ("2h", 2 * HOUR_US), ("61m", 61 * 60_000_000), (2 * HOUR_US, 2 * HOUR_US)])
def test_what_can_be_asked(tmp_path: Any, asked: Any, us: int | None) -> None:
    assert pipeline(tmp_path, limits=Limits(fresh_within=asked)).fresh_within_us == us


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("1h", 'can never be met: a batch takes 1h .*fresh_within="2h"'),
        ("0", "longer than 0"),
        ("2 hours", "not a duration"),
        (True, "not a duration"),
    ],
)
def test_what_cannot(tmp_path: Any, asked: Any, says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        pipeline(tmp_path, limits=Limits(fresh_within=asked))


def test_it_changes_neither_states_nor_windows(tmp_path: Any) -> None:
    plain, fresh = pipeline(tmp_path), pipeline(tmp_path, limits=Limits(fresh_within="2h"))
    assert fingerprint(fresh) == fingerprint(plain)
    assert derivation(fresh, "hour") == derivation(plain, "hour")


@pytest.mark.parametrize(("lag_us", "met"), [(None, False), (0, True), (HOUR_US, True), (HOUR_US + 1, False)])
def test_whether_it_is_met(lag_us: int | None, met: bool) -> None:
    assert Freshness(HOUR_US, lag_us).met is met
