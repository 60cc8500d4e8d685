"""Arrival windows (IBM Streams SPL): rows in the order they came, apart for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from muntin.definition.kinds import Carried, RowStates, as_window
from muntin.definition.several_sources import SeveralSources
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.states.columns import FILE_NUMBER, ROW_IN_BATCH
from muntin.windows.arrival_policies import BORDERS, Count, Keep, Policy, Punctuation, Time
from muntin.windows.arrival_reading import lifts, mixtures, needs, of_results, rules
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


Output = Literal["windows", "rows"]


@dataclass(frozen=True, slots=True)
class Arrival(Plain):
    """Windows over the rows of a partition as they came; without a trigger they tumble, with a trigger they
    slide.

    Attributes:
        evict: when a tumbling window is full, or which rows leave a sliding window.
        trigger: when a sliding window gives a result.
        incomplete: whether a sliding window gives results before it was full for the first time.
        flush: whether what is open after the last batch gives a result.
        dense: whether empty windows by time come out between two windows with rows.
        partitions: which partitions are dropped.
        group_by: columns; each window gives a row for each of its values.
        output: what comes out: a row for each of the "windows", or "rows": a row for each item of its lists.
    """

    evict: Policy
    trigger: Policy | None = None
    incomplete: bool = False
    flush: bool = False
    dense: bool = False
    partitions: Keep | None = None
    group_by: tuple[str, ...] = ()
    output: Output = "windows"

    grace_us = 0
    beyond_us = 1

    @property
    def follows(self) -> Carried:
        return Carried(flushes=self.flush)

    @property
    def made_of(self) -> RowStates:
        files = isinstance(self.evict, Punctuation) and self.evict.at in BORDERS
        places = (
            (FILE_NUMBER, files),
            (ROW_IN_BATCH, self.together),
        )  # which rows of other partitions came before
        named = [name for name, read in places if read]
        return RowStates(
            lifts(self), apart=not self.together, needs=needs(self), of_results=of_results(self), places=named
        )

    @property
    def policies(self) -> list[Policy]:
        return [self.evict] if self.trigger is None else [self.evict, self.trigger]

    @property
    def columns(self) -> Mapping[str, str]:
        place = {"position": "int64"} if self.output == "rows" else {}
        return {"window_index": "int64", **dict.fromkeys(self.group_by, ""), **place}

    @property
    def identity(self) -> str:
        """The parameters; and a version of the rules for windows by time with a trigger."""
        return repr(self) + (" 2" if self.trigger is not None and isinstance(self.evict, Time) else "")

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("window_index", *self.columns)))

    @property
    def rows_out(self) -> bool:
        return self.output == "rows"

    def one_row_each(self) -> Arrival:
        return replace(self, output="windows")

    def misfit(self, source: Any) -> str | None:  # noqa: ANN401 - a source of any kind
        at = self.evict.at if isinstance(self.evict, Punctuation) else None
        if self.uses_clock and isinstance(source, SeveralSources):
            return (
                "rows of several sources arrive source by source, so that their times of arrival go back; "
                "take by_count(...), or "
                "windows.tumbling(...), which goes by event time, or make a pipeline for each source"
            )
        if self.uses_clock and not source.arrival_time:
            return (
                "by_time goes by when rows arrived; say which column tells, as sources.files(..., "
                'arrival_time="received"), '
                "or take windows.tumbling(...), which goes by event time"
            )
        if at == "upstream" and source.upstream is None:
            return (
                'by_punctuation("upstream") needs the windows of another pipeline as source; '
                "give sources.windows(upstream, window)"
            )
        return None

    @property
    def uses_clock(self) -> bool:
        """Whether rows need a time of arrival."""
        aged = self.partitions is not None and self.partitions.age_us > 0
        return aged or any(
            isinstance(p, Time) or (isinstance(p, Count) and p.or_time_us > 0) for p in self.policies
        )

    @property
    def together(self) -> bool:
        """Whether partitions are worked on together, as a marker in one partition ends windows of all."""
        limited = self.partitions is not None and self.partitions.together
        return limited or (isinstance(self.evict, Punctuation) and self.evict.at not in BORDERS)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - each row is a state of its own
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.arrival.assign import arrived

        return arrived(rules(self), frames, len(floor) - 1)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:  # noqa: ARG002 - no instant says
        raise DefinitionError(
            "windows_for: which arrival windows a row belongs to depends on the rows before it; see `muntin "
            "explain`"
        )


def arrival(
    evict: Policy,
    *,
    trigger: Policy | None = None,
    incomplete: bool = False,
    flush: bool = False,
    dense: bool = False,
    partitions: Keep | None = None,
    group_by: Sequence[str] = (),
    output: Output = "windows",
    having: str | None = None,
) -> Arrival:
    """Windows of rows in order of arrival, apart for each key, across batches.

    Args:
        evict: when the window is full, and tumbles: `by_count`, `by_time`, `by_delta` or `by_punctuation`.
            With a trigger it slides: which rows leave it, `by_count`, `by_time` or `by_delta`.
        trigger: when a sliding window gives a result: `by_count` (SPL's default is `by_count(1)`), `by_time`
            or `by_delta`.
        incomplete: whether a sliding window gives results before it was full for the first time.
        flush: whether what is open after the last batch of the history gives a result too. It is taken back
            when another batch follows.
        dense: whether empty windows by time come out between two windows of a partition with rows.
        partitions: which partitions are dropped, as `keep(age="1d")`.
        group_by: columns: the window fills over all rows of the partition and gives a row for each of their
            values.
        output: "windows": a row for each; "rows": a row for each item of the window's lists, with its
            `position`: with `collect_sorted` this is SPL's Sort.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Rows of the result have `window_index`, 0, 1, ... in each partition by order of firing; window_start and
    window_end are the least and the largest event time of the members. Source: IBM Streams, `Runtime/Window`
    of OSStreams.

    Raises:
        DefinitionError: a mixture that SPL does not have.
    """
    if isinstance(group_by, str) or not all(isinstance(name, str) and name for name in group_by):
        raise DefinitionError(f'group_by: {group_by!r} is not a list of column names; write ["product"]')
    window = Arrival(
        evict, trigger, incomplete, flush, dense, partitions, tuple(group_by), output, having=having
    )
    _check(window)
    return window


def _check(window: Arrival) -> None:
    for what, policy in (("evict", window.evict), ("trigger", window.trigger)):
        if not isinstance(policy, Policy) and not (what == "trigger" and policy is None):
            raise DefinitionError(
                f"{what}: {policy!r} is no policy; give by_count(100), by_time('5m'), by_delta('x', 1.5) or "
                "by_punctuation(...)"
            )
    if window.output not in get_args(Output):
        raise DefinitionError(f'output: {window.output!r} is not understood; say "windows" or "rows"')
    for impossible, text in mixtures(window, slides=window.trigger is not None):
        if impossible:
            raise DefinitionError(text)


@as_window.register
def _tumbling(policy: Policy) -> Arrival:
    """A policy alone, as `by_count(100)`, is the arrival window that tumbles by it."""
    return arrival(policy)
