"""`muntin plan`: the decisions of a run, nothing done."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.cli import options as opt
from pipelines.cli.output import columns, moment, say, say_json, size, stretches
from pipelines.cli.place import looked_at
from pipelines.cli.working import working
from pipelines.definition.amounts import many
from pipelines.errors import SourceError

if TYPE_CHECKING:
    from pipelines.jobs.look.plan import Plan, PlannedBatch
    from pipelines.jobs.look.planned_windows import PlannedWindows
    from pipelines.jobs.look.redefined import Redefined

_SHOWN = 40


def plan(
    file: opt.File,
    start: opt.Start,
    end: opt.End,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    as_json: opt.Json = False,
) -> int:
    """Say what a run would do.

    Which batches are new, changed, unchanged or missing, which windows a run would touch, what has changed in the definition. The
    definition is checked against the source's files and the suites. Nothing is done. Exit status 3 if files are missing.

    Example:
      muntin plan dags/flights.py --root state --start 2013-01-01 --end 2013-02-01
    """
    with working():
        pipeline, folder = looked_at(file, name, root)
        from pipelines.jobs.look.plan import plan as plan_range

        planned = plan_range(pipeline, root=folder, start=start, end=end, validate=validate)
    say_json(planned.to_dict()) if as_json else say_plan(planned)
    return SourceError.exit_status if planned.missing else 0


def say_plan(planned: "Plan") -> None:
    """A plan for people."""
    rows = [
        [
            batch.interval_start,
            batch.reading,
            len(batch.files),
            size(batch.bytes),
            _first(batch),
            _why(batch),
        ]
        for batch in planned.batches
    ]
    if rows:
        say(columns(["batch (UTC)", "reading", "files", "bytes", "first file", "why"], rows[:_SHOWN]))
        say(f"... {many(len(rows) - _SHOWN, 'batch')} more; --json has them all\n" if len(rows) > _SHOWN else "")
    for line in (*_summary(planned), *_definition(planned.redefined)):
        say(line)


def _summary(planned: "Plan") -> Iterator[str]:
    counted = Counter(batch.reading for batch in planned.batches)
    kinds = ", ".join(f"{count:,} {reading}" for reading, count in counted.items())
    volume = size(sum(batch.bytes for batch in planned.batches))
    yield f"{many(len(planned.batches), 'batch')}{f': {kinds}' if kinds else ''}; {volume} to read"
    for window, starts in planned.windows.items():
        yield f"{window}: windows of {many(len(starts), 'batch')} anew{_range(starts)}{_counted(planned.counts[window])}"
    if planned.waiting_for:
        yield f"missing between batches: {stretches(planned.waiting_for)}; what lies beyond waits for it"
    if holes := [(batch.interval_start, batch.interval_end) for batch in planned.missing]:
        yield f"no files: {many(len(holes), 'batch')}, {stretches(holes)}; a run fails. The first: {planned.missing[0].why}"


def _counted(windows: "PlannedWindows") -> str:
    if windows.expected is None or not windows.starts:
        return ""
    more = f", about {windows.expected:,} expected" if windows.expected != windows.published else ""
    return f"; {many(windows.published, 'window')} of them published now{more}"


def _definition(found: "Redefined | None") -> Iterator[str]:
    if found is None:
        return
    yield "the definition is not that of the last run" + (":" if found.changes else "; what it was is not known")
    yield from (f"  {change}" for change in found.changes)
    if found.earlier:
        volume = f"{many(found.batches, 'batch')} ({size(found.bytes)})"
        yield f"  cost: states hold something else now; {volume} must be read again, as by muntin rebuild; state {found.earlier} stays"
    for window, count in found.windows.items():
        yield f"  cost: {window}: {many(count, 'window')} derived anew from the states; no file is read again"


def _why(batch: "PlannedBatch") -> str | None:
    """What has changed; that files are missing is told below the table."""
    return batch.why if batch.reading == "changed" else None


def _first(batch: "PlannedBatch") -> str | None:
    return batch.files[0] if batch.files else None


def _range(starts: Sequence[datetime]) -> str:
    if not starts:
        return ""
    return f", {moment(starts[0])}" + (f" to {moment(starts[-1])}" if len(starts) > 1 else "")
