"""A published value that moves is told: through a real webhook, one message a run, and only beyond the limit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.extensions import alerts
from muntin.extensions.alerts.moves import moved
from muntin.jobs.published.changes import compared
from muntin.jobs.reported_run import run_and_tell
from tests.alerts.receivers import Webhook
from tests.storage.three_batches import HERE

Run = Callable[[Pipeline, int], Sequence[str]]


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


@pytest.fixture
def told(tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a day of a pipeline; the texts of the messages that it sent, without late messages of another test."""
    monkeypatch.setenv("MUNTIN_ALERTS", hook.address("team"))

    def run(pipeline: Pipeline, number: int) -> Sequence[str]:
        before = len(hook.posted)
        run_and_tell(pipeline, root=tmp_path / "state", start=day(number), end=day(number + 1), link="muntin run shop.py", spark=HERE)
        return [posted["message"] for posted in hook.posted[before:] if "pipeline tills," in posted["message"]]

    return run


def shop(folder: Path, days: Mapping[int, Sequence[str]], **more: Any) -> Pipeline:
    for number, rows in days.items():
        lines = ["k,at,x", *(f"a,2024-05-0{row}" for row in rows)]
        (folder / f"2024-05-0{number}.csv").write_text("\n".join(lines) + "\n")
    asked = {"windows": {"day": windows.tumbling("1d", allowed_lateness="10d")}} | more
    return Pipeline(
        name="tills",
        source=sources.files(str(folder / "{start:%Y-%m-%d}.csv"), event_time="at"),
        schedule="@daily",
        start=day(1),
        keys=["k"],
        aggregates={"revenue": agg.sum("x"), "n": agg.count()},
        **asked,
    )


CHANNEL = alerts.to("env:MUNTIN_ALERTS")


# 1 May is 100; 2 May brings 4 of 1 May, 4 %; 3 May brings 50 of 1 May, and 1 of 2 May
def test_a_move_beyond_the_share_is_one_message(tmp_path: Path, told: Run) -> None:
    days = {1: ["1T10:00:00Z,100"], 2: ["2T10:00:00Z,10", "1T11:00:00Z,4"], 3: ["1T12:00:00Z,50", "2T12:00:00Z,1"]}
    pipeline = shop(tmp_path, days, alerts=[CHANNEL, alerts.revised(by="5%", of="revenue")])
    assert [told(pipeline, 1), told(pipeline, 2)] == [[], []]
    (message,) = told(pipeline, 3)
    assert "pipeline tills, interval [2024-05-03, 2024-05-04) UTC" in message
    assert "warning: window day: revenue moved by more than 5 %\n  2 windows; by 1 batch [2024-05-03, 2024-05-04)\n" in message
    assert "  a  2024-05-01T00:00:00Z  2024-05-02T00:00:00Z  revenue  104  154\n" in message
    assert "  a  2024-05-02T00:00:00Z  2024-05-03T00:00:00Z  revenue  10   11\n" in message


def test_the_next_revision_is_told_again_and_nothing_is_well_again(tmp_path: Path, told: Run) -> None:
    days = {1: ["1T10:00:00Z,100"], 2: ["1T11:00:00Z,50"], 3: ["1T12:00:00Z,50"], 4: ["4T12:00:00Z,1"]}
    pipeline = shop(tmp_path, days, alerts=[alerts.revised("env:MUNTIN_ALERTS", by=40)])
    assert [len(told(pipeline, number)) for number in days] == [0, 1, 1, 0]


def test_sessions_that_are_joined_vanish(tmp_path: Path, told: Run) -> None:
    days = {1: ["1T02:00:00Z,1", "1T08:00:00Z,10"], 2: ["1T05:00:00Z,100"]}
    rule = alerts.revised(of="revenue")
    sessions = {"visit": windows.session("4h", allowed_lateness="2d")}
    pipeline = shop(tmp_path, days, windows=sessions, alerts=[CHANNEL, rule])
    told(pipeline, 1)
    (message,) = told(pipeline, 2)
    assert "window visit: revenue moved\n  3 windows; by 1 batch [2024-05-02, 2024-05-03)" in message
    assert "2024-05-01T08:00:00Z  2024-05-01T12:00:00Z  revenue  10         no window" in message


def test_masked_values_are_not_shown(tmp_path: Path, told: Run) -> None:
    days = {1: ["1T10:00:00Z,100"], 2: ["1T11:00:00Z,55"]}
    pipeline = shop(tmp_path, days, alerts=[replace(CHANNEL, mask=frozenset(["k", "revenue"])), alerts.revised()])
    told(pipeline, 1)
    (message,) = told(pipeline, 2)
    assert "***  2024-05-01T00:00:00Z  2024-05-02T00:00:00Z  revenue  ***  ***" in message
    assert "155" not in message


VALUES = pa.table({"k": ["a", "b", "c", "d"], "n": [100, 0, None, 7], "s": ["x", "y", "z", "w"], "batch": [0, 0, 0, 0]})
"""As published; d goes, e comes."""


@pytest.mark.parametrize(
    ("by", "of", "now", "keys"),
    [
        ("5%", "n", [105, 0, None], []),
        ("5%", "n", [106, 0, None], ["a"]),
        ("5%", "n", [94, 1, 1], ["a", "b", "c"]),
        (5, "n", [105, 5, None], []),
        (5, "n", [94, -6, None], ["a", "b"]),
        (None, "n", [101, 0, None], ["a"]),
        (0, None, [100, 0, None], []),
    ],
)
def test_what_has_moved(by: Any, of: str | None, now: list[int | None], keys: list[str]) -> None:
    after = pa.table({"k": ["a", "b", "c", "e"], "n": [*now, 1], "s": ["x", "y", "z", "v"], "batch": [0, 0, 0, 0]})
    bounds = {name: pa.array([0, 0, 0, 0], pa.timestamp("us", "UTC")) for name in ("window_start", "window_end")}
    before, after = (pa.table(dict(zip(each.column_names, each.columns, strict=True)) | bounds) for each in (VALUES, after))
    changes = compared(before, after, identity=("k",))
    (said,) = moved(alerts.revised(by=by, of=of).revised, {"w": [changes]}, ("n", "s"), (), ())
    assert sorted({row["k"] for row in said["rows"]}) == [*keys, "d", "e"]
    assert said["observed"].startswith(f"{len(keys) + 2} windows; ")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda _: alerts.revised(by="5"), 'write a share of the value, as "5%"'),
        (lambda _: alerts.revised(by="many%"), "is no limit"),
        (lambda _: alerts.revised(by=-1), "is no limit"),
        (lambda _: alerts.revised(by=True), "is no limit"),
        (lambda _: alerts.revised(of=""), "names no result"),
        (lambda folder: shop(folder, {}, alerts=[alerts.revised(of="revenu")]), "'revenu' is not possible.*'revenue'"),
        (lambda folder: shop(folder, {}, alerts=[CHANNEL, CHANNEL]), "alerts.to stands twice"),
        (lambda folder: shop(folder, {}, alerts=["alerts"]), "are no alerts"),
        (lambda folder: shop(folder, {}, alerts=[SimpleNamespace(channels=(), mask=()), CHANNEL]), "cannot be joined with others"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, wrong: Callable[[Path], Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        wrong(tmp_path)


def test_without_a_channel_it_goes_to_the_connection_alerts(tmp_path: Path) -> None:
    for asked in (alerts.revised(by="5%", of="revenue"), [alerts.revised(by="5%", of="revenue")]):
        listener = shop(tmp_path, {}, alerts=asked).listener
        assert listener is not None
        assert listener.channels == ("alerts",)
    assert shop(tmp_path, {}, alerts=[]).listener is None
