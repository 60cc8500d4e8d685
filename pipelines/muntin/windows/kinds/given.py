"""Windows given by a table: spans of any length, as shifts, fiscal calendars, experiments and auctions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import Duration, not_negative, positive
from muntin.definition.given_table import GivenTable, ReadAt, given_table
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Reaching
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain, with_rules

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.event_time.spans import Owned
    from muntin.engine.given_spans import GivenSpans
    from muntin.states.frames import Frames, Ints


@dataclass(frozen=True, slots=True)
class Given(Plain):
    """Windows over the spans of a table.

    `read`: gives the spans, which are read when somebody asks for them; None: a definition alone has none.
    `owned`: the spans of each key of some frames.
    """

    table: GivenTable
    resolution_us: int
    grace_us: int = 0
    dense: bool = False
    read: Callable[[], GivenSpans] | None = field(default=None, repr=False, compare=False)
    owned: Owned | None = field(default=None, repr=False, compare=False)

    @property
    def spans(self) -> GivenSpans:
        """The spans of the table."""
        from muntin.engine.given_spans import no_spans

        return self.read() if self.read else no_spans(self.table.keys, self.table.columns)

    @property
    def given_by(self) -> GivenTable:
        return self.table

    def with_spans(self, read: Callable[[], GivenSpans]) -> Given:
        return replace(self, read=read)

    def below(self, home: str | Path) -> Given:
        return replace(self, table=self.table.below(home))

    @property
    def identity(self) -> str:
        """The names of columns, and the parameters, without the table's place and contents."""
        return repr(("given", self.table.keys, self.table.columns, self.resolution_us, self.grace_us))

    @property
    def columns(self) -> Mapping[str, str]:
        return dict.fromkeys(self.table.columns, "")

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_start", "window_end", *self.table.columns)

    @property
    def by_keys(self) -> tuple[str, ...]:
        return self.table.keys

    @property
    def follows(self) -> Reaching:
        return Reaching(lambda: self.spans.longest_us)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - spans begin and end at whole resolutions
        return self.resolution_us

    def for_keys(self, keys: Callable[[], pa.Table]) -> Given:
        from muntin.engine.event_time.spans import Owned

        return replace(self, owned=Owned(self.spans, *self.spans.of_keys(keys())))

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        return self.assign_between(frames, floor, BEFORE_ALL, AFTER_ALL)

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:
        from muntin.engine.event_time.spans import span_ranges

        assert self.owned is not None, "for_keys comes first"  # noqa: S101 - the engine's own order
        return span_ranges(frames, self.owned, floor[frames.batch], after_us, until_us)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        if self.read is None:
            raise DefinitionError(
                "windows_for: where these windows lie is told by a table, which a run reads; see `muntin "
                "explain`"
            )
        over = self.spans.over(instant_us, instant_us)
        return sorted({*zip(self.spans.start[over].tolist(), self.spans.end[over].tolist(), strict=True)})

    def batches_closing(self, when: Any, low_us: int, high_us: int) -> Ints:  # noqa: ANN401 - a rule of closing
        """The batches that close a span of any key over the instants, however far apart."""
        import numpy as np

        closing: Ints = np.unique(when.batch_of(self.spans.end[self.spans.over(low_us, high_us)]))
        return closing

    def earliest(self, after_us: int, until_us: int) -> int:
        """The first start of a span that ends in the stretch."""
        wanted = (self.spans.end > after_us) & (self.spans.end <= until_us)
        return int(self.spans.start[wanted].min(initial=AFTER_ALL))

    def apart_from(self, was: Any) -> tuple[Ints, Ints]:  # noqa: ANN401 - the same kind
        return self.spans.apart_from(was.spans)


def given(
    source: Any,  # noqa: ANN401 - a path, or a source
    *,
    start: str | ReadAt,
    end: str,
    keys: Sequence[str] = (),
    columns: Sequence[str] = (),
    resolution: Duration = "1m",
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    dense: bool = False,
    having: str | None = None,
) -> Given:
    """A window for each span of time of a table: shifts, 4-4-5 calendars, experiments, auctions.

    The table is read when a run begins. If it has changed, windows of spans that changed are derived again, a
    span that is gone takes its window with it, and windows over unchanged spans stay as they are, to the last
    bit. Spans may overlap, and leave time out.

    Args:
        source: the path of a file or a glob of files that does not depend on the batch, as "data/shifts.csv";
            or `sources.files(...)`, `table`, `iceberg`, `sql` or `function`, without an event time.
        start: the column with the first instant of a span; `sources.at("begins", timezone=...)` says how
            both columns are read.
        end: the column with the first instant behind a span.
        keys: the columns with the key of a span, each a key of the pipeline; a span is of every key with its
            values. Without keys each span is of every key.
        columns: the columns of the table that come along as columns of the windows, as the name of a shift.
        resolution: spans begin and end at whole multiples of it, counted from 1970. The finer it is, the more
            states are kept.
        grace: how long after its end a window waits for late events.
        allowed_lateness: for how long after that late events revise the window, which is published already.
        dense: whether `read` adds the windows of spans without events, unless its caller decides otherwise:
            of each key that has a window, and of each key of the table, if `keys` are all keys of the
            pipeline.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Raises:
        DefinitionError: a source whose rows follow the batches, a column that stands twice, a resolution that
            is not positive, a negative grace.
    """
    if dense and having is not None:
        raise DefinitionError(
            "given: `read` cannot tell a hidden window from an empty one; leave dense out, or having"
        )
    table = given_table(source, start, end, keys, columns)
    return with_rules(
        Given(table, positive(resolution, "resolution"), not_negative(grace, "grace"), dense),
        having,
        allowed_lateness,
    )
