"""Fault 29: a clock that is wrong, or goes back, and a host zone that is not UTC. No result depends on them; the newest report counts."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import windows
from muntin.jobs import run
from muntin.jobs.records import reports_table
from tests.end_to_end.hourly import Hourly, times


@pytest.fixture
def case(tmp_path: Path) -> Hourly:
    made = Hourly(tmp_path, other={"windows": {"hour": windows.tumbling("1d", timezone="Europe/Vienna")}, "watermark": "events"})
    made.write("00.parquet", {"at": times(1, 2)})
    made.write("01.parquet", {"at": times(61, 62 + 24 * 60)})
    return made


def at(clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock says so from now on."""
    instant = datetime.fromisoformat(clock).replace(tzinfo=UTC)
    for module in (run, reports_table):
        monkeypatch.setattr(module, "utc_now", lambda: instant)


def test_the_last_report_counts_though_the_clock_went_back(case: Hourly, monkeypatch: pytest.MonkeyPatch) -> None:
    at("2030-01-01", monkeypatch)
    case.run()
    at("1999-01-01", monkeypatch)
    case.write("00.parquet", {"at": times(1)})
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.source_changed) == (1, True)
    assert not case.run().batches[0].source_changed, "it is compared with the run before, not with the one of the latest clock"


@pytest.fixture
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


def clean(folder: Path) -> list[tuple[Any, ...]]:
    """What is published in UTC, by a clock that is right."""
    made = Hourly(folder, other={"windows": {"hour": windows.tumbling("1d", timezone="Europe/Vienna")}, "watermark": "events"})
    made.write("00.parquet", {"at": times(1, 2)})
    made.write("01.parquet", {"at": times(61, 62 + 24 * 60)})
    made.run(0, 1)
    return made.rows("window_start", "window_end", "n")


@pytest.fixture
def wanted(tmp_path: Path) -> list[tuple[Any, ...]]:
    return clean(tmp_path / "clean")


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati"], indirect=True)
@pytest.mark.parametrize("clock", ["1970-01-01", "2199-01-01"])
@pytest.mark.usefixtures("zone")
def test_neither_clock_nor_zone_of_the_host_changes_a_window(
    clock: str, case: Hourly, wanted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at(clock, monkeypatch)
    case.run(0, 1)
    assert case.rows("window_start", "window_end", "n") == wanted
    assert len(wanted) == 1
