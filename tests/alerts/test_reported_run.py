"""Whole runs, without Spark: what becomes of data is told through a real webhook, whatever happens to the channel."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, RunReport
from muntin.errors import SourceError
from muntin.extensions import alerts
from muntin.extensions.alerts.declaration import Alerts
from muntin.jobs.inspect.status import status
from muntin.jobs.reported_run import run_and_tell
from tests.alerts.receivers import Webhook
from tests.servers import free_port
from tests.storage.three_batches import HERE, HOUR, START, Small

SECRET = "hunter2hunter2"  # noqa: S105 - no real one
Words = Callable[[], list[str]]


@dataclass(frozen=True)
class Reported:
    """A project whose runs are told."""

    small: Small
    alerts: Alerts

    @property
    def pipeline(self) -> Pipeline:
        return replace(self.small.pipeline, alerts=self.alerts)

    def run(self, first: int, last: int | None = None, **options: Any) -> RunReport:
        """Batches first..last, last included."""
        start, end = START + first * HOUR, START + ((first if last is None else last) + 1) * HOUR
        where = {"root": self.small.folder / "state", "start": start, "end": end}
        return run_and_tell(self.pipeline, **where, link="muntin run shop.py", spark=HERE, **options)

    def files(self) -> list[Path]:
        return [path for path in (self.small.folder / "state").rglob("alerts/*/*") if path.is_file()]


@pytest.fixture
def shop(tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> Reported:
    """Three batches, the first with a row that has no time."""
    monkeypatch.setenv("MUNTIN_ALERTS", hook.address(f"{SECRET}", user=f"me:{SECRET}"))
    small = Small(tmp_path)
    small.write_all()
    return Reported(small, alerts.to("env:MUNTIN_ALERTS", empty_after=2, hole_after=1, quarantined=None))


def with_limits(shop: Reported, **limits: Any) -> Reported:
    return Reported(shop.small, alerts.to("env:MUNTIN_ALERTS", **{"quarantined": None, **limits}))


def waiting(shop: Reported) -> int:
    return status(shop.pipeline, root=shop.small.folder / "state").unsent


def titles(hook: Webhook) -> list[str]:
    return [posted["title"].partition(",")[0] for posted in hook.posted]


def test_a_run_that_is_well_sends_nothing(shop: Reported, hook: Webhook) -> None:
    report = shop.run(0, 2)
    assert (report.alerts, hook.asked) == ((), [])


def test_a_share_in_quarantine_is_told_and_then_that_it_is_well_again(shop: Reported, hook: Webhook) -> None:
    shop = with_limits(shop, quarantined=0.2)
    assert shop.run(0).alerts == ("sent to 'env:MUNTIN_ALERTS'",)
    assert "quarantined rows above 20 %\n  1 of 4 rows (25 %)" in hook.posted[0]["message"]
    assert "published: hours of 1 batch, visits of 1 batch" in hook.posted[0]["message"]

    shop.run(1)
    shop.run(2)
    assert titles(hook) == ["small: 1 warning", "small: well again"]
    assert [posted["type"] for posted in hook.posted] == ["warning", "success"]


def test_late_rows_are_told_in_a_bulk_run_in_one_message(shop: Reported, hook: Webhook) -> None:
    with_limits(shop, late=0, quarantined=0).run(0, 2)
    (posted,) = hook.posted
    assert "warning: late rows above 0 %" in posted["message"]
    assert "warning: quarantined rows above 0 %" in posted["message"]


def test_a_run_that_fails_says_what_became_of_the_data_and_raises_as_ever(shop: Reported, hook: Webhook) -> None:
    shop.run(0)
    (shop.small.folder / "data/01.parquet").unlink()
    with pytest.raises(SourceError):
        shop.run(1)
    (posted,) = hook.posted
    assert posted["title"] == "small: 1 critical, [2024-01-01T01:00, 2024-01-01T02:00)"
    lines = posted["message"].splitlines()
    assert lines[2] == "critical: the run failed"
    assert lines[3].startswith("  SourceError: no file at")
    assert "nothing was published; what was published before stays as it is, up to 2024-01-01T01:00 UTC" in lines
    assert lines[-1] == "  muntin run shop.py"

    shop.small.write_all()
    shop.run(1)
    assert titles(hook)[1:] == ["small: well again"]


def test_before_the_first_run_a_failure_is_told_and_nothing_is_kept(shop: Reported, hook: Webhook) -> None:
    (shop.small.folder / "data/00.parquet").unlink()
    with pytest.raises(SourceError):
        shop.run(0)
    assert titles(hook) == ["small: 1 critical"]
    assert not (shop.small.folder / "state").exists()


def test_an_empty_batch_where_there_were_always_rows(shop: Reported, hook: Webhook) -> None:
    shop.run(0, 1)
    shop.small.write(2, ())
    shop.run(2)
    assert "an empty batch\n  the 2 batches before it had rows" in hook.posted[0]["message"]
    shop.run(2)
    assert len(hook.posted) == 2  # the same batch, still empty


def test_a_hole_is_told_once_and_once_that_it_is_filled(shop: Reported, hook: Webhook) -> None:
    # batch  0  1  2  3
    #        x     x  x    1 is missing; it is told of when one later batch is there
    shop.small.write(3, (190,))
    shop.run(0)
    shop.run(2)
    assert "a missing interval\n  [2024-01-01T01:00, 2024-01-01T02:00): not there 1 interval later" in hook.posted[0]["message"]
    shop.run(3)
    assert len(hook.posted) == 1
    shop.run(1)
    shop.run(1)
    assert titles(hook) == ["small: 1 warning", "small: well again"]


def test_a_channel_that_is_down_stops_nothing_and_gets_it_later(
    shop: Reported, hook: Webhook, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    shop, well = with_limits(shop, quarantined=0.2), hook.address(SECRET, user=f"me:{SECRET}")
    monkeypatch.setenv("MUNTIN_ALERTS", well.replace(str(hook.port), str(free_port())))
    report = shop.run(0)
    assert report.published["hours"]
    (line,) = report.alerts
    assert line.startswith("not sent to 'env:MUNTIN_ALERTS' (JSON: ")
    assert line.endswith("the next run tries again")
    assert f"alerts: {line}" in caplog.text
    assert waiting(shop) == 1
    meanwhile = [path.read_text() for path in shop.files()]

    monkeypatch.setenv("MUNTIN_ALERTS", well)
    assert shop.run(0).alerts == ("sent to 'env:MUNTIN_ALERTS', with 1 of earlier runs",)
    assert titles(hook) == ["small: 1 warning", "small: 1 warning"]
    assert waiting(shop) == 0

    later = [path.read_text() for path in shop.files()]
    everywhere = [*meanwhile, *later, caplog.text, str(hook.posted), str(report), *capfd.readouterr()]
    assert len(meanwhile) > len(later) > 0
    assert not [text for text in everywhere if SECRET in text]


def test_a_channel_that_hangs_takes_seconds_and_no_more(shop: Reported, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.extensions.alerts.apprise_channel.READ_S", 0.5)
    hook.wait_s = 3
    report = with_limits(shop, quarantined=0.2).run(0)
    assert report.published["hours"]
    assert "not sent" in report.alerts[0]


def test_an_alert_that_breaks_is_said_and_stops_nothing(shop: Reported, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("muntin.extensions.alerts.alert.findings", broken)
    report = shop.run(0)
    assert report.published["hours"]
    assert report.alerts == ("not told: RuntimeError",)


def test_a_range_that_cannot_be_is_the_caller_s_mistake_and_no_alert(shop: Reported, hook: Webhook) -> None:
    from muntin.errors import DefinitionError

    with pytest.raises(DefinitionError):
        run_and_tell(shop.pipeline, root=shop.small.folder / "state", start=START, end=START + HOUR / 2, link="", spark=HERE)
    assert hook.asked == []


def test_vacuum_leaves_what_alerts_remember(shop: Reported) -> None:
    from muntin.jobs.upkeep.vacuum import vacuum

    shop.run(0)
    with suppress(SourceError):
        (shop.small.folder / "data/01.parquet").unlink()
        shop.run(1)
    kept = shop.files()
    assert kept
    vacuum(shop.small.folder / "state", older_than_us=1)
    assert shop.files() == kept
