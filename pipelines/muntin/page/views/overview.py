"""The overview: how every pipeline is, and what needs a person."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from muntin.definition.amounts import many
from muntin.definition.instants import instant_us, spell_instant
from muntin.definition.schedule import Interval
from muntin.errors import MuntinError
from muntin.jobs.inspect.batch_list import published_at
from muntin.jobs.inspect.status import PipelineStatus, status
from muntin.jobs.published.pending import accumulated
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.quality_notes import last_verdicts
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.rebuild import newest_earlier
from muntin.page.views.commands import again

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.records.reports import BatchReport
    from muntin.jobs.state.bound import Bound
    from muntin.page.installation import Known

RECENT = 10
"""Late and quarantined rows are those of so many of the last batches."""
_TOLD = 3  # holes


@dataclass(frozen=True, slots=True)
class Call:
    """Something that needs a person: what is wrong, and what to do about it; `command` is to be typed as it stands."""

    what: str
    do: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A pipeline in the overview; instants in microseconds.

    Attributes:
        name: of the pipeline.
        shown: whether it has pages of its own: it has a definition and a state.
        batches: how many were read.
        watermark_us: how far time is known; of several windows the earliest.
        lag_us: how long ago that is.
        opened: how many windows are open; None: too many states would have to be read to count them, or nothing is published.
        open_us: since when a window is open; None: no window is open, or nobody knows.
        published_us: when something was last published.
        holes: how many intervals are missing.
        late, quarantined: rows of the last `RECENT` batches.
        verdict: of the suite that ran last; None without suites.
        calls: what needs a person.
    """

    name: str
    shown: bool = False
    batches: int = 0
    watermark_us: int | None = None
    lag_us: int | None = None
    opened: int | None = None
    open_us: int | None = None
    published_us: int | None = None
    holes: int = 0
    late: int = 0
    quarantined: int = 0
    verdict: str | None = None
    calls: tuple[Call, ...] = ()


def overview(known: Mapping[str, Known], now_us: int) -> list[Line]:
    """A line for each pipeline, in the order given; pipelines that need a person come first."""
    lines = [line(each, now_us) for each in known.values()]
    return sorted(lines, key=lambda each: not each.calls)


def line(known: Known, now_us: int) -> Line:
    """The line of one pipeline."""
    if known.pipeline is None:
        what = f"its file {known.file} cannot be run" if known.file else "only its state is there: no file defines it"
        return Line(known.name, calls=(Call(what, "see what is wrong, and mend it", f"muntin check {known.file or 'FILE'}"),))
    try:
        bound = bind(known.pipeline, known.root)
        if not bound.folder.is_dir():
            return _unborn(known, bound)
        return _line(known, known.pipeline, bound, status(known.pipeline, root=known.root), now_us)
    except MuntinError as wrong:
        return Line(known.name, calls=(Call("it cannot be read", str(wrong)),))


def _line(known: Known, pipeline: Pipeline, bound: Bound, now: PipelineStatus, now_us: int) -> Line:
    watermarks_us = [_us(window.watermark) for window in now.windows if window.watermark]
    since, counts = [_us(window.open_since) for window in now.windows if window.open_since], [window.open for window in now.windows]
    reports, verdicts = _last_reports(bound), _last_verdicts(bound)
    worst = max(verdicts, key=lambda each: (_GRAVE.get(each["status"], 0), each["recorded_at"]), default=None)
    published, watermark_us = published_at(bound.store), min(watermarks_us, default=None)
    late, refused = (sum(getattr(report, name) for report in reports) for name in ("rows_late", "rows_quarantined"))
    calls = [*_of_holes(known, pipeline, now), *_of_verdicts(verdicts), *_of_refused(reports, refused), *_of_silence(pipeline, now, now_us)]
    calls += _of_sinks(known, now)
    return Line(
        known.name,
        shown=True,
        batches=now.batches,
        watermark_us=watermark_us,
        lag_us=None if watermark_us is None else now_us - watermark_us,
        opened=None if None in counts else sum(count or 0 for count in counts),
        open_us=min(since, default=None),
        published_us=_us(published.replace(microsecond=0)) if published else None,
        holes=len(now.missing or ()),
        late=late,
        quarantined=refused,
        verdict=worst["verdict"] if worst else None,
        calls=(*_of_unpublished(now), *calls),
    )


def _unborn(known: Known, bound: Bound) -> Line:
    """A pipeline without a state under its definition: it never ran, which needs nobody, or its definition was changed."""
    earlier = newest_earlier(bound)
    if earlier is None:
        return Line(known.name)
    command = f"muntin rebuild {quote(str(known.file))} --root {quote(str(known.root))}"
    return Line(known.name, calls=(Call("its definition has changed what states hold", "read the batches again", command),))


_GRAVE = {"passed": 0, "warning": 1, "failed": 2}


def _us(moment: Any) -> int:  # noqa: ANN401 - an aware datetime
    return instant_us(moment, "time")


def _last_reports(bound: Bound) -> list[BatchReport]:
    """The reports of the last batches that were read."""
    table = bound.frame_sets[0].table
    read = accumulated(bound, table, bound.store.snapshot(table))
    some = zip(read.start_us[-RECENT:].tolist(), read.end_us[-RECENT:].tolist(), strict=True)
    return batch_reports(bound, [Interval(start, end) for start, end in some])


def _last_verdicts(bound: Bound) -> list[Mapping[str, Any]]:
    """The last verdict on each window that has a suite."""
    found = ((name, last_verdicts(bound.folder, name)) for name in bound.pipeline.expectations)
    return [verdicts[0] | {"window": name} for name, verdicts in found if verdicts]


def _of_holes(known: Known, pipeline: Pipeline, now: PipelineStatus) -> list[Call]:
    holes = [(_us(low), _us(high)) for low, high in now.missing or ()]
    if not holes:
        return []
    named = ", ".join(spell_instant(low) for low, _ in holes[:_TOLD]) + (", ..." if len(holes) > _TOLD else "")
    waiting = f"; {many(len(now.waiting), 'batch')} waiting for it" if now.waiting else ""
    how = again(known, holes[0][0], pipeline.intervals.after(holes[0][0]), holes[0][0], reprocess=False)
    return [Call(f"{many(len(holes), 'interval')} missing: {named}{waiting}", "run it, as by a backfill", how.airflow or how.command)]


def _of_verdicts(verdicts: Sequence[Mapping[str, Any]]) -> list[Call]:
    do = "nothing of that run was published: mend the data or the suite, then clear the run from its task accumulate on"
    return [Call(f"{each['window']} {each['verdict']}", do) for each in verdicts if each["status"] == "failed"]


def _of_refused(reports: Sequence[BatchReport], refused: int) -> list[Call]:
    if not refused:
        return []
    return [Call(f"{many(refused, 'row')} quarantined in the last {many(len(reports), 'batch')}", "see the reasons under Quarantine")]


def _of_unpublished(now: PipelineStatus) -> list[Call]:
    """Batches that were read, wait for nothing, and are not published."""
    left = max((window.unpublished for window in now.windows), default=0) - len(now.waiting or ())
    if left <= 0:
        return []
    return [Call(f"{many(left, 'batch')} read and not published", "a run is at work, or failed: clear it from its task finalize on")]


def _of_sinks(known: Known, now: PipelineStatus) -> list[Call]:
    command = f"muntin sinks {quote(str(known.file))} --root {quote(str(known.root))} --send"
    do = "the next run tries again; so does"
    calls = [Call(f"{each.window} was not sent to {each.sink}: {each.failed}", do, command) for each in now.sinks if each.failed]
    left = [(len(each.misfits), each) for each in now.sinks if each.misfits]
    names = command.removesuffix(" --send")
    return calls + [
        Call(f"{many(count, 'window')} of {each.window} not as published at {each.sink}", "named, with column and reason, by", names)
        for count, each in left
    ]


def _of_silence(pipeline: Pipeline, now: PipelineStatus, now_us: int) -> list[Call]:
    """The call for a pipeline that kept up with its schedule, and stopped. A pipeline that works through the past never kept up."""
    last = max((_us(window.last) for window in now.windows if window.last), default=None)
    if last is None or now.last_run is None:
        return []
    end = pipeline.intervals.after(last)
    long = 2 * (end - last)
    if _us(now.last_run) - end > long or now_us - end <= long:
        return []
    return [Call(f"no batch since {spell_instant(last)}", "see whether the DAG is paused or its scheduler is dead")]
