"""`muntin plan`: the decisions of a run, nothing done."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli import options as opt
from pipelines.cli.definition import load_pipeline
from pipelines.cli.output import columns, moment, say, say_json, size, stretches
from pipelines.cli.working import working
from pipelines.definition.amounts import many

if TYPE_CHECKING:
    from pipelines.jobs.look.plan import Plan


def plan(
    file: opt.File,
    start: opt.Start,
    end: opt.End,
    root: opt.Root = Path("state"),
    name: opt.Name = None,
    as_json: opt.Json = False,
) -> None:
    """Say what a run would do.

    Which batches it would read, which windows it would touch, what is missing. Nothing is done.

    Example:
      muntin plan dags/flights.py --root state --start 2013-01-01 --end 2013-02-01
    """
    with working():
        from pipelines.jobs.look.plan import plan as plan_range

        planned = plan_range(load_pipeline(file, name), root=root, start=start, end=end)
    say_json(planned.to_dict()) if as_json else _say_plan(planned)


def _say_plan(planned: "Plan") -> None:
    rows = [
        [batch.interval_start, len(batch.files), size(batch.bytes), "again" if batch.replaces else "new", _named(batch.files)]
        for batch in planned.batches
    ]
    say(columns(["batch (UTC)", "files", "bytes", "reading", "first file"], rows))
    say()
    say(f"{many(len(rows), 'batch')}, {size(sum(batch.bytes for batch in planned.batches))} to read")
    for window, starts in planned.windows.items():
        say(f"{window}: windows of {many(len(starts), 'batch')} anew{_range(starts)}")
    if planned.waiting_for:
        say(f"missing: {stretches(planned.waiting_for)}; what lies beyond waits for it")


def _named(files: Sequence[str]) -> str | None:
    """The first file, as short as it can be said from here."""
    if not files:
        return None
    path = Path(files[0])
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _range(starts: Sequence[datetime]) -> str:
    if not starts:
        return ""
    return f", {moment(starts[0])}" + (f" to {moment(starts[-1])}" if len(starts) > 1 else "")
