"""`muntin explain`: what a window is made of."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import options as opt
from pipelines.cli.definition import load_pipeline
from pipelines.cli.output import columns, say, say_json
from pipelines.cli.selection import one_key
from pipelines.cli.working import working
from pipelines.definition.amounts import many

if TYPE_CHECKING:
    from pipelines.jobs.look.explain import Explained, Explanation

At = Annotated[datetime, typer.Option("--at", parser=opt.instant, metavar="INSTANT", help="An instant that the window holds, in UTC.")]


def explain(
    file: opt.File,
    window: opt.Window,
    at: At,
    root: opt.Root = Path("state"),
    name: opt.Name = None,
    key: opt.Key = None,
    as_json: opt.Json = False,
) -> None:
    """Explain a window.

    The frames it is made of and the batches they came with, what came too late for it, and the batch that closed it; or
    why there is no such window.

    Example:
      muntin explain dags/flights.py last_6_hours --key JFK --at 2013-02-01T06:00
    """
    with working():
        from pipelines.jobs.look import explain as jobs

        pipeline = load_pipeline(file, name)
        found = jobs.explain(pipeline, window, root=root, key=one_key(pipeline, key or ()), at=at)
    if as_json:
        return say_json(_document(found))
    return _say(found)


def _document(found: "Explanation") -> dict[str, object]:
    from dataclasses import asdict

    return asdict(found)


def _say(found: "Explanation") -> None:
    if found.why_none:
        return say(f"no such window: {found.why_none}")
    for each in found.windows:
        _say_window(each)
    return None


def _say_window(one: "Explained") -> None:
    say(columns([*one.window], [[*one.window.values()]]))
    say(f"closed by batch {one.closed_by:%Y-%m-%dT%H:%M} UTC" if one.closed_by else "open: no batch has closed it yet")
    say(f"made of {many(len(one.parts), 'state')}:")
    say(
        columns(
            ["frame (UTC)", "batch (UTC)", "rows", "late elsewhere"],
            [[p.frame, p.batch, p.rows, "yes" if p.late else ""] for p in one.parts],
        )
    )
    if one.missed:
        say(f"{many(len(one.missed), 'state')} came too late for it:")
        say(columns(["frame (UTC)", "batch (UTC)", "rows"], [[p.frame, p.batch, p.rows] for p in one.missed]))
    say("")
