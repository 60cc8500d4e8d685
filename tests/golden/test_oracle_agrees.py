"""The oracle makes the windows of Kafka Streams, Jet and Flink, closing batch by closing batch."""

import pytest

from muntin.testing.oracle import Agg, Judgement, judge
from muntin.testing.oracle.kinds import DAY
from tests.golden.loader import AGGREGATES, Golden, Line, load, names

COLLECT = {"values": Agg("collect", lambda row: (row["arrival"], row["v"]))}


def judged(case: Golden) -> Judgement:
    """The oracle's word, contents included."""
    arrivals = iter(range(10**6))
    for batch in case.batches:
        for row in batch.rows:
            row["arrival"] = next(arrivals)
    wanted = AGGREGATES | COLLECT
    return judge(case.window, case.batches, wanted, keys=["key"], watermark="events", max_ahead=1000 * DAY)


def lines(said: Judgement) -> list[Line]:
    """The oracle's windows as the golden file has them, values in arrival order."""
    return sorted(
        (
            Line(
                row["key"],
                row["window_start"],
                row["window_end"],
                *(row[name] for name in AGGREGATES),
                values=tuple(v for _, v in sorted(row["values"])),
                closed=row["batch"],
            )
            for row in said.published + said.still_open
        ),
        key=lambda line: (line.key, line.start, line.end),
    )


def closings(found: list[Line]) -> dict[tuple[str, int, int], float]:
    """Closing batch by window; never is later than every batch."""
    return {(w.key, w.start, w.end): float("inf") if w.closed is None else w.closed for w in found}


@pytest.mark.parametrize("name", names())
def test_contents_are_what_other_systems_found(name: str) -> None:
    """Same windows, same members, in order of arrival."""
    case = load(name)
    held = [(w.key, w.start, w.end, w.count, w.sum, w.min, w.max, w.values) for w in lines(judged(case))]
    assert held == [(w.key, w.start, w.end, w.count, w.sum, w.min, w.max, w.values) for w in case.lines]


def first_past(case: Golden, end: int) -> float:
    """The first batch whose watermark is beyond `end` and the grace."""
    watermarks = enumerate(judged(case).watermarks)
    return next((n for n, watermark in watermarks if watermark > end + case.window.grace), float("inf"))


@pytest.mark.parametrize("name", names())
def test_windows_close_with_the_same_batch(name: str) -> None:
    """But for Jet's sessions: Jet waits until the watermark is past the end."""
    case = load(name)
    ours, theirs = closings(lines(judged(case))), closings(list(case.lines))
    if case.waits:
        assert theirs == {window: first_past(case, window[2]) for window in ours}
        assert all(ours[window] <= theirs[window] for window in theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", [name for name in names() if load(name).late_events])
def test_cases_with_late_events_are_told_so(name: str) -> None:
    """Whatever is late for a window is an event that the case calls late."""
    case = load(name)
    watermarks = [float("-inf"), *judged(case).watermarks]
    assert judged(case).late
    for number, positions in judged(case).late.items():
        for position in positions:
            event = case.batches[number].rows[position]
            assert event["t"] < watermarks[number] - case.window.grace
