"""The plugs of the engine: a kind of windows assigns, a monoid reduces, an aggregate finishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from muntin.definition.kinds import Follows
from muntin.engine.assignment import Assignment

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.states.frames import Frames, Ints


class Assigner(Protocol):
    """A kind of windows: it assigns states to windows."""

    @property
    def follows(self) -> Follows:
        """How its windows follow from batches."""
        ...

    @property
    def columns(self) -> Mapping[str, str]:
        """Names and Arrow types of the columns in `Assignment.more`, in order."""
        ...

    @property
    def rows_out(self) -> bool:
        """Whether a result is a row for each item of the window's lists, instead of one row."""
        ...

    @property
    def inside_us(self) -> int:
        """How far beyond a window's end time must be known; 0 if its end does not belong to it."""
        ...

    @property
    def outside_us(self) -> int:
        """How far behind its start a window begins to hold events; 0 for `[start, end)`."""
        ...

    def for_keys(self, keys: Callable[[], pa.Table]) -> Assigner:
        """The kind for frames of some keys. `keys`: gives the key columns, a row for each key, in order."""
        ...

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        """The windows over `frames`. Rows of batch b are too late for windows that end by `floor[b]`."""
        ...

    def assign_between(self, frames: Frames, floor: Ints, after_us: int, until_us: int) -> Assignment:
        """`assign` for windows that end after an instant and up to another; it may give more."""
        ...


class Reducer(Protocol):
    """Combines the states of a window: associative, with the state of no rows as identity."""

    @property
    def ordered(self) -> bool:
        """Whether the order of states matters: combining is not commutative."""
        ...

    def reduce(self, parts: Mapping[str, pa.Array], windows: Assignment) -> dict[str, pa.Array]:
        """The field's parts, a value a window, from its parts, a value a state."""
        ...


class Field(Protocol):
    """Columns of a state that combine together."""

    @property
    def stem(self) -> str:
        """The name of the field: fields of one name have the same columns."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The names of its parts."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """The column of each part."""
        ...

    @property
    def monoid(self) -> Reducer:
        """How the parts combine."""
        ...


class Carry(Protocol):
    """How long a value lasts beyond the window that it came in."""

    @property
    def us(self) -> int:
        """The greatest age of a value from before a window, at the window's start; microseconds."""
        ...

    @property
    def newest(self) -> Callable[..., tuple[pa.Array, pa.Array]]:
        """From the fields' columns to the time and the value of each state's last item; null without any."""
        ...


class Aggregate(Protocol):
    """A result of a window, finished from its fields."""

    @property
    def fields(self) -> Sequence[Field]:
        """The fields that the result is made of."""
        ...

    @property
    def finish(self) -> Callable[..., pa.Array]:
        """A function from the fields' columns, in order, to the results."""
        ...

    @property
    def uses_window(self) -> bool:
        """Whether `finish` also gets the starts and the ends of the windows."""
        ...

    @property
    def carry(self) -> Carry | None:
        """How long a value from before a window holds in it, which `finish` also gets; None: not at all."""
        ...


class Closing(Protocol):
    """The rule by which windows close."""

    @property
    def floor(self) -> Ints:
        """For each batch, and one past the last: windows that end by then were closed before it came."""
        ...

    @property
    def final(self) -> Ints:
        """For each batch, and one past the last: its rows are too late for windows that end by then."""
        ...

    def batch_of(self, ends: Ints) -> Ints:
        """The position of the batch that closes a window of this end."""
        ...

    def final_of(self, ends: Ints) -> Ints:
        """The position of the last batch whose rows count in a window of this end."""
        ...
