"""`muntin explain`: what a window is made of."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected
from muntin.cli.selection import key_hint, one_key
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.jobs.accumulate.row_changes.later_batches import ToldChange
    from muntin.jobs.inputs.dimensions.looked_up import MetRow
    from muntin.jobs.inspect.explain import Explained, Explanation

T = TypeVar("T")

At = Annotated[
    datetime,
    typer.Option(
        "--at", parser=opt.instant, metavar="INSTANT", help="An instant that the window holds, in UTC."
    ),
]


def explain(
    file: opt.File,
    window: opt.Window,
    at: At,
    root: opt.Root = None,
    name: opt.Name = None,
    key: opt.Key = None,
    limit: opt.Limit = 20,
    as_json: opt.Json = False,
) -> None:
    """Explain a window.

    Its frames and their batches, what came too late for it, and the batch that closed it; or why there is no
    such window.

    Example:
      muntin explain dags/flights.py last_6_hours --key JFK --at 2013-02-01T06:00
    """
    with working():
        pipeline, folder = inspected(file, name, root)
        from muntin.jobs.inspect import explain as jobs

        asked = one_key(pipeline.keys_of(window), key or ())
        explanation = jobs.explain(pipeline, window, root=folder, key=asked, at=at)
        if explanation.why_none and explanation.why_none.startswith(jobs.NO_EVENT):
            explanation = replace(
                explanation, why_none=explanation.why_none + key_hint(pipeline, window, folder, asked)
            )
    if as_json:
        return say_json(asdict(explanation))
    return _say(explanation, limit)


def _say(explanation: "Explanation", limit: int) -> None:
    if explanation.why_none:
        return say(f"no such window: {explanation.why_none}")
    for each in _some(explanation.windows, limit):
        _say_window(each, limit)
    if left := len(explanation.windows) - len(_some(explanation.windows, limit)):
        say(f"{many(left, 'window')} more; --limit 0 shows all")
    return None


def _some(parts: Sequence[T], limit: int) -> Sequence[T]:
    """The first of them; all if the limit is 0."""
    return parts[:limit] if limit else parts


def _say_window(one: "Explained", limit: int) -> None:
    say(columns([*one.window], [[*one.window.values()]]))
    say(
        f"closed by batch {one.closed_by:%Y-%m-%dT%H:%M} UTC"
        if one.closed_by
        else "open: no batch has closed it yet"
    )
    if one.hidden is not None:
        say(f"hidden, for its having does not hold: {one.hidden}")
    say(f"made of {many(len(one.parts), 'state')}:")
    say(
        columns(
            ["frame (UTC)", "batch (UTC)", "rows", "late elsewhere"],
            [[p.frame, p.batch, p.rows, "yes" if p.late else ""] for p in _some(one.parts, limit)],
        )
    )
    _say_left(one.parts, limit)
    if one.before:
        say("begins with the last values of:")
        say(columns(["frame (UTC)", "batch (UTC)", "rows"], [[p.frame, p.batch, p.rows] for p in one.before]))
    if one.missed:
        say(f"{many(len(one.missed), 'state')} came too late for it:")
        say(
            columns(
                ["frame (UTC)", "batch (UTC)", "rows"],
                [[p.frame, p.batch, p.rows] for p in _some(one.missed, limit)],
            )
        )
        _say_left(one.missed, limit)
    if one.looked_up:
        say("the events of its batches looked up:")
        names = ["batch (UTC)", "look-up", "answers", "no row", "now"]
        shown = [
            [u.batch, u.lookup, u.answers, u.without, "changed" if u.changed else "the same"]
            for u in _some(one.looked_up, limit)
        ]
        say(columns(names, shown))
    if one.met:
        say("in the time of the window they met:")
        say(
            columns(
                ["look-up", "key", "since (UTC)", "until"], [_met(each) for each in _some(one.met, limit)]
            )
        )
        _say_left(one.met, limit, "row")
    if one.unread:
        say(f"what later batches change in its batches cannot be read: {one.unread}")
    if one.changes:
        say("rows of its batches that later batches change or take back:")
        say(
            columns(
                ["batch (UTC)", "by batch", "what", "file", "place", "row"],
                [_change(each) for each in _some(one.changes, limit)],
            )
        )
        _say_left(one.changes, limit, "change")
    say("")


def _met(row: "MetRow") -> list[str | datetime]:
    return [row.lookup, ", ".join(map(str, row.key)), row.since, row.until or "still"]


def _change(change: "ToldChange") -> list[str | datetime]:
    file = change.file if change.version is None else f"{change.file} (version {change.version})"
    counted = "offset" if change.file.startswith("kafka://") else "line"
    place = f"row {change.position}" if change.line is None else f"{counted} {change.line}"
    return [change.batch, change.by, change.what, file, place, change.row]


def _say_left(parts: "Sequence[object]", limit: int, what: str = "state") -> None:
    if left := len(parts) - len(_some(parts, limit)):
        say(f"... {many(left, what)} more; --limit 0 shows all")
