"""Topics of Kafka: ranges of offsets between the borders of a batch, which are noted before a message is
read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from muntin.definition.instants import spell_instant
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.extensions.kafka.borders import NotedBorders, kept
from muntin.extensions.kafka.borders import keep as note
from muntin.extensions.kafka.broker import Broker, Offsets, Topic
from muntin.extensions.kafka.checks import Range
from muntin.extensions.kafka.first_messages import first_messages
from muntin.extensions.kafka.source import KafkaSource
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.records.reports_table import now_us
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.store.store import after_conflicts
from muntin.timeline.batches import between_neighbours

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
    now = now_us()
    for each in intervals:
        if each.end_us > now:
            raise SourceError(
                f"the interval {each} is not over, and its messages are still to come; run it after"
                f" {spell_instant(each.end_us)}"
            )
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
    earliest = min([*new, *noted_borders.borders])
    now = now_us()
    new_borders = {
        border: {
            at: topic.high[at]
            if one.stamped_us is not None and one.stamped_us > now and border != earliest
            else one.offset
            for at, one in offsets.items()
        }
        for border, offsets in first.items()
    }
    for border in sorted(set(new_borders) & set(starts)):
        before = max((at for at in (*noted_borders.borders, *new_borders) if at < border), default=None)
        if before in new_borders or (
            topic.stays_us is not None and topic.stays_us >= 0 and now_us() - topic.stays_us <= border
        ):
            continue
        for at, offset in new_borders[border].items():
            if offset == topic.low[at] > (0 if before is None else noted_borders.borders[before].get(at, 0)):
                raise SourceError(
                    f"{_source(bound).address}: the offsets below {offset:,} are gone from partition {at},"
                    f" and nobody knows which of them were of {spell_instant(border)} or later; begin with a"
                    f" later interval, or count what is left: muntin run FILE --root {bound.root} --start"
                    f" {bound.pipeline.intervals.argument(border)} --end ... --allow-missing"
                )
    more = between_neighbours(noted_borders.borders, new_borders)
    if keep and more:
        note(bound, name, noted_borders.snapshot, more, topic.identity)
    return {**noted_borders.borders, **more}


def _ranges(
    bound: Bound, intervals: Iterable[Interval], borders: Mapping[int, Offsets], low: Offsets
) -> Inputs:
    """The files of intervals; `low`: partition -> the first offset to read, where earlier ones are gone."""
    files_of_interval = {}
    for each in intervals:
        parts = spans(borders, each).items()
        ranges = (
            Range(_source(bound).topic, at, max(begin, low.get(at, 0)), end) for at, (begin, end) in parts
        )
        files_of_interval[each] = [
            SourceFile(piece.address, piece.size, 0) for each in ranges for piece in each.pieces()
        ]
    return Inputs(files_of_interval, {})


def _source(bound: Bound) -> KafkaSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind


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
                span = bound.pipeline.intervals.options(each.start_us, each.end_us)
                raise SourceError(
                    f"{_source(bound).address}: {many(min(low, end) - begin, 'message')} of the batch {each}"
                    f" are gone from partition {at}, the offsets {begin:,} to {min(low, end) - 1:,}, as the"
                    " retention of the topic says; its windows stay as they are. To count what is left of it:"
                    f" muntin run FILE --root {bound.root} {span} --allow-missing"
                )


def spans(borders: Mapping[int, Offsets], interval: Interval) -> dict[int, tuple[int, int]]:
    """Partition -> the offsets of a batch, from and to.

    A partition that its start does not know is newer: all of it comes after.
    """
    begin, end = borders[interval.start_us], borders[interval.end_us]
    return {at: (begin.get(at, 0), high) for at, high in sorted(end.items())}
