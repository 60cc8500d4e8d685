"""SPL's windowed operator, a naive one: every row and every tick of a partition in their order."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.testing.oracle.time import Batch, Event
from tests.oracle.arrival import Arrival, Arrived, Count, Delta, Fired, Partition, Punctuation, Time, arrived

Key = tuple[Any, ...]


@dataclass
class Operator:
    """All partitions of a window; `start`, in microseconds: when the first tick's period began."""

    window: Arrival
    start: int
    batch: int | None = 0
    parts: dict[Key, Partition] = field(default_factory=dict)
    """The least recently used one first."""
    fired: list[Fired] = field(default_factory=list)
    indices: Counter[Key] = field(default_factory=Counter)
    """Windows so far; outlives the partition."""
    ticks: dict[Key, int] = field(default_factory=dict)
    """Number of the partition's next tick."""
    emptied: dict[Key, Partition] = field(default_factory=dict)
    """Those that time emptied: too old for nothing, and their triggers know what they knew."""
    last: dict[Key, int] = field(default_factory=dict)
    """Tick of the last window that held a row."""

    def run(self, batches: Sequence[Batch], admitted: Sequence[Event]) -> list[Fired]:
        """The batches one after the other, then what is left."""
        for n, batch in enumerate(batches):
            self.batch = n
            rows = arrived(batch, [event for event in admitted if event.batch == n])
            for place, row in enumerate(rows):
                self.take(row)
                if self.marks("file") and all(later.event.row["file"] != row.event.row["file"] for later in rows[place + 1 :]):
                    self.flush_all(row.at)
            for key in list(self.parts):
                self.time_goes_on(key, batch.end)
            if self.marks("batch"):
                self.flush_all(batch.end)
        self.rest()
        return self.fired

    def rest(self) -> None:
        """What no window has shown yet: closed by the last batch if it is to be flushed, else still open."""
        self.batch = self.batch if self.window.flush else None
        for key, part in self.parts.items():
            if part.held and (self.window.trigger is None or part.fresh):
                self.emit(key, part.held)

    def time_goes_on(self, key: Key, now: int) -> None:
        """A partition's ticks up to now, now included; one that was not used for long is dropped."""
        period = self.window.period
        if period is not None:
            for tick in range(self.ticks.get(key, (now - self.start) // period + 1), (now - self.start) // period + 1):
                self.on_tick(key, self.start + tick * period)
                self.ticks[key] = tick + 1
            self.ticks[key] = (now - self.start) // period + 1
        self.grow_old(key, now)

    def on_tick(self, key: Key, at: int) -> None:
        """Tumbling windows are flushed, sliding ones fire."""
        self.grow_old(key, at)
        if self.window.trigger is None:
            self.flush(key)
        elif self.expire(key, at):
            self.fire(key)

    def grow_old(self, key: Key, now: int) -> None:
        """Partitions that no row came to for long may have to go."""
        keep, part, evict = self.window.keep, self.parts.get(key), self.window.evict
        if part and keep and keep.age is not None and now - part.used > keep.age:
            if self.window.trigger and isinstance(evict, Time) and evict.d < keep.age:
                self.expire(key, now)  # it was empty before it was too old
            else:
                self.drop(key)

    def expire(self, key: Key, now: int) -> bool:
        """Rows leave a window by time. Of a partition that is empty then, only the state of its trigger stays."""
        part = self.parts.get(key)
        if part and isinstance(self.window.evict, Time):
            part.held = self.young(part, now)
            if not part.held:
                self.emptied[key] = self.parts.pop(key)
        return key in self.parts

    def young(self, part: Partition, now: int) -> list[Arrived]:
        """What a window still holds by then."""
        evict = self.window.evict
        return [row for row in part.held if not (self.window.trigger and isinstance(evict, Time)) or now - row.at <= evict.d]

    def take(self, row: Arrived) -> None:
        """A row, behind the ticks of its partition."""
        key = row.event.key
        self.time_goes_on(key, row.at)
        if self.window.trigger:
            self.expire(key, row.at)
            self.slide(row)
        else:
            self.tumble(row)

    def tumble(self, row: Arrived) -> None:
        """Difference: test, flush, insert. Count: insert, test, flush. A marker is not inserted."""
        key, evict = row.event.key, self.window.evict
        held = self.parts[key].held if key in self.parts else []
        if isinstance(evict, Punctuation) and isinstance(evict.of, Callable) and evict.of(row.event.row):
            self.flush_all(row.at) if evict.everywhere else self.flush(key)
            return
        if isinstance(evict, Delta) and held and evict.exceeded(row.event.row, held[0].event.row):
            self.flush(key)
        if evict != Count(0):
            self.insert(row)
        if isinstance(evict, Count) and key in self.parts and len(self.parts[key].held) == evict.n:
            self.flush(key)

    def slide(self, row: Arrived) -> None:
        """A delta trigger: trigger, evict, insert; a count trigger: evict, insert, trigger."""
        key, trigger = row.event.key, self.window.trigger
        part = self.parts.setdefault(key, self.emptied.pop(key, None) or Partition([], row.at))
        if isinstance(trigger, Delta):
            if part.base is not None and trigger.exceeded(row.event.row, part.base):
                self.fire(key)
                part.base = None
            part.base = part.base or row.event.row
        self.make_room(part, row)
        if self.window.evict != Count(0):
            self.insert(row)
        if isinstance(trigger, Count) and key in self.parts:
            part.counted += 1
            if part.counted == trigger.n:
                self.fire(key)
                part.counted = 0

    def make_room(self, part: Partition, row: Arrived) -> None:
        """The oldest by count, all that are too far away by difference."""
        match self.window.evict:
            case Count(n) if n and len(part.held) == n:
                part.held = part.held[1:]
            case Delta() as evict:
                near = [held for held in part.held if not evict.exceeded(row.event.row, held.event.row)]
                part.full = part.full or len(near) < len(part.held)
                part.held = near

    def insert(self, row: Arrived) -> None:
        """The partition is now the last used one; others may have to go, before anything comes of the row."""
        key, evict = row.event.key, self.window.evict
        part = self.parts.pop(key, None) or Partition([], row.at)
        self.parts[key] = part
        part.held = [*part.held, row]
        part.used, part.fresh = row.at, True
        part.full = part.full or isinstance(evict, Time) or (isinstance(evict, Count) and len(part.held) == evict.n)
        while self.too_much(row.at):
            self.drop(next(iter(self.parts)))

    def too_much(self, now: int) -> bool:
        """More partitions or rows than may be kept."""
        keep = self.window.keep
        if keep is None:
            return False
        rows = sum(len(self.young(part, now)) for part in self.parts.values())
        return (keep.count is not None and len(self.parts) > keep.count) or (keep.rows is not None and rows > keep.rows)

    def drop(self, key: Key) -> None:
        """A partition that may not be kept."""
        self.flush(key) if self.window.keep and self.window.keep.emit else self.parts.pop(key)

    def fire(self, key: Key) -> None:
        """A sliding window comes out, if it was full once."""
        part = self.parts[key]
        if part.held and (part.full or self.window.incomplete):
            self.emit(key, part.held)
            part.fresh = False

    def flush(self, key: Key) -> None:
        """A tumbling window comes out; its partition is forgotten."""
        part = self.parts.pop(key, None)
        if part and part.held:
            self.emit(key, part.held)

    def flush_all(self, now: int) -> None:
        """Every partition that was used of late."""
        for key in list(self.parts):
            self.grow_old(key, now)
            self.flush(key)

    def emit(self, key: Key, held: Sequence[Arrived]) -> None:
        """The next window of that key, behind the empty ones since the last."""
        period = self.window.period
        if self.window.dense and period is not None:
            for tick in range(self.last.get(key, self.ticks[key]) + 1, self.ticks[key]):
                end = self.start + tick * period
                self.add(key, end - period, end, ())
            self.last[key] = self.ticks[key]
        times = [row.event.t for row in held]
        self.add(key, min(times), max(times), tuple(held))

    def add(self, key: Key, start: int, end: int, rows: tuple[Arrived, ...]) -> None:
        """A window with its number."""
        self.fired.append(Fired(key, self.indices[key], start, end, rows, self.batch))
        self.indices[key] += 1

    def marks(self, what: str) -> bool:
        """Whether the end of a file, or of a batch, is a marker."""
        return isinstance(self.window.evict, Punctuation) and self.window.evict.of == what
