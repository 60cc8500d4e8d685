"""`muntin timeline`: batches, and the windows of a key above them."""

import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muntin.cli import options as opt
from muntin.cli.colours import coloured
from muntin.cli.output import say, say_json, say_painted
from muntin.cli.place import inspected
from muntin.cli.quiet import say_what_was_done
from muntin.cli.selection import one_key
from muntin.cli.working import working
from muntin.definition.amounts import many
from muntin.definition.extras import need
from muntin.definition.instants import from_us, instant_us
from muntin.extensions.page.commands.text_timeline import LEGEND, text_timeline
from muntin.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.extensions.page.views.seen import Seen
    from muntin.extensions.page.views.timeline import Timeline

_BATCHES = 24
Last = Annotated[int, typer.Option("--last", min=1, metavar="BATCHES", help="So many batches, missing ones too.")]
Until = Annotated[
    datetime | None, typer.Option("--to", parser=opt.instant, metavar="INSTANT", help="Only batches that end at or before it.")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Draw a picture instead; .png, .svg, .pdf or .html.")]


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

    Closed and open windows, late rows, missing intervals. Without --key it is the key of the newest window; without WINDOW
    all windows are drawn.

    Example:
      muntin timeline dags/flights.py last_6_hours --root state --key JFK --last 12
    """
    if out:
        need("matplotlib")
        from muntin.extensions.page.pictures.files import check_ending

        check_ending(out)
    with working():
        from muntin.extensions.page.installation import Known
        from muntin.extensions.page.views.seen import seen

        pipeline, folder = inspected(file, name, root)
        at = seen(Known(pipeline.name, folder, pipeline, file))
        columns = pipeline.keys_of(window) if window else pipeline.keys
        named = dict(zip(columns, one_key(columns, key), strict=True)) if key else None
        shown = _timelines(at, [at.window(window)] if window else [*pipeline.windows], named, last, to)
    if as_json:
        return say_json({"pipeline": pipeline.name, "timelines": [plain_timeline(at, one) for one in shown]})
    if out:
        return _draw(shown, out)
    return say_painted("\n\n".join(_block(at, one) for one in shown) + f"\n\n{LEGEND}; instants in UTC")


def _timelines(
    at: "Seen", windows: "Sequence[str]", named: "Mapping[str, str | None] | None", count: int, until: datetime | None
) -> "list[Timeline]":
    """One timeline a window, all of one key; rollups of the part of it that they have."""
    from muntin.extensions.page.views.seen import chosen_key
    from muntin.extensions.page.views.timeline import number_at, timeline

    timelines = []
    for window in windows:
        columns = at.pipeline.keys_of(window)
        has_all_columns = named is not None and {*columns} <= {*named}
        key = tuple(named[column] for column in columns) if named and has_all_columns else chosen_key(at, window, {})
        named = named if key is None or has_all_columns else dict(zip(columns, key, strict=True))
        end = None if until is None else number_at(at, window, instant_us(until, "--to"))
        timelines.append(timeline(at, window, key, count=count, end=end))
    return timelines


def _block(at: "Seen", shown: "Timeline") -> str:
    """A timeline for people."""
    named = zip(at.pipeline.keys_of(shown.window), shown.key or (), strict=False)
    head = printable(", ".join([shown.window, *(f"{name}={value}" for name, value in named)]))
    if not shown.batches:
        return f"{head}: no batch was read yet"
    left = f"\n{many(shown.left_out, 'window')} left out: no room" if shown.left_out else ""
    return "\n".join([head, *text_timeline(shown, shutil.get_terminal_size((100, 24)).columns, coloured)]) + left


def _draw(shown: "Sequence[Timeline]", out: Path) -> None:
    from muntin.extensions.page.pictures.files import write_picture
    from muntin.extensions.page.pictures.timeline import timelines

    drawn = [one for one in shown if one.batches]
    if not drawn:
        return say("no batch was read yet: nothing is drawn")
    write_picture(timelines(drawn), out)
    return say_what_was_done(f"{out.absolute()}: {many(len(drawn), 'timeline')} over {many(len(drawn[0].batches), 'batch')}")


def plain_timeline(at: "Seen", shown: "Timeline") -> dict[str, Any]:
    """A timeline for machines."""

    def moment(us: int | None) -> datetime | None:
        return None if us is None else from_us(us)

    batches = [
        {
            "start": moment(one.start_us),
            "end": moment(one.end_us),
            "standing": one.standing,
            "watermark": moment(one.watermark_us),
            "windows": one.windows,
            "late": one.late,
        }
        for one in shown.batches
    ]
    windows = [{"start": moment(bar.start_us), "end": moment(bar.end_us), "closed_by": moment(bar.closed_us)} for bar in shown.bars]
    key = None if shown.key is None else dict(zip(at.pipeline.keys_of(shown.window), shown.key, strict=True))
    return {"window": shown.window, "key": key, "batches": batches, "windows": windows, "left_out": shown.left_out}
