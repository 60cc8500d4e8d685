"""What the pictures of these pages show; `python -m docs.windows.pictures` draws them into this folder.

Most are the worked examples of the systems these windows come from, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from docs.windows.derive import Drawn, derived
from pipelines import windows

if TYPE_CHECKING:
    from pipelines.windows import Window

HERE = Path(__file__).parent
HOUR = 3_600
NEW_YORK = ZoneInfo("America/New_York")
ZERO = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Panel:
    """A definition over some events.

    Attributes:
        says: the definition as a user writes it.
        window: the same.
        arrivals: batch by batch, in order of arrival, the seconds at which events happened.
        length: of a batch's interval, in seconds.
        zero: the start of the first batch.
        hours: whether windows are told by their local bounds and their length, not by their members.
    """

    says: str
    window: Window
    arrivals: tuple[tuple[int, ...], ...]
    length: int = 200
    zero: datetime = ZERO
    hours: bool = False

    @property
    def unit(self) -> int:
        """Of the axis, in seconds."""
        return HOUR if self.hours else 1

    @property
    def inclusive(self) -> bool:
        """Whether an event at the end belongs."""
        return isinstance(self.window, windows.Unique) or self.between_events

    @property
    def between_events(self) -> bool:
        """Whether windows reach from their first event to their last, and no farther."""
        return isinstance(self.window, windows.Arrival | windows.AllTime)

    @property
    def drawn(self) -> list[Drawn]:
        """The windows, in order."""
        return derived(self.window, self.arrivals, self.zero, self.length)

    def label(self, window: Drawn) -> str:
        """What stands in the window's bar."""
        return f"{(window.end - window.start) // HOUR} h" if self.hours else " ".join(window.members)

    def told(self, window: Drawn) -> str:
        """The window as a line of text."""
        if self.hours:
            return f"{self._local(window.start)} to {self._local(window.end)}: {self.label(window)}"
        bound = "]" if self.inclusive else ")"
        told = f"[{window.start}, {window.end}{bound}: {self.label(window)}"
        return told + (" cut" if window.cut else "") + ("" if window.closed else " open")

    def _local(self, second: int) -> str:
        return f"{(self.zero + timedelta(seconds=second)).astimezone(NEW_YORK):%Y-%m-%d %H:%M%z}"


# 2024-03-10: clocks in New York go from 2:00 to 3:00
DAYS = Panel(
    'tumbling("1d", align_to="23:59", timezone="America/New_York")',
    windows.tumbling("1d", align_to="23:59", timezone="America/New_York"),
    (tuple(range(6 * HOUR, 70 * HOUR, 6 * HOUR)),),
    120 * HOUR,
    datetime(2024, 3, 9, tzinfo=UTC),
    hours=True,
)
RECORDS = ((100, 103, 107, 110),)
ROWS = ((1, 2, 3, 4, 5, 6), (10, 11, 12))

PICTURES: dict[str, tuple[Panel, ...]] = {
    "tumbling": (Panel('tumbling("2s")', windows.tumbling("2s"), (tuple(range(7)),)), DAYS),
    "sliding": (Panel('sliding("4s", step="2s")', windows.sliding("4s", step="2s"), (tuple(range(7)),)),),
    "cumulating": (Panel('cumulating("12s", step="4s")', windows.cumulating("12s", step="4s"), ((1, 5, 21),)),),
    "session": (
        Panel('session("5s")', windows.session("5s"), ((10, 12, 20),)),
        Panel('session("5s", grace="1m")', windows.session("5s", grace="1m"), ((10, 12), (20,), (16,)), 20),
        Panel('session("5s", max_length="10s")', windows.session("5s", max_length="10s"), ((0, 3, 6, 9, 12, 15),)),
    ),
    "unique-sliding": (
        Panel('unique_sliding("10s", resolution="1s")', windows.unique_sliding("10s", resolution="1s"), RECORDS),
        Panel('sliding("10s", step="1s")', windows.sliding("10s", step="1s"), RECORDS),
    ),
    "all-time": (Panel("all_time()", windows.all_time(), ((20, 35), (50, 7)), 40),),
    "arrival": (
        Panel("arrival(by_count(4))", windows.arrival(windows.by_count(4)), ROWS, 10),
        Panel("arrival(by_count(3), trigger=by_count(2))", windows.arrival(windows.by_count(3), trigger=windows.by_count(2)), ROWS, 10),
        Panel('arrival(by_time("5s"))', windows.arrival(windows.by_time("5s")), ROWS, 10),
    ),
}


def told(panel: Panel) -> list[str]:
    """A panel as text: the definition, then a line for each window."""
    return [panel.says, *(panel.told(window) for window in panel.drawn)]


def main() -> None:
    """Draw every picture."""
    from docs.windows.draw import draw

    for name, panels in PICTURES.items():
        draw(panels, HERE / f"{name}.svg")


if __name__ == "__main__":
    main()
