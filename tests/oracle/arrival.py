"""Windows in order of arrival, as IBM Streams' SPL has them: by count, time, difference, punctuation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.testing.oracle.time import Batch, Event, Row


@dataclass(frozen=True)
class Arrived:
    """An event and when it came, in microseconds; inside a batch this never goes back."""

    event: Event
    at: int


@dataclass(frozen=True)
class Count:
    """So many rows; `or_time`: or what is there when the next tick comes, whichever is first."""

    n: int
    or_time: int | None = None


@dataclass(frozen=True)
class Time:
    """So many microseconds of arrival time: by ticks, or since a row came."""

    d: int


@dataclass(frozen=True)
class Delta:
    """A difference: the new row's value less an older one's is more than `d`."""

    of: Callable[[Row], Any]
    d: Any
    absolute: bool = False

    def exceeded(self, new: Row, old: Row) -> bool:
        """A fall is no difference unless `absolute`, a null never is one."""
        if self.of(new) is None or self.of(old) is None:
            return False
        difference = self.of(new) - self.of(old)
        return bool((abs(difference) if self.absolute else difference) > self.d)


@dataclass(frozen=True)
class Punctuation:
    """A marker ends the windows; it is a row for which `of` is true and in no window, or the end of a "file" or "batch".

    One marker ends the windows of all partitions, whatever its own key; `everywhere=False`: only its own partition's.
    """

    of: Callable[[Row], Any] | str
    everywhere: bool = True


@dataclass(frozen=True)
class Keep:
    """Partitions that may stay: used within `age`, the last `count` of them, the last that have no more than `rows` together.

    What is dropped vanishes, or with `emit` comes out as if flushed.
    """

    age: int | None = None
    count: int | None = None
    rows: int | None = None
    emit: bool = False


@dataclass(frozen=True)
class Arrival:
    """Tumbling without a trigger, sliding with one."""

    evict: Count | Time | Delta | Punctuation
    trigger: Count | Time | Delta | None = None
    incomplete: bool = False
    flush: bool = False
    dense: bool = False
    keep: Keep | None = None
    group_by: tuple[str, ...] = ()

    @property
    def period(self) -> int | None:
        """How far ticks are apart, if there are any."""
        match self.trigger or self.evict:
            case Time(d):
                return d
            case Count(or_time=period):
                return period
            case _:
                return None


@dataclass
class Partition:
    """What is known of one key."""

    held: list[Arrived]
    used: int
    """When the last row came."""
    counted: int = 0
    """Rows since a count trigger fired."""
    base: Row | None = None
    """The row from which a delta trigger counts."""
    full: bool = False
    fresh: bool = False
    """A row came since the last window."""


@dataclass(frozen=True)
class Fired:
    """A window that came out, its rows in order of arrival; `closing`: the batch, None if it is still held."""

    key: tuple[Any, ...]
    index: int
    start: int
    end: int
    rows: tuple[Arrived, ...]
    closing: int | None


def arrived(batch: Batch, events: Sequence[Event]) -> list[Arrived]:
    """Of each partition arrival time never goes back in a batch, and stays inside it; without one a row comes with the row before."""
    found: list[Arrived] = []
    now: dict[tuple[Any, ...], int] = {}
    for event in events:
        before, at = now.get(event.key, batch.start), event.row.get("a")
        now[event.key] = max(before, min(batch.end - 1, before if at is None else at))
        found.append(Arrived(event, now[event.key]))
    return found
