"""A run that has not ended in time, as Airflow tells its deadline; no Airflow is needed to judge it."""

import json
from pathlib import Path
from typing import Any

import pytest

from muntin.extensions.airflow.deadlines import tell_of_lag, tell_of_silence
from muntin.extensions.alerts.addresses import ChannelError, of_environment
from tests.alerts.receivers import Webhook
from tests.end_to_end.hourly import Hourly, times
from tests.servers import free_port

AGES_US = 2**60


@pytest.fixture(autouse=True)
def _connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.extensions.airflow.alerting.addresses_of", of_environment)


def context(**facts: Any) -> dict[str, Any]:
    usual = {"dag_run_id": "scheduled__1", "run_type": "scheduled", "state": "running"}
    interval = {"data_interval_start": "2024-01-01T00:00:00Z", "data_interval_end": "2024-01-02T00:00:00Z"}
    return {"dag_run": usual | interval | facts}


def told(hook: Webhook, monkeypatch: pytest.MonkeyPatch, at: dict[str, Any]) -> list[dict[str, Any]]:
    extra = {"config": {"path": hook.address()}}
    monkeypatch.setenv("AIRFLOW_CONN_ALERTS", json.dumps({"conn_type": "apprise", "extra": extra}))
    tell_of_silence(at, "shop", ["alerts"], 7_200_000_000)
    return hook.posted


def test_a_run_that_has_not_ended_is_told(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    (posted,) = told(hook, monkeypatch, context())
    assert (posted["title"], posted["type"]) == ("shop: silent, [2024-01-01, 2024-01-02)", "warning")
    assert posted["message"].splitlines()[:4] == [
        "pipeline shop, interval [2024-01-01, 2024-01-02) UTC",
        "  run scheduled__1 has not ended 2h after it was queued",
        "",
        "nothing was published of it yet; what was published before stays as it is",
    ]


@pytest.mark.parametrize("facts", [{"run_type": "backfill"}, {"state": "failed"}, {"state": "success"}])
def test_a_backfill_waits_by_design_and_an_ended_run_was_told(
    hook: Webhook, monkeypatch: pytest.MonkeyPatch, facts: dict[str, str]
) -> None:
    assert told(hook, monkeypatch, context(**facts)) == []


def test_a_run_by_assets_has_no_interval(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    (posted,) = told(hook, monkeypatch, context(data_interval_start=None, data_interval_end=None))
    assert posted["title"] == "shop: silent"


def lagging(hook: Webhook, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> list[dict[str, Any]]:
    monkeypatch.setenv("MUNTIN_ALERTS", hook.address())
    tell_of_lag(context(**{"queued_at": "2024-01-02T00:00:03Z"} | facts), "shop", ["env:MUNTIN_ALERTS"], 93_600_000_000)
    return hook.posted


def test_windows_that_fall_behind_are_told_also_where_the_run_failed(hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    (posted,) = lagging(hook, monkeypatch, state="failed")
    assert (posted["title"], posted["type"]) == ("shop: not fresh, [2024-01-01, 2024-01-02)", "warning")
    assert posted["message"].splitlines()[:2] == [
        "pipeline shop, interval [2024-01-01, 2024-01-02) UTC",
        "  run scheduled__1 has not published 26h after its interval",
    ]


@pytest.mark.parametrize("facts", [{"run_type": "backfill"}, {"state": "success"}, {"queued_at": "2024-01-03T00:00:00Z"}])
def test_runs_that_leave_the_newest_windows_as_they_are_are_not_told(
    hook: Webhook, monkeypatch: pytest.MonkeyPatch, facts: dict[str, str]
) -> None:
    assert lagging(hook, monkeypatch, **facts) == []


@pytest.mark.parametrize(
    ("within_us", "windows", "root", "interval", "is_told"),
    [
        (1, ["hour"], "state", (0, 1), False),  # another run has published it
        (AGES_US, ["hour"], "state", (1, 2), True),
        (AGES_US, ["hour"], "state", None, False),  # a run for assets: the next interval is not over for so long
        (1, ["hour"], "state", None, True),
        (AGES_US, ["hour", "day"], "state", (0, 1), True),  # nothing is published of one of them
        (AGES_US, ["hour"], "nowhere", (0, 1), True),
        (AGES_US, ["hour"], "hdfs://somewhere", (0, 1), True),  # nobody can look
    ],
)
def test_what_readers_see_decides_and_not_the_run(
    tmp_path: Path,
    hook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    within_us: int,
    windows: list[str],
    root: str,
    interval: tuple[int, int] | None,
    is_told: bool,
) -> None:
    monkeypatch.setenv("MUNTIN_ALERTS", hook.address())
    hourly = Hourly(tmp_path)
    hourly.write("00.parquet", {"at": times(1)})
    hourly.run()
    start, end = (f"2024-01-01T0{border}:00:00Z" for border in interval) if interval else (None, None)
    at = context(queued_at="2024-01-01T01:00:03Z", data_interval_start=start, data_interval_end=end)
    tell_of_lag(at, "hourly", ["env:MUNTIN_ALERTS"], within_us, windows, 3_600_000_000, str(tmp_path), root)
    assert bool(hook.posted) is is_told


def test_without_a_channel_the_lag_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tell_of_lag(context(data_interval_start=None, data_interval_end=None), "shop", [], 93_600_000_000)
    assert [record.getMessage() for record in caplog.records] == ["shop: not fresh"]


def test_a_channel_that_is_down_fails_the_callback_so_that_airflow_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_ALERTS", f"json://127.0.0.1:{free_port()}/")
    with pytest.raises(ChannelError):
        tell_of_silence(context(), "shop", ["env:MUNTIN_ALERTS"], 1)
