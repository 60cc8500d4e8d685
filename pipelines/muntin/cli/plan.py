"""`muntin plan`: the decisions of a run, nothing done; with --diff what a changed definition changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.options import borders
from muntin.cli.output import columns, say, say_json, size, stretches
from muntin.cli.place import inspected
from muntin.cli.run import NOTHING, read_batches, say_work, to_do
from muntin.cli.working import working
from muntin.definition.instants import instant_us
from muntin.definition.spelling import many
from muntin.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.definition.schedule import Schedule
    from muntin.jobs.inspect.plan import Plan
    from muntin.jobs.inspect.planned_windows import PlannedWindows, Redefined

_SHOWN, _ROWS = 40, 5
Rows = Annotated[
    int,
    typer.Option("--rows", min=0, metavar="ROWS", help="So many windows of each name are listed; 0 is none."),
]


def plan(
    file: opt.File,
    start: opt.Start = None,
    end: opt.End = None,
    root: opt.Root = None,
    name: opt.Name = None,
    validate: opt.Validate = True,
    rows: Rows = _ROWS,
    as_json: opt.Json = False,
) -> int:
    """Say what a run would do.

    Which batches are new, changed, unchanged or missing, which published windows may change (the newest
    first), and what a changed definition costs. The definition is checked. Exit status 3 if files are
    missing, since a run would fail. Unless both START and END are given, the batches that a run without them
    would read, and why.

    Example:
      muntin plan dags/flights.py --root state
      muntin plan dags/flights.py --root state --start 2013-01-01 --end 2013-02-01
    """
    with working() as tell:
        pipeline, folder = inspected(file, name, root)
        first, last = borders(pipeline, start, end)
        if first is None or last is None:
            batches = to_do(pipeline, folder, first, last)
            work = read_batches(
                pipeline, folder, batches, None, tell, link="", validate=validate, dry_run=True
            )
        else:
            from muntin.jobs.inspect.plan import plan as plan_range

            work, planned = None, plan_range(pipeline, root=folder, start=first, end=last, validate=validate)
            from muntin.jobs.inspect.planned_windows import windows_of_batches
            from muntin.jobs.state.bound import bind

            bound, bounds = bind(pipeline, folder), ("window_start", "window_end", "batch")
            table_of_window = {
                name: windows_of_batches(bound, name, starts, limit=rows)
                for name, starts in planned.windows.items()
            }
            touched = {
                name: table.select([*bound.keys_of(name), *bounds]).to_pylist()
                for name, table in table_of_window.items()
                if len(table)
            }
    if work:
        return say_work(work, none=NOTHING, dry_run=True, as_json=as_json)
    if as_json:
        say_json(planned.to_dict() | {"may_change": touched})
    else:
        say_plan(planned, touched, pipeline.intervals)
    return SourceError.exit_status if planned.missing else 0


def say_plan(
    planned: "Plan", touched: "Mapping[str, Sequence[Mapping[str, object]]]", schedule: "Schedule"
) -> None:
    """A plan for people. `touched`: window -> some of its windows that may change."""
    rows = [
        [
            batch.interval_start,
            batch.reading,
            len(batch.files),
            size(batch.bytes),
            batch.files[0] if batch.files else None,
            batch.why if batch.reading == "changed" else None,  # missing files are reported below the table
        ]
        for batch in planned.batches
    ]
    if rows:
        say(columns(["batch (UTC)", "reading", "files", "bytes", "first file", "why"], rows[:_SHOWN]))
        say(
            f"... {many(len(rows) - _SHOWN, 'batch')} more; --json has them all\n"
            if len(rows) > _SHOWN
            else ""
        )
    for line in (*_summary(planned, schedule), *_definition(planned.redefined)):
        say(line)
    for name, some in touched.items():
        say(f"\n{name}, of those published now:")
        say(columns([*some[0]], [[*row.values()] for row in some]))
        if (left := planned.counts[name].published - len(some)) > 0:
            say(f"... {many(left, 'window')} more; --rows says how many are shown")


def _summary(planned: "Plan", schedule: "Schedule") -> Iterator[str]:
    counted = Counter(batch.reading for batch in planned.batches)
    kinds = ", ".join(f"{count:,} {reading}" for reading, count in counted.items())
    volume = size(sum(batch.bytes for batch in planned.batches))
    yield f"{many(len(planned.batches), 'batch')}{f': {kinds}' if kinds else ''}; {volume} to read"
    if counted["unknown"]:
        yield (
            f"unknown: {many(counted['unknown'], 'batch')} that a run would read again; only Spark can tell"
            " whether its rows have changed"
        )
    for window, starts in planned.windows.items():
        yield (
            f"{window}: windows of {many(len(starts), 'batch')}"
            f" anew{_range(starts, schedule)}{_counted(planned.counts[window])}"
        )
    if planned.waiting_for:
        yield f"missing between batches: {stretches(planned.waiting_for)}; what lies beyond waits for it"
    if holes := [(batch.interval_start, batch.interval_end) for batch in planned.missing]:
        yield (
            f"no files: {many(len(holes), 'batch')}, {stretches(holes)}; a run fails. The first:"
            f" {planned.missing[0].why}"
        )


def _counted(windows: "PlannedWindows") -> str:
    if windows.expected is None or not windows.starts:
        return ""
    more = f", about {windows.expected:,} expected" if windows.expected != windows.published else ""
    return f"; {many(windows.published, 'window')} of them published now{more}"


def _definition(redefinition: "Redefined | None") -> Iterator[str]:
    if redefinition is None:
        return
    yield "the definition is not that of the last run" + (
        ":" if redefinition.changes else "; what it was is not known"
    )
    yield from (f"  {change}" for change in redefinition.changes)
    if redefinition.earlier:
        volume = f"{many(redefinition.batches, 'batch')} ({size(redefinition.bytes)})"
        stays = f"state {redefinition.earlier} stays"
        yield (
            f"  cost: states hold something else now; {volume} must be read again, as by muntin run"
            f" --rebuild; {stays}"
        )
    for window, count in redefinition.windows.items():
        yield f"  cost: {window}: {many(count, 'window')} derived anew from the states; no file is read again"


def _range(starts: Sequence[datetime], schedule: "Schedule") -> str:
    return f" {schedule.over([instant_us(each, 'start') for each in starts])}" if starts else ""


Against = Annotated[
    Path | None,  # or an `ObjectPath`: typer knows no unions
    typer.Option(
        "--against",
        parser=opt.folder,
        metavar="FILE",
        help="Another definition's file, or the folder of another state, instead of the live windows.",
    ),
]
Differing = Annotated[
    int, typer.Option("--rows", min=0, help="How many windows that differ are shown, of each name.")
]


def diff(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    against: Against = None,
    rows: Differing = 5,
    as_json: opt.Json = False,
) -> None:
    """Say how windows change with a definition.

    Compare the live windows with the windows of FILE: which are new, gone or changed, and the largest change
    of each number. Nothing is promoted. A definition whose states hold something else needs `muntin run
    --rebuild FILE --candidate` first.

    Example:
      muntin plan --diff dags/flights.py --root state
      muntin plan --diff dags/flights.py --root state --against /backup/state
    """
    with working():
        from muntin.jobs.inspect.diff import diff as inspect

        pipeline, folder = inspected(file, name, root)
        other = against if against is None or against.is_dir() else inspected(against, name, root)[0]
        differences = inspect(pipeline, root=folder, window=window, against=other)
    if as_json:
        return say_json([one.to_dict() | {"rows": [*one.changes.rows(rows)]} for one in differences])
    for one in differences:
        counts = one.counted()
        lines = [f"{one.window}: {one.before:,} windows before, {one.after:,} after"]
        lines.append(f"  {counts['changed']:,} changed, {counts['new']:,} new, {counts['gone']:,} gone")
        if one.unread_batches:
            lines.append(f"  {many(one.unread_batches, 'batch')} not read yet under this definition")
        lines += [f"  {name}: new" for name in one.new_columns]
        lines += [f"  {name}: not in this definition" for name in one.gone_columns]
        lines += [f"  {name}: of another type, not compared" for name in one.retyped_columns]
        lines += [
            f"  {name}: changes by {by:g} at most, in {_spelled(where)}"
            for name, (by, where) in one.largest.items()
        ]
        for row in one.changes.rows(rows):
            identified = row | row["key"]
            lines.append(
                f"  {row['change']}: {_spelled({name: identified[name] for name in one.changes.identity})}"
            )
        say("\n".join(lines))
    return None


def _spelled(where: "Mapping[str, object]") -> str:
    return ", ".join(f"{name} {value}" for name, value in where.items())
