"""A timeline in letters.

windows   [======)
             [======)            closed: [===)
                [//////)         open:   [///)
batches   [--)[--)[!-)[..)[~~)   published [--), late rows [!-), missing [..), read and not published [~~)
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from muntin.definition.instants import spell_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muntin.extensions.page.views.timeline import Timeline

    Painted = Callable[[str, str], str]

LEGEND = "[==) closed window   [//) open window   [--) batch   [~~) not published yet   [..) missing   ! late rows"
_MARGIN = 10  # "windows   "
_INKS = {"=": "blue", "/": "yellow", ".": "red", "!": "yellow", "~": "yellow"}
_FILLS = {"published": "-", "read": "~", "waiting": "~", "missing": "."}


def text_timeline(shown: Timeline, width: int, painted: Painted = lambda text, _: text) -> list[str]:
    """The lines of a timeline: lanes of windows, the topmost first, then batches, then instants in UTC.

    `width`: columns of the terminal; `painted`: a text and a colour -> the text in this colour.
    """
    low, high, room = shown.low_us, shown.high_us, max(20, width - _MARGIN)

    def column(us: int) -> int:
        return (min(max(us, low), high) - low) * room // max(1, high - low)

    lanes = [[" "] * room for _ in range(max((bar.lane for bar in shown.bars), default=0) + 1)]
    for bar in shown.bars:
        _put(lanes[bar.lane], column(bar.start_us), column(bar.end_us), "/" if bar.closed_us is None else "=")
    batches = [" "] * room
    for batch in shown.batches:
        _put(batches, column(batch.start_us), column(batch.end_us), _FILLS[batch.standing])
        if batch.late:
            batches[min(room - 1, (column(batch.start_us) + column(batch.end_us)) // 2)] = "!"
    lines = [f"{'' if at else 'windows':{_MARGIN}}{_in_colours(lane, painted)}" for at, lane in enumerate(reversed(lanes))]
    axis = _axis([(column(batch.start_us), spell_instant(batch.start_us)) for batch in shown.batches], room)
    return [line.rstrip() for line in (*lines, f"{'batches':{_MARGIN}}{_in_colours(batches, painted)}", " " * _MARGIN + axis)]


def _put(cells: list[str], first: int, end: int, fill: str) -> None:
    """A half-open stretch. One without room for both brackets has the first one, or none."""
    end = min(len(cells), max(end, first + 1))
    first = min(first, end - 1)
    room = end - first
    cells[first:end] = f"[{fill * (room - 2)})" if room > 2 else f"[{fill}"[-room:]  # noqa: PLR2004 - two brackets


def _in_colours(cells: list[str], painted: Painted) -> str:
    return "".join(_run(ink, "".join(run), painted) for ink, run in groupby(cells, _INKS.get))


def _run(ink: str | None, text: str, painted: Painted) -> str:
    return painted(text, ink) if ink else text


def _axis(marks: list[tuple[int, str]], room: int) -> str:
    """The line with as many instants as have room, each from its column on."""
    return "".join(_spaced(marks, room))


def _spaced(marks: list[tuple[int, str]], room: int) -> Iterator[str]:
    at = 0
    for column, text in marks:
        if (column >= at + 2 or not at) and column + len(text) <= room:
            yield " " * (column - at) + text
            at = column + len(text)
