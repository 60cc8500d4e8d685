"""Refused batches of a topic: intervals that are not over, and messages that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.instants import instant_us, spell_instant
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.jobs.records.reports_table import utc_now

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from muntin.definition.schedule import Interval
    from muntin.extensions.kafka.borders import NotedBorders
    from muntin.extensions.kafka.source import KafkaSource
    from muntin.extensions.kafka.topics.broker import Offsets, Topic
    from muntin.jobs.state.bound import Bound


def now_us() -> int:
    """The clock, in microseconds since 1970."""
    return instant_us(utc_now(), "now")


def check_over(intervals: Iterable[Interval]) -> None:
    """Refuse an interval whose messages are still to come."""
    now = now_us()
    for each in intervals:
        if each.end_us > now:
            raise SourceError(
                f"the interval {each} is not over, and its messages are still to come; run it after"
                f" {spell_instant(each.end_us)}"
            )


def check_same(bound: Bound, noted_borders: NotedBorders, topic: Topic) -> None:
    """Refuse another topic of the same name."""
    if noted_borders.topic_id not in (None, topic.identity):
        source = _source(bound)
        raise SourceError(
            f"{source.address}: the topic was made again since its offsets were noted, so these are other"
            " messages now; give the pipeline another name, or remove its folder"
            f" {bound.root}/{bound.pipeline.name} with all its states and windows"
        )


def check_there(
    bound: Bound, intervals: Iterable[Interval], borders: Mapping[int, Offsets], topic: Topic
) -> None:
    """Refuse batches of which messages are gone.

    Nothing is read of such a batch: half of it would pass for all.
    """
    for each in intervals:
        for at, (begin, end) in spans(borders, each).items():
            low = topic.low.get(at, 0)
            if begin < min(low, end):
                raise SourceError(
                    f"{_source(bound).address}: {many(min(low, end) - begin, 'message')} of the batch {each}"
                    f" are gone from partition {at}, the offsets {begin:,} to {min(low, end) - 1:,}, as the"
                    " retention of the topic says; its windows stay as they are."
                    f" {_allowing_missing(bound, each)}"
                )


def check_reported(
    bound: Bound,
    new_borders: Mapping[int, Offsets],
    noted_borders: NotedBorders,
    topic: Topic,
    starts: Collection[int],
) -> None:
    """Refuse a start of a batch behind which messages may be gone: the first message that is left may not be
    the first that was.

    `new_borders`: by the times of messages; `starts`: of the batches behind which all messages must be there.
    """
    for border in sorted(set(new_borders) & set(starts)):
        before = max((at for at in (*noted_borders.borders, *new_borders) if at < border), default=None)
        if before in new_borders or _stays(topic, border):
            continue
        for at, offset in new_borders[border].items():
            if offset == topic.low[at] > (0 if before is None else noted_borders.borders[before].get(at, 0)):
                raise SourceError(
                    f"{_source(bound).address}: the offsets below {offset:,} are gone from partition {at},"
                    f" and nobody knows which of them were of {spell_instant(border)} or later; begin with a"
                    f" later interval, or count what is left: muntin run FILE --root {bound.root} --start"
                    f" {bound.pipeline.intervals.argument(border)} --end ... --allow-missing"
                )


def _stays(topic: Topic, instant: int) -> bool:
    """Whether messages of an instant are still there by their age.

    Of a topic that keeps all, somebody removed what is gone.
    """
    return topic.stays_us is not None and topic.stays_us >= 0 and now_us() - topic.stays_us <= instant


def _allowing_missing(bound: Bound, interval: Interval) -> str:
    span = bound.pipeline.intervals.options(interval.start_us, interval.end_us)
    return f"To count what is left of it: muntin run FILE --root {bound.root} {span} --allow-missing"


def spans(borders: Mapping[int, Offsets], interval: Interval) -> dict[int, tuple[int, int]]:
    """Partition -> the offsets of a batch, from and to.

    A partition that its start does not know is newer: all of it comes after.
    """
    begin, end = borders[interval.start_us], borders[interval.end_us]
    return {at: (begin.get(at, 0), high) for at, high in sorted(end.items())}


def _source(bound: Bound) -> KafkaSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind
