"""`muntin explain`: what a window is made of."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected
from muntin.cli.selection import key_hint, one_key
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.jobs.accumulate.later_batches import ToldChange
    from muntin.jobs.inspect.explain import Explained

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
    if explanation.why_none:
        return say(f"no such window: {explanation.why_none}")
    shown = explanation.windows[: limit or None]
    for each in shown:
        _say_window(each, limit)
    if left := len(explanation.windows) - len(shown):
        say(f"{many(left, 'window')} more; --limit 0 shows all")
    return None


def _say_window(one: "Explained", limit: int) -> None:
    say(columns([*one.window], [[*one.window.values()]]))
    say(
        f"closed by batch {one.closed_by:%Y-%m-%dT%H:%M} UTC"
        if one.closed_by
        else "open: no batch has closed it yet"
    )
    if one.hidden is not None:
        say(f"hidden, for its having does not hold: {one.hidden}")
    of_state = ["frame (UTC)", "batch (UTC)", "rows"]
    parts = [[p.frame, p.batch, p.rows, "yes" if p.late else ""] for p in one.parts]
    _say_table(f"made of {many(len(parts), 'state')}:", [*of_state, "late elsewhere"], parts, limit, "state")
    if one.before:
        _say_table(
            "begins with the last values of:", of_state, [[p.frame, p.batch, p.rows] for p in one.before]
        )
    if one.missed:
        missed = [[p.frame, p.batch, p.rows] for p in one.missed]
        _say_table(f"{many(len(missed), 'state')} came too late for it:", of_state, missed, limit, "state")
    if one.looked_up:
        heads = ["batch (UTC)", "look-up", "answers", "no row", "now"]
        look_ups = [
            [u.batch, u.lookup, u.answers, u.without, "changed" if u.changed else "the same"]
            for u in one.looked_up
        ]
        _say_table("the events of its batches looked up:", heads, look_ups, limit)
    if one.met:
        heads = ["look-up", "key", "since (UTC)", "until"]
        met = [[row.lookup, ", ".join(map(str, row.key)), row.since, row.until or "still"] for row in one.met]
        _say_table("in the time of the window they met:", heads, met, limit, "row")
    if one.unread:
        say(f"what later batches change in its batches cannot be read: {one.unread}")
    if one.changes:
        heads = ["batch (UTC)", "by batch", "what", "file", "place", "row"]
        changes = [*map(_change, one.changes)]
        _say_table(
            "rows of its batches that later batches change or take back:", heads, changes, limit, "change"
        )
    say("")


def _change(change: "ToldChange") -> list[str | datetime]:
    file = change.file if change.version is None else f"{change.file} (version {change.version})"
    counted = "offset" if change.file.startswith("kafka://") else "line"
    place = f"row {change.position}" if change.line is None else f"{counted} {change.line}"
    return [change.batch, change.by, change.what, file, place, change.row]


def _say_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], limit: int = 0, what: str = ""
) -> None:
    """Rows under a title, at most so many, 0 is all; and how many of `what` are left."""
    say(title)
    say(columns(heads, rows[: limit or None]))
    if what and limit and len(rows) > limit:
        say(f"... {many(len(rows) - limit, what)} more; --limit 0 shows all")
