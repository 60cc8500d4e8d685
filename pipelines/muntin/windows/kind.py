"""The common part of all kinds of windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from muntin.definition.durations import Duration, not_negative
from muntin.definition.expressions import condition
from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Cycle, Even, FrameStates, Kind, RowStates
from muntin.engine.assignment import Assignment
from muntin.engine.protocols import Assigner
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.definition.given_table import GivenTable
    from muntin.states.frames import Frames, Ints

NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
FRAMES = FrameStates()


class Window(Kind, Assigner, Protocol):
    """A kind of windows, with its parameters."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The plainest kind: windows `[start, end)` over frames without event times, one row each. A kind
    overrides what differs.

    `having`: a SQL condition over the row of a window: a window for which it does not hold is hidden. No part
    of the parameters that say which windows there are. `lateness_us`: for how long after its closing a window
    is revised by rows that come.
    """

    having: str | None = field(default=None, kw_only=True, repr=False)
    lateness_us: int = field(default=0, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "having", condition(self.having, "having"))
        if self.having is not None and self.rows_out:
            raise DefinitionError(
                'having: it is about the row of a window, and output="rows" gives several; leave one of them '
                "out"
            )
        if self.having is not None and self.grid is not None and self.dense:
            raise DefinitionError(
                "dense: between windows that having hides, `read` cannot tell a hidden window from an empty "
                "one; leave dense out, or having"
            )

    @property
    def made_of(self) -> FrameStates | RowStates:
        return FRAMES

    @property
    def inside_us(self) -> int:
        return 0

    @property
    def beyond_us(self) -> int:
        return 0

    @property
    def outside_us(self) -> int:
        return 0

    @property
    def columns(self) -> Mapping[str, str]:
        return NO_COLUMNS

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_start", "window_end")

    @property
    def rows_out(self) -> bool:
        return False

    @property
    def identity(self) -> str:
        """The parameters; `dense` is not among them, since it says only what `read` shows."""
        return repr(replace(self, dense=False) if self.grid is not None and self.dense else self)  # type: ignore[call-arg, type-var]

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]] | None:
        return None

    @property
    def even(self) -> Even | None:
        return None

    @property
    def cycle(self) -> Cycle | None:
        return None

    @property
    def run_us(self) -> int:
        return 0

    @property
    def dense(self) -> bool:
        return False

    def carrying(self, carry_us: int | None) -> Any:  # noqa: ANN401 - a kind
        """Windows on a grid can have values from before them: where they begin does not depend on events."""
        if carry_us is None:
            return self
        if self.grid is None:
            return None
        from muntin.windows.carrying import Carrying

        return Carrying(self, carry_us)

    @property
    def given_by(self) -> GivenTable | None:
        return None

    @property
    def by_keys(self) -> tuple[str, ...]:
        return ()

    def with_spans(self, read: Callable[[], Any]) -> Self:  # noqa: ARG002 - no table says where windows lie
        return self

    def below(self, home: str | Path) -> Self:  # noqa: ARG002 - it has no path
        return self

    def for_keys(self, keys: Callable[[], pa.Table]) -> Assigner:  # noqa: ARG002 - windows of all keys lie alike
        return self  # type: ignore[return-value]  # what follows, each kind says

    def earliest(self, after_us: int, until_us: int) -> int:
        """The start of the first window of an even grid; else of the longest window that could end first."""
        if self.even is None:
            return after_us - self.follows.reach_us  # type: ignore[attr-defined,no-any-return]
        ends = self.even.ends(after_us, until_us)
        return ends[0] - self.even.size_us if ends else AFTER_ALL

    def apart_from(self, was: Any) -> tuple[Ints, Ints]:  # noqa: ANN401, ARG002 - windows lie where they always did
        import numpy as np

        return np.empty(0, np.int64), np.empty(0, np.int64)

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        raise NotImplementedError

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:  # noqa: ARG002 - all are few
        """All windows: there are few."""
        return self.assign(frames, floor)

    def one_row_each(self) -> Self:
        return self

    def misfit(self, source: Any) -> str | None:  # noqa: ANN401, ARG002 - a source of any kind fits
        return None

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        raise NotImplementedError

    def batches_closing(self, when: Any, low_us: int, high_us: int) -> Ints:  # noqa: ANN401 - a rule of closing
        """All batches from the closing of the first window over the instants to that of the last."""
        import numpy as np

        first, last = when.batch_of(np.array(self.ends(low_us, high_us)))
        return np.arange(first, last + 1)

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        """The end of the first window that holds `low_us`, and of the last window that holds `high_us`.

        An instant that no window holds stands for itself: windows over later events end behind it, windows
        over earlier events before it. A kind whose windows leave out instants between their start and their
        end needs `ends` of its own.
        """
        first, last = self.windows_for(low_us), self.windows_for(high_us)
        return first[0][1] if first else low_us, last[-1][1] if last else high_us


AnyPlain = TypeVar("AnyPlain", bound=Plain)


def with_rules(kind: AnyPlain, having: str | None, allowed_lateness: Duration) -> AnyPlain:
    """A kind whose windows are hidden where a condition does not hold (None: all are published), and revised
    by rows that come late.
    """
    return replace(kind, having=having, lateness_us=lateness(allowed_lateness))


def lateness(allowed: Duration) -> int:
    """For how long after its closing a window is revised, microseconds."""
    return not_negative(allowed, "allowed_lateness")
