"""Topics of Kafka: ranges of offsets between the borders of a batch, which are noted before a message is
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.extensions.kafka.batch_checks import (
    check_over,
    check_reported,
    check_same,
    check_there,
    now_us,
    spans,
)
from muntin.extensions.kafka.borders import keep as note
from muntin.extensions.kafka.borders import kept
from muntin.extensions.kafka.topics.broker import Broker
from muntin.extensions.kafka.topics.checks import Range
from muntin.extensions.kafka.topics.first_messages import first_messages
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.sources.listing import SourceFile
from muntin.store.store import after_conflicts
from muntin.timeline.batches import between_neighbours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.extensions.kafka.source import KafkaSource
    from muntin.extensions.kafka.topics.broker import First, Offsets, Topic
    from muntin.jobs.state.bound import Bound

_TRIES = 8


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """Inputs as by `muntin.jobs.inputs.inputs.inputs`.

    Borders are noted if `keep`; lost messages are left out if `allow_missing`.
    """
    if not intervals:
        return Inputs({}, {})
    asked = sorted({border for each in intervals for border in (each.start_us, each.end_us)})
    check_over(intervals)
    noted_borders = kept(bound, _source(bound).topic, asked[0], asked[-1])
    new = [border for border in asked if border not in noted_borders.borders]
    if not (new or keep or there):
        return _ranges(bound, intervals, noted_borders.borders, {})
    broker = Broker(_source(bound))
    topic = broker.topic()
    check_same(bound, noted_borders, topic)
    starts = () if allow_missing else [each.start_us for each in intervals]
    borders = _settled(bound, broker, topic, asked, starts, keep=keep) if new else noted_borders.borders
    if not allow_missing:
        check_there(bound, intervals, borders, topic)
    return _ranges(bound, intervals, borders, topic.low if allow_missing else {})


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """No intervals: an interval without messages is an empty batch."""
    return []


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> None:
    """No difference: borders stay, and so do the messages between them."""
    return


def first_inputs(bound: Bound) -> Inputs:
    """The topic itself, if it is there: a definition is checked without a message."""
    source, schedule = _source(bound), bound.pipeline.intervals
    Broker(source).topic()
    start = schedule.after(schedule.first_us - 1)
    return Inputs(
        {schedule.intervals(start, schedule.after(start))[0]: [SourceFile(source.address, 0, 0)]}, {}
    )


def _settled(
    bound: Bound, broker: Broker, topic: Topic, asked: Sequence[int], starts: Collection[int], *, keep: bool
) -> Mapping[int, Offsets]:
    """The borders; unnoted borders by the broker's time, noted then, if `keep`. Of two runs at once the first
    to note them says where they are. `starts`: starts from which on no message may be gone.
    """
    given_up = f"{bound.pipeline.name}: other runs keep noting offsets; run again when they are done"
    borders: Mapping[int, Offsets] = {}
    for attempt in after_conflicts(_TRIES, given_up):
        with attempt:
            borders = _noted(bound, broker, topic, asked, starts, keep=keep)
    return borders


def _noted(
    bound: Bound, broker: Broker, topic: Topic, asked: Sequence[int], starts: Collection[int], *, keep: bool
) -> Mapping[int, Offsets]:
    name = _source(bound).topic
    noted_borders = kept(bound, name, asked[0], asked[-1])
    new = [border for border in asked if border not in noted_borders.borders]
    first = first_messages(broker.source, broker.first_at(new, topic), noted_borders.borders)
    new_borders = _offsets(first, min([*new, *noted_borders.borders]), topic)
    check_reported(bound, new_borders, noted_borders, topic, starts)
    more = between_neighbours(noted_borders.borders, new_borders)
    if keep and more:
        note(bound, name, noted_borders.snapshot, more, topic.identity)
    return {**noted_borders.borders, **more}


def _offsets(first: Mapping[int, Mapping[int, First]], earliest: int, topic: Topic) -> dict[int, Offsets]:
    """The offsets of borders by the time that the broker has of messages.

    A message that is stamped later than now may stand in front of messages that belong before a border: the
    border is the end of the topic then. But in front of the earliest border all messages are of an earlier
    time, as earlier messages are in no batch.
    """
    now = now_us()
    return {
        border: {
            at: topic.high[at]
            if one.stamped_us is not None and one.stamped_us > now and border != earliest
            else one.offset
            for at, one in offsets.items()
        }
        for border, offsets in first.items()
    }


def _ranges(
    bound: Bound, intervals: Iterable[Interval], borders: Mapping[int, Offsets], low: Offsets
) -> Inputs:
    """The files of intervals; `low`: partition -> the first offset to read, where earlier ones are gone."""
    files_of_interval = {}
    for each in intervals:
        parts = spans(borders, each).items()
        files_of_interval[each] = _files(
            Range(_source(bound).topic, at, max(begin, low.get(at, 0)), end) for at, (begin, end) in parts
        )
    return Inputs(files_of_interval, {})


def _files(ranges: Iterable[Range]) -> list[SourceFile]:
    return [SourceFile(piece.address, piece.size, 0) for each in ranges for piece in each.pieces()]


def _source(bound: Bound) -> KafkaSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind
