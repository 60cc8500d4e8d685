"""What windows are derived anew for: their rules, not how they are shown or what a zone is called."""

from typing import Any

import pytest

from muntin import windows

DAYS: dict[str, Any] = {"size": "1d", "timezone": "America/New_York"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (windows.tumbling(**DAYS), windows.tumbling(**DAYS, dense=True)),
        (windows.tumbling("1mo"), windows.tumbling("1mo", dense=True)),
        (windows.sliding("2h", step="1h"), windows.sliding("2h", step="1h", dense=True)),
        (windows.tumbling(**DAYS), windows.tumbling("1d", timezone="US/Eastern")),
        (windows.cumulating("1d", step="1h", timezone="Asia/Kolkata"), windows.cumulating("1d", step="1h", timezone="Asia/Calcutta")),
    ],
)
def test_equal_windows_have_one_identity(one: Any, other: Any) -> None:
    assert one.identity == other.identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (windows.tumbling(**DAYS), windows.tumbling("1d", timezone="America/Chicago")),
        (windows.tumbling(**DAYS), windows.tumbling("1d")),
        (windows.tumbling(**DAYS), windows.tumbling(**DAYS, grace="1h")),
        (windows.arrival(windows.by_time("1h")), windows.arrival(windows.by_time("1h"), dense=True)),
    ],
)
def test_other_windows_have_another(one: Any, other: Any) -> None:
    assert one.identity != other.identity
