"""Starts of closed windows: of rows and of the grid, judged by a naive count over the clock.

batches    |    0    |    1    |    2    |      of six hours, windows of an hour or two
rows        x           x x                     hours without rows are closed, too
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError
from muntin.extensions.airflow.assets.closed_starts import closed_starts, starts_if_closed
from muntin.extensions.airflow.assets.partitions import announced_keys, by_batch, by_window, check_few
from muntin.jobs.state.bound import Bound, bind
from tests.case_counts import some

BEGIN = datetime(2024, 3, 30, tzinfo=UTC)  # Berlin's clock changes on the 31st
SIX = timedelta(hours=6)
HOUR_US = 3_600_000_000
AT = [BEGIN + timedelta(hours=hours) for hours in (0.5, 7.2, 8.9, 20, 26, 47.5)]
KINDS: dict[str, Any] = {
    "hour": windows.tumbling("1h"),
    "graced": windows.tumbling("1h", grace="90m"),
    "two": windows.sliding("2h", step="1h"),
    "right": windows.tumbling("1h", closed="right"),
    "so_far": windows.cumulating("6h", step="2h"),
    "local_day": windows.tumbling("1d", timezone="Europe/Berlin"),
    "holes": windows.sliding("1h", step="3h", gaps=True),
    "visit": windows.session("30m"),
}


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Bound:
    """Eight batches of six hours, published."""
    folder = tmp_path_factory.mktemp("closed")
    for number in range(8):
        begin = BEGIN + number * SIX
        rows = [at.isoformat() for at in AT if begin <= at < begin + SIX]
        (folder / f"{begin:%Y-%m-%dT%H}.csv").write_text("\n".join(["at", *rows]) + "\n", encoding="utf-8")
    pipeline = Pipeline(
        name="closed",
        source=sources.files(str(folder / "{start:%Y-%m-%dT%H}.csv"), event_time="at", types={"at": "TIMESTAMPTZ"}),
        schedule="6h",
        start=BEGIN,
        windows=KINDS,
        aggregates={"n": agg.count()},
    )
    run(pipeline, root=folder / "state", start=BEGIN, end=BEGIN + 8 * SIX)
    return bind(pipeline, folder / "state")


def hours(starts: Sequence[int]) -> list[float]:
    return [(start - instant_us(BEGIN, "begin")) / HOUR_US for start in starts]


def batches(*numbers: int) -> list[int]:
    return [instant_us(BEGIN + number * SIX, "batch") for number in numbers]


def naive(window: str, number: int) -> set[float]:
    """Starts whose ends the watermark passes in a batch, minute by minute."""
    kind, low, high = KINDS[window], number * 6, number * 6 + 6
    found = set()
    for minute in range(-48 * 60, 60 * 60):
        instant = instant_us(BEGIN + timedelta(minutes=minute), "instant") + (1 if window == "right" else 0)
        for start, end in kind.windows_for(instant):
            closes = hours([end + kind.grace_us + kind.inside_us])[0]
            if low < closes <= high and (number or hours([end])[0] > 0):
                found.add(hours([start])[0])
    return found


@pytest.mark.parametrize("window", some([name for name in KINDS if name != "visit"], one_in=3))
def test_a_window_of_a_grid_is_of_the_batch_that_closes_it(bound: Bound, window: str) -> None:
    for number in range(8):
        assert set(hours(closed_starts(bound, window, batches(number)))) == naive(window, number), number
    some = closed_starts(bound, window, batches(2, 5))
    assert set(hours(some)) == naive(window, 2) | naive(window, 5)


def test_windows_without_a_grid_are_those_of_the_table(bound: Bound) -> None:
    assert hours(closed_starts(bound, "visit", batches(0))) == [0.5]
    assert hours(closed_starts(bound, "visit", batches(1))) == pytest.approx([7.2, 8.9])
    assert closed_starts(bound, "visit", batches(2)) == []


def test_a_batch_that_was_not_published_has_none(bound: Bound) -> None:
    assert closed_starts(bound, "hour", batches(99)) == []
    assert closed_starts(bound, "hour", []) == []


def test_a_span_counts_once_all_of_its_windows_are_closed(bound: Bound) -> None:
    day = instant_us(BEGIN, "day"), instant_us(BEGIN + timedelta(days=1), "day")
    last = instant_us(BEGIN + timedelta(days=1), "day"), instant_us(BEGIN + timedelta(days=2), "day")
    assert hours(starts_if_closed(bound, "hour", *day)) == list(range(24))
    assert hours(starts_if_closed(bound, "hour", *last)) == list(range(24, 48))
    assert hours(starts_if_closed(bound, "graced", *day)) == list(range(24))
    assert starts_if_closed(bound, "graced", *last) == []  # the last hours wait for late rows
    assert starts_if_closed(bound, "visit", *day) == []


def test_new_keys_come_alone_and_a_corrected_key_with_its_span(bound: Bound) -> None:
    new, again = batches(3), batches(1)
    day = by_window(whole="1d")
    assert hours(announced_keys(bound, day, "hour", new, [])) == list(range(18, 24))
    assert hours(announced_keys(bound, day, "hour", again, again)) == list(range(24))
    local = by_window(whole=windows.tumbling("1d", timezone="Europe/Berlin"))
    assert hours(announced_keys(bound, local, "hour", batches(4), batches(4))) == list(range(23, 46))  # 23 hours
    assert hours(announced_keys(bound, by_window(), "hour", again, again)) == list(range(6, 12))


def test_batches_are_keys_too(bound: Bound) -> None:
    one = batches(1)
    assert hours(announced_keys(bound, by_batch(whole="1d"), "visit", one, one)) == [0, 6, 12, 18]
    assert hours(announced_keys(bound, by_batch(whole="1w"), "visit", one, one)) == [6]


def test_a_span_that_is_none_is_refused() -> None:
    with pytest.raises(DefinitionError, match="does not cut time into spans"):
        by_window(whole=windows.session("1h"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kinds", "refused"),
    [
        (KINDS, None),
        ({"minute": windows.tumbling("1m")}, "minute"),  # 360 in six hours
        ({"tick": windows.tumbling("1us")}, "tick"),  # 21,600,000,000, which are not built
        ({"so_far": windows.cumulating("1h", step="1s")}, None),  # six starts
        ({"rare": windows.sliding("1m", step="1d", gaps=True), "far": windows.sliding("30d", step="2m")}, None),
        ({"one": windows.tumbling("3m"), "other": windows.tumbling("4m", grace="1h")}, "other"),  # 120 and 90
    ],
)
def test_windows_that_begin_more_often_than_a_run_emits_keys_are_refused(bound: Bound, kinds: dict[str, Any], refused: str | None) -> None:
    pipeline = replace(bound.pipeline, windows=kinds)
    check_few(pipeline, by_batch())
    if refused is None:
        return check_few(pipeline, by_window())
    with pytest.raises(DefinitionError, match=f"with '{refused}' there are more than 200 .* take by_batch"):
        check_few(pipeline, by_window())
    return None
