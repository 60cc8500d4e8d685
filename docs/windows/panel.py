"""A panel of a picture: a definition over some events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pyarrow as pa

from docs.windows.derive import SECOND, Drawn, derived
from muntin import windows
from muntin.definition.instants import instant_us
from muntin.engine.given_spans import END, START, given_spans
from muntin.states.columns import INSTANT
from muntin.windows.kinds.all_time import AllTime

if TYPE_CHECKING:
    from muntin.windows.kind import Window

HOUR, DAY = 3_600, 86_400
LETTER = {HOUR: "h", DAY: "d"}
NEW_YORK = ZoneInfo("America/New_York")
ZERO = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = {name: getattr(windows, name) for name in windows.__all__}


@dataclass(frozen=True, slots=True)
class Panel:
    """A definition over some events.

    Attributes:
        says: the definition as a user writes it.
        arrivals: batch by batch, in order of arrival, the seconds at which events happened.
        length: of a batch's interval, in seconds.
        zero: the start of the first batch.
        unit: of the axis, in seconds: a second, an hour or a day. Where it is longer than a second, windows are told by
            their bounds on New York's clocks and by their length, not by their members.
        spans: of the table that the definition names: seconds after `zero`.
    """

    says: str
    arrivals: tuple[tuple[int, ...], ...]
    length: int = 200
    zero: datetime = ZERO
    unit: int = 1
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def window(self) -> Window:
        """The definition."""
        window = eval(self.says, NAMES)  # noqa: S307 - our own text
        zero = instant_us(self.zero, "zero")
        times = (pa.array([zero + each[at] * SECOND for each in self.spans], pa.int64()).view(INSTANT) for at in (0, 1))
        spans = given_spans(pa.table(dict(zip((START, END), times, strict=True))), ())
        return window.with_spans(lambda: spans)  # type: ignore[no-any-return]

    def inclusive(self, window: Drawn) -> bool:
        """Whether an event at the end belongs; of windows made of rows, whether one does."""
        return self.window.beyond_us > 0 and (not self.window.made_of.of_rows or str(window.end) in window.members)

    @property
    def between_events(self) -> bool:
        """Whether windows reach from their first event to their last, and no farther."""
        return self.window.made_of.by_arrival or isinstance(self.window, AllTime)

    @property
    def goes_back(self) -> bool:
        """Whether rows come in another order than their events happened."""
        return self.window.made_of.by_arrival and any(list(times) != sorted(times) for times in self.arrivals)

    @property
    def drawn(self) -> list[Drawn]:
        """The windows, in order."""
        return derived(self.window, self.arrivals, self.zero, self.length)

    def label(self, window: Drawn) -> str:
        """What stands in the window's bar."""
        return " ".join(window.members) if self.unit == 1 else f"{(window.end - window.start) // self.unit} {LETTER[self.unit]}"

    def told(self, window: Drawn) -> str:
        """The window as a line of text."""
        if self.unit > 1:
            return f"{self._local(window.start)} to {self._local(window.end)}: {self.label(window)}"
        first, last = "(" if self.window.outside_us else "[", "]" if self.inclusive(window) else ")"
        told = f"{first}{window.start}, {window.end}{last}: {self.label(window)}"
        return told + (" cut" if window.cut else "") + ("" if window.closed else " open")

    def _local(self, second: int) -> str:
        return f"{(self.zero + timedelta(seconds=second)).astimezone(NEW_YORK):%Y-%m-%d %H:%M%z}"


def told(panel: Panel) -> list[str]:
    """A panel as text: the definition, then a line for each window."""
    return [panel.says, *(panel.told(window) for window in panel.drawn)]
