"""`muntin show --timeline`: batches, and the windows of a key above them."""

import shutil
from collections.abc import Callable
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muntin.cli import options as opt
from muntin.cli.output import coloured, say, say_json, say_painted, say_what_was_done
from muntin.cli.place import inspected
from muntin.cli.selection import one_key
from muntin.cli.working import working
from muntin.definition.extras import need
from muntin.definition.instants import from_us, instant_us, spell_instant
from muntin.definition.spelling import many
from muntin.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.extensions.page.views.seen import Seen
    from muntin.extensions.page.views.timeline import Bar, Timeline
    from muntin.extensions.page.views.trends import ListedBatch


_BATCHES = 24
_Painted = Callable[[str, str], str]
Last = Annotated[
    int, typer.Option("--last", min=1, metavar="BATCHES", help="So many batches, missing ones too.")
]
Until = Annotated[
    datetime | None,
    typer.Option(
        "--to", parser=opt.instant, metavar="INSTANT", help="Only batches that end at or before it."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Draw a picture instead; .png, .svg, .pdf or .html."),
]
_LEGEND = {
    "=": "[==) closed window",
    ":": "[::) closed window, not published",
    "/": "[//) open window",
    "-": "[--) batch",
    "~": "[~~) not published yet",
    ".": "[..) missing",
    "x": "[xx) failed",
    "#": "[##) held",
    "!": "! late rows",
}
_MARGIN = 10  # "windows   "
_INKS = {"=": "blue", **dict.fromkeys(":/!~", "yellow"), **dict.fromkeys(".x#", "red")}
_FILLS = {"published": "-", "corrected": "-", "missing": ".", "failed": "x", "held": "#"}


def timeline(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    key: opt.Key = None,
    last: Last = _BATCHES,
    to: Until = None,
    out: Out = None,
    as_json: opt.Json = False,
) -> None:
    """Draw the batches, and the windows of a key above them.

    Closed and open windows, late rows, missing intervals. Without --key it is the key of the newest window;
    without WINDOW all windows are drawn.

    Example:
      muntin show --timeline dags/flights.py last_6_hours --root state --key JFK --last 12
    """
    if out:
        need("matplotlib")
        from muntin.extensions.page.pictures.drawing import check_ending

        check_ending(out)
    with working():
        from muntin.extensions.page.installation import Place
        from muntin.extensions.page.views.seen import seen

        pipeline, folder = inspected(file, name, root)
        at = seen(Place(pipeline.name, folder, pipeline, file))
        columns = pipeline.keys_of(window) if window else pipeline.keys
        named = dict(zip(columns, one_key(columns, key), strict=True)) if key else None
        shown = _timelines(at, [at.window(window)] if window else [*pipeline.windows], named, last, to)
    if as_json:
        return say_json({"pipeline": pipeline.name, "timelines": [plain_timeline(at, one) for one in shown]})
    if out:
        from muntin.extensions.page.pictures.drawing import write_picture
        from muntin.extensions.page.pictures.timeline import timelines

        drawn = [one for one in shown if one.batches]
        if not drawn:
            return say("no batch was read yet: nothing is drawn")
        write_picture(timelines(drawn), out)
        return say_what_was_done(
            f"{out.absolute()}: {many(len(drawn), 'timeline')} over {many(len(drawn[0].batches), 'batch')}"
        )
    signs = {sign for one in shown for sign in _signs(one)}
    legend = "   ".join(text for sign, text in _LEGEND.items() if sign in signs)
    return say_painted("\n\n".join([*(_block(at, one) for one in shown), f"{legend}; instants in UTC"]))


def _timelines(
    at: "Seen",
    windows: "Sequence[str]",
    named: "Mapping[str, str | None] | None",
    count: int,
    until: datetime | None,
) -> "list[Timeline]":
    """One timeline a window, all of one key; rollups of the part of it that they have."""
    from muntin.extensions.page.views.seen import chosen_key
    from muntin.extensions.page.views.timeline import number_at, timeline
    from muntin.jobs.records.batch_status import batch_states
    from muntin.jobs.records.reports_table import now_us

    timelines, states = [], batch_states(at.bound, now_us())
    for window in windows:
        columns = at.pipeline.keys_of(window)
        has_all_columns = named is not None and {*columns} <= {*named}
        key = (
            tuple(named[column] for column in columns)
            if named and has_all_columns
            else chosen_key(at, window, {})
        )
        named = named if key is None or has_all_columns else dict(zip(columns, key, strict=True))
        end = None if until is None else number_at(at, window, states, instant_us(until, "--to"))
        timelines.append(timeline(at, window, key, states, count=count, end=end))
    return timelines


def _block(at: "Seen", shown: "Timeline") -> str:
    named = zip(at.pipeline.keys_of(shown.window), shown.key or (), strict=False)
    head = printable(", ".join([shown.window, *(f"{name}={value}" for name, value in named)]))
    if not shown.batches:
        return f"{head}: no batch was read yet"
    left = f"\n{many(shown.left_out, 'window')} left out: no room" if shown.left_out else ""
    return (
        "\n".join([head, *text_timeline(shown, shutil.get_terminal_size((100, 24)).columns, coloured)]) + left
    )


def _signs(shown: "Timeline") -> "Iterator[str]":
    yield from map(_of_window, shown.bars)
    yield from map(_of_batch, shown.batches)
    yield from "!" if any(batch.late for batch in shown.batches) else ""


def _of_window(bar: "Bar") -> str:
    return "/" if bar.closed_us is None else ":" if bar.staged else "="


def _of_batch(batch: "ListedBatch") -> str:
    return _FILLS.get(batch.one.state, "~")


def plain_timeline(at: "Seen", shown: "Timeline") -> dict[str, Any]:
    """A timeline for machines."""

    def moment(us: int | None) -> datetime | None:
        return None if us is None else from_us(us)

    batches = [
        {
            "start": moment(one.start_us),
            "end": moment(one.end_us),
            "state": one.one.state,
            "watermark": moment(one.watermark_us),
            "windows": one.windows,
            "late": one.late,
            "correcting": one.correcting,
        }
        for one in shown.batches
    ]
    windows = [
        {
            "start": moment(bar.start_us),
            "end": moment(bar.end_us),
            "closed_by": moment(bar.closed_us),
            "published": bar.closed_us is not None and not bar.staged,
        }
        for bar in shown.bars
    ]
    key = None if shown.key is None else dict(zip(at.pipeline.keys_of(shown.window), shown.key, strict=True))
    return {
        "window": shown.window,
        "key": key,
        "batches": batches,
        "windows": windows,
        "left_out": shown.left_out,
    }


def text_timeline(shown: "Timeline", width: int, painted: _Painted = lambda text, _: text) -> list[str]:
    """The lines of a timeline: lanes of windows, the topmost first, then batches, then instants in UTC.

        windows   [======)
                     [======)            closed: [===)
                        [//////)         open:   [///), closed and not published: [:::)
        batches   [--)[--)[!-)[..)[~~)   published [--), late rows [!-), missing [..), not published yet [~~),
                                         failed [xx), held [##)

    `width`: columns of the terminal; `painted`: a text and a colour -> the text in this colour.
    """
    low, high, room = shown.low_us, shown.high_us, max(20, width - _MARGIN)

    def column(us: int) -> int:
        return (min(max(us, low), high) - low) * room // max(1, high - low)

    lanes = [[" "] * room for _ in range(max((bar.lane for bar in shown.bars), default=0) + 1)]
    for bar in shown.bars:
        _put(lanes[bar.lane], column(bar.start_us), column(bar.end_us), _of_window(bar))
    batches = [" "] * room
    for batch in shown.batches:
        _put(batches, column(batch.start_us), column(batch.end_us), _of_batch(batch))
        if batch.late:
            batches[min(room - 1, (column(batch.start_us) + column(batch.end_us)) // 2)] = "!"
    lines = [
        f"{'' if at else 'windows':{_MARGIN}}{_in_colours(lane, painted)}"
        for at, lane in enumerate(reversed(lanes))
    ]
    axis = "".join(
        _spaced([(column(batch.start_us), spell_instant(batch.start_us)) for batch in shown.batches], room)
    )
    return [
        line.rstrip()
        for line in (*lines, f"{'batches':{_MARGIN}}{_in_colours(batches, painted)}", " " * _MARGIN + axis)
    ]


def _put(cells: list[str], first: int, end: int, fill: str) -> None:
    """A half-open stretch. One without room for both brackets has the first one, or none."""
    end = min(len(cells), max(end, first + 1))
    first = min(first, end - 1)
    room = end - first
    cells[first:end] = f"[{fill * (room - 2)})" if room > 2 else f"[{fill}"[-room:]  # noqa: PLR2004 - two brackets


def _in_colours(cells: list[str], painted: _Painted) -> str:
    return "".join(_run(ink, "".join(run), painted) for ink, run in groupby(cells, _INKS.get))


def _run(ink: str | None, text: str, painted: _Painted) -> str:
    return painted(text, ink) if ink else text


def _spaced(marks: list[tuple[int, str]], room: int) -> "Iterator[str]":
    """The instants that have room in a line, each from its column on, with the spaces before it."""
    at = 0
    for column, text in marks:
        if (column >= at + 2 or not at) and column + len(text) <= room:
            yield " " * (column - at) + text
            at = column + len(text)
