"""A kind of windows as the definition and the jobs see it: how windows follow from batches; states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from muntin.definition.given_table import GivenTable


@dataclass(frozen=True, slots=True)
class Bounded:
    """A window depends on events at most `reach_us` before its end, `before_us` of them before its start."""

    reach_us: int
    before_us: int = 0

    @property
    def longest_us(self) -> int:
        """How long a window is at most."""
        return self.reach_us - self.before_us


class Reaching(Bounded):
    """A window depends on events at most `longest` before its end; `longest` may read a table."""

    __slots__ = ("longest",)

    def __init__(self, longest: Callable[[], int]) -> None:
        object.__setattr__(self, "longest", longest)
        object.__setattr__(self, "before_us", 0)

    @property
    def reach_us(self) -> int:  # type: ignore[override]
        """The greatest length of a window."""
        return self.longest()  # type: ignore[attr-defined,no-any-return]


@dataclass(frozen=True, slots=True)
class Chained:
    """Neighbouring events decide where a window begins; it ends at most `margin_us` after its last event."""

    margin_us: int


@dataclass(frozen=True, slots=True)
class Carried:
    """Open windows go from batch to batch as a note. `flushes`: they give results after the last batch."""

    flushes: bool = False


@dataclass(frozen=True, slots=True)
class Unending:
    """No window ever closes, so nothing is published; all states so far are combined when a reader asks."""


Follows = Bounded | Chained | Carried | Unending  # how windows follow from batches


@dataclass(frozen=True, slots=True)
class Even:
    """Windows `[end - size_us, end)` of one size, with ends at `align_us` and every `step_us` from there."""

    size_us: int
    step_us: int
    align_us: int

    def ends(self, after_us: int, until_us: int) -> tuple[int, int] | None:
        """The first and the last end after an instant and up to another; None if no window ends there.

        >>> Even(60, 10, 0).ends(5, 30)
        (10, 30)
        """
        first, last = (
            (us - self.align_us) // self.step_us * self.step_us + self.align_us for us in (after_us, until_us)
        )
        return (first + self.step_us, last) if first < last else None


@dataclass(frozen=True, slots=True)
class Cycle:
    """Frames that begin at each of `cuts_us` in every `width_us`, counted from 1970: of several lengths, no
    longer than `width_us`.

    |==========| 4:00  5:00 |==========| 4:00  5:00 |==========|    days of New York, 4:00 or 5:00 of UTC
    """

    width_us: int
    cuts_us: tuple[int, ...]

    def refines(self, other: Cycle) -> bool:
        """Whether every border of the other cycle is a border of this cycle, too.

        >>> Cycle(24, (4, 5)).refines(Cycle(48, (5,)))
        True
        """
        common = gcd(self.width_us, other.width_us)
        met = {
            (cut + turn) % self.width_us for cut in other.cuts_us for turn in range(0, self.width_us, common)
        }
        return met <= {*self.cuts_us}


@dataclass(frozen=True, slots=True)
class FrameStates:
    """States are frames of event time.

    Attributes:
        event_times: whether they have the times of their first and last event.
        lifts: column of a state -> SQL aggregate that fills it: columns that windows read, in addition to the
            fields; or what the time of the last event is, if it is more than that. Of states of an instant
            the greatest value stands, or whether a value is true.
        needs: SQL expressions that windows read, with what each must be, as ("x", "duration").
    """

    event_times: bool = False
    lifts: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[tuple[str, str]] = ()

    of_rows = by_arrival = False
    apart = True
    of_results = ()


@dataclass(frozen=True, slots=True)
class RowStates:
    """Every row is a state. Windows read the rows of a key in order of arrival, or in order of event time,
    then arrival.

    Attributes:
        lifts: column of a state -> SQL aggregate that fills it: columns that windows read, in addition to the
            fields.
        apart: whether the windows of a key depend on rows of this key alone.
        needs: SQL expressions that windows read, with what each must be, as ("x", "order").
        of_results: SQL expressions over the results of a window, numbers each, which the next window reads.
        places: columns that say where a row came from and that windows read, of `FILE_NUMBER` and
            `ROW_IN_BATCH`.
        by_arrival: whether windows read the rows in order of arrival; otherwise in order of event time.
    """

    lifts: Mapping[str, str] = field(default_factory=dict)
    apart: bool = True
    needs: Sequence[tuple[str, str]] = ()
    of_results: Sequence[str] = ()
    places: Sequence[str] = ()
    by_arrival: bool = True

    of_rows = True
    event_times = False


class Kind(Protocol):
    """A kind of windows, with its parameters.

    An instant may lie in no window, in one or in several. An event at an instant that lies in none is
    accepted, and is late for nothing.
    """

    @property
    def follows(self) -> Follows:
        """How its windows follow from batches."""
        ...

    @property
    def made_of(self) -> FrameStates | RowStates:
        """The states that its windows are made of."""
        ...

    @property
    def grace_us(self) -> int:
        """How long after its end a window waits for late events."""
        ...

    @property
    def lateness_us(self) -> int:
        """For how long after its closing rows that come revise a window."""
        ...

    @property
    def inside_us(self) -> int:
        """How far beyond a window's end time must be known; 0 if its end does not belong to it."""
        ...

    @property
    def beyond_us(self) -> int:
        """How far beyond its end a window may hold events; 0 for `[start, end)`."""
        ...

    @property
    def outside_us(self) -> int:
        """How far behind its start the first instant of a window lies; 0 if its start belongs to it."""
        ...

    @property
    def having(self) -> str | None:
        """A SQL condition over a window's row: other windows are hidden; None: all are published."""
        ...

    @property
    def columns(self) -> Mapping[str, str]:
        """Names and Arrow types of the kind's columns, in order, behind window_start and window_end."""
        ...

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that sort the windows of a key."""
        ...

    @property
    def rows_out(self) -> bool:
        """Whether a result is a row for each item of the window's lists, instead of one row."""
        ...

    @property
    def identity(self) -> str:
        """A text of all parameters that determine the windows; if it changes, they are derived anew."""
        ...

    @property
    def grid(self) -> Callable[[int, int], tuple[Any, Any]] | None:
        """A function from any two instants to starts and ends of all windows between them, empty windows too,
        and of windows that hold an instant; None: windows have no grid.
        """
        ...

    @property
    def even(self) -> Even | None:
        """The grid of windows of one size; None: other windows."""
        ...

    @property
    def dense(self) -> bool:
        """Whether `read` adds the empty windows of the grid, unless its caller decides otherwise.

        If values last, whether windows without events are there that they last to.
        """
        ...

    @property
    def given_by(self) -> GivenTable | None:
        """The table whose rows say where windows lie; None: the parameters say it."""
        ...

    @property
    def by_keys(self) -> tuple[str, ...]:
        """The key columns that decide where windows lie; () where windows of all keys lie alike."""
        ...

    def with_spans(self, read: Callable[[], Any]) -> Kind:
        """The same kind with the rows of its table; a kind without a table as it is."""
        ...

    def below(self, home: str | Path) -> Kind:
        """The same kind with relative paths below a folder."""
        ...

    def earliest(self, after_us: int, until_us: int) -> int:
        """For `Bounded` windows: an instant before which no window begins that ends after an instant and up
        to another.

        `AFTER_ALL` where it is known that no window ends there.
        """
        ...

    def apart_from(self, was: Any) -> tuple[Any, Any]:  # noqa: ANN401 - the same kind
        """Starts and ends of the windows that lie elsewhere than under an earlier table of the kind."""
        ...

    def frame_us(self, grid_us: int) -> int:
        """The natural frame width; `grid_us`: the finest of the pipeline's `Bounded` windows, or 0."""
        ...

    @property
    def cycle(self) -> Cycle | None:
        """Frames of several lengths, or not anchored in 1970, that windows are made of; else None."""
        ...

    @property
    def run_us(self) -> int:
        """Events of a key no further apart belong to the same windows always; 0: no such bound."""
        ...

    def carrying(self, carry_us: int | None) -> Kind | None:
        """The same windows, in which values last that came up to `carry_us` before them; `carry_us` None:
        values last in none.

        None: they cannot.
        """
        ...

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The windows `(start, end)`, microseconds, of a single event at this instant; [] for none."""
        ...

    def batches_closing(self, when: Any, low_us: int, high_us: int) -> Any:  # noqa: ANN401 - a rule of closing, as `timeline` has it
        """For `Bounded` kinds: the batches that close a window over events between two instants."""
        ...

    def one_row_each(self) -> Kind:
        """The same kind with one row for every window, for kinds whose lists come out as rows."""
        ...

    def misfit(self, source: Any) -> str | None:  # noqa: ANN401 - a source of any kind
        """Why the windows cannot be made of a source, and what to do; None: the source fits."""
        ...


@singledispatch
def as_window(part: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """The window that a short form stands for; a window stands for itself. Short forms register here."""
    return part
