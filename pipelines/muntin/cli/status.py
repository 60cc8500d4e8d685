"""`muntin status`: what is there, how far it is, what it waits for."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli import options as opt
from muntin.cli.output import columns, in_zone, moment, say, say_json, size, stretches
from muntin.cli.place import inspected, root_of
from muntin.cli.tables import Timezone
from muntin.cli.working import working
from muntin.definition.durations import spell
from muntin.definition.instants import from_us
from muntin.definition.spelling import lasting, many
from muntin.definition.time_limits import PUBLISH_DESPITE
from muntin.errors import StateError
from muntin.files.paths import AnyPath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.inspect.status import PipelineStatus
    from muntin.jobs.records.batch_states import Stretch
    from muntin.jobs.sending.notes import SinkStanding

_WINDOW = {
    "window": "window",
    "first batch": "first",
    "last batch": "last",
    "batches": "batches",
    "windows": "windows",
    "published to": "published_to",
    "watermark": "watermark",
    "open": "open",
    "open since": "open_since",
    "rows late": "rows_late",
    "to publish": "unpublished",
    "version": "version",
}

_STANDING = {
    "current": "current",
    "superseded": "superseded by a newer definition",
    "candidate": "a candidate beside the windows that readers know: not promoted yet",
}
_Again = Callable[["Stretch"], str]
_SHOWN = 20
_TOLD = ("missing", "queued", "running", "failed", "held", "read", "waiting")
_SECOND_US = 1_000_000


def status(
    file: opt.SomeFile = None,
    root: opt.Root = None,
    name: opt.Name = None,
    timezone: Timezone = None,
    as_json: opt.Json = False,
) -> None:
    """Say how far each window is.

    With FILE also the state of each batch: missing, queued, running, failed at a step, held by a suite, read,
    waiting, published or corrected; and whether `fresh_within` of the definition is met.

    Example:
      muntin status dags/flights.py --root state
    """
    with working():
        folder = root_of(root, file)
        pipeline = inspected(file, name, root)[0] if file else None
        statuses = _found(pipeline, folder)
        if not statuses:
            _check_root(pipeline, folder)
    if as_json:
        return say_json([one.to_dict() for one in statuses])
    if not statuses:
        say(_none(pipeline, folder))
    from muntin.cli.report import command_of

    def again(stretch: "Stretch") -> str:
        if not (file and pipeline):
            return ""
        first_us, last_us = stretch.rows_of
        borders = (from_us(first_us), from_us(pipeline.intervals.after(last_us)))
        return command_of("run", file, name, folder, *borders)

    for at, one in enumerate(statuses):
        say("\n" * bool(at) + "\n".join(_lines(one, timezone, again)))
    return None


def _found(pipeline: "Pipeline | None", root: AnyPath) -> "list[PipelineStatus]":
    from muntin.jobs.inspect.status import states_below, status

    if pipeline is None:
        return states_below(root) if root.is_dir() else []
    from muntin.jobs.state.bound import bind

    return [status(pipeline, root=root, compared=True)] if bind(pipeline, root).folder.is_dir() else []


def _check_root(pipeline: "Pipeline | None", root: AnyPath) -> None:
    """Refuse a root without states where some are near: the pipeline was run, but to another root."""
    if isinstance(root, Path) and root.is_file():
        raise StateError(f"{root} is a file; give the folder that states live below, as --root state")
    from muntin.jobs.state.state_folders import roots_near

    if pipeline and (root / pipeline.name).is_dir():
        return
    if near := roots_near(root, pipeline.name) if pipeline else roots_near(root):
        raise StateError(
            f"there is no state{f' of {pipeline.name!r}' if pipeline else ''} below {root}, but below"
            f" {', '.join(map(str, near))}; give the root that runs wrote to, as --root {near[0]}"
        )


def _none(pipeline: "Pipeline | None", root: AnyPath) -> str:
    if pipeline is None:
        return f"no state below {root}: nothing was run yet"
    home = root / pipeline.name
    if home.is_dir():
        return (
            f"{pipeline.name}: nothing was run yet under this definition; {home} has states of other"
            " definitions; see muntin plan"
        )
    return f"{pipeline.name}: nothing was run yet; its state will be {home}"


def _lines(one: "PipelineStatus", zone: str | None, again: _Again) -> list[str]:
    def at(value: datetime) -> str:
        return moment(in_zone(value, zone))

    lines = [
        (
            f"{one.pipeline} ({one.fingerprint}), {_standing(one)}, {size(one.bytes)}; instants in"
            f" {zone or 'UTC'}"
        )
    ]
    lines.append(
        f"last run: {at(one.last_run.replace(microsecond=0))}" if one.last_run else "last run: never recorded"
    )
    lines.append(f"read: {many(one.batches, 'batch')}; quarantined: {many(one.rows_quarantined, 'row')}")
    lines += _batch_lines(one, at, again)
    cells = [[getattr(window, field) for field in _WINDOW.values()] for window in one.windows]
    lines.append(
        columns(
            [*_WINDOW],
            [[in_zone(each, zone) if isinstance(each, datetime) else each for each in row] for row in cells],
        )
    )
    if one.missing:
        lines.append(f"missing: {stretches(one.missing, zone)}")
    if one.waiting:
        lines.append(f"waiting beyond it: {many(len(one.waiting), 'batch')}, from {at(one.waiting[0])} on")
    lines += [
        f"staged, not published: {each.folder}, {size(each.bytes)}, written {at(each.written_at)}"
        for each in one.staged
    ]
    windows = [(f"windows of {window.window}", window.gone_before) for window in one.windows]
    tables = [
        ("states", one.states_gone_before),
        *windows,
        ("refused rows", one.refused_gone_before),
        ("reports", one.reports_gone_before),
    ]
    parts = [f"{what} before {at(before)}" for what, before in tables if before]
    lines += [f"gone, as retain says: {', '.join(parts)}"] if parts else []
    if one.changed:
        lines.append(
            f"{many(len(one.changed), 'batch')} changed at the source, oldest {at(one.changed[0])}; to be"
            " read again by the next run"
        )
    lines += [f"left as it was: {line}" for line in one.unsettled]
    if one.unsent:
        lines.append(f"alerts: {many(one.unsent, 'message')} not sent yet: the next run tries again")
    if one.unforgotten:
        lines.append(
            f"something may be left of {many(one.unforgotten, 'key')} to be forgotten: run muntin forget FILE"
            " with them again"
        )
    return lines + [line for sink in one.sinks for line in _sink(sink)]


def _standing(one: "PipelineStatus") -> str:
    """How a state and its windows stand to the definition and to readers."""
    if one.redefined and one.standing != "candidate":
        names = ", ".join(one.redefined)
        return f"published by another definition: {names}; muntin promote FILE derives them anew"
    return _STANDING[one.standing]


def _sink(sink: "SinkStanding") -> "Iterator[str]":
    if sink.failed or sink.behind:
        why = f": {sink.failed}" if sink.failed else ""
        yield f"sinks: {sink.window} is {many(sink.behind, 'version')} behind at {sink.sink}{why}"
    if sink.misfits:
        yield (
            f"sinks: {many(len(sink.misfits), 'window')} of {sink.window} not as published at {sink.sink};"
            " muntin status --sinks FILE names them"
        )


def _batch_lines(one: "PipelineStatus", at: Callable[[datetime], str], again: _Again) -> list[str]:
    """Lines on the batches of a pipeline, in the words of the page; none where its definition is not known.

    `at` gives an instant in the reader's clock.
    """
    if one.states is None:
        return []
    from muntin.jobs.records.batch_states import stretches

    counts = ", ".join(f"{count:,} {state}" for state, count in one.states.counts.items() if count)
    notable_states = [each for each in one.states.listed if each.despite or each.state in _TOLD]
    batch_stretches = stretches(notable_states)
    lines = [f"batches: {counts or 'none'}"]
    if fresh := one.fresh:
        met = "yes" if fresh.met else "no"
        lines.append(f"fresh within {spell(fresh.within_us)}: {met}, {fresh.in_words(lasting)}")
    lines += [line for each in batch_stretches[-_SHOWN:] for line in _told(each, at, again)]
    return (
        [*lines, f"  ... {many(len(batch_stretches) - _SHOWN, 'stretch')} before; --json has them all"]
        if len(batch_stretches) > _SHOWN
        else lines
    )


def _told(each: "Stretch", at: Callable[[datetime], str], again: _Again) -> list[str]:
    from muntin.jobs.records.batch_states import NEED_A_PERSON, spelled

    one, start, end = each.one, from_us(each.start_us), from_us(each.end_us)
    since = at(from_us(one.since_us // _SECOND_US * _SECOND_US)) if one.since_us is not None else None
    lines = [f"  [{at(start)}, {at(end)}) {spelled(one, since)}", *(f"    {check}" for check in one.checks)]
    if one.state not in NEED_A_PERSON:
        return lines
    log, command = [f"    see {one.link}"] if one.link else [], again(each)
    mended = [f"    when that is mended: {command}"] if command else []
    despite = (
        [f"    to publish it all the same: {PUBLISH_DESPITE.format(one.verdict)}"] if one.verdict else []
    )
    return [*lines, *log, *mended, *despite]
