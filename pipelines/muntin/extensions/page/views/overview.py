"""The overview: how every pipeline is, and what needs a person."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from shlex import quote

from muntin.definition.instants import instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.definition.time_limits import Freshness
from muntin.errors import MuntinError
from muntin.extensions.page.installation import Place
from muntin.extensions.page.views.calls import Call, calls
from muntin.extensions.page.views.held import NOTHING, Around
from muntin.jobs.inspect.status import PipelineStatus, status
from muntin.jobs.published.pending import accumulated
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.batch_status import BatchStates
from muntin.jobs.records.verdicts import last_verdicts
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.upkeep.rebuild import newest_earlier

RECENT = 10
"""Late and quarantined rows are counted in so many of the last batches."""
_AT_ONCE = 8  # pipelines
_WEEK_US = 7 * 86_400_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """A pipeline in the overview; instants in microseconds.

    Attributes:
        name: of the pipeline.
        shown: whether it has pages of its own: it has a definition and a state.
        batches: how many were read.
        watermark_us: how far time is known; of several windows the earliest.
        lag_us: how long ago that is; None of a pipeline that works through the past, which no clock says
            anything about.
        opened: how many windows are open; None: too many states would have to be read to count them, or
            nothing is published.
        open_us: since when a window is open; None: no window is open, or it is unknown.
        published_us: when something was last published.
        holes: how many intervals are missing.
        late, quarantined: rows of the last `RECENT` batches.
        verdict: of the suite that ran last; None without suites.
        states: of its batches; None where they are not known.
        fresh: the target of the definition, and how far it is from it.
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
    states: BatchStates | None = None
    fresh: Freshness | None = None
    calls: tuple[Call, ...] = ()

    @property
    def past(self) -> bool:
        """Whether it works through the past."""
        return self.watermark_us is not None and self.lag_us is None


def overview(pipeline_places: Mapping[str, Place], now_us: int, around: Around = NOTHING) -> list[Line]:
    """A line for each pipeline, in the order given; pipelines that need a person come first."""
    # each waits for disks; in the context of the request, which knows the reader's clock
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        asked = [
            threads.submit(copy_context().run, line, each, now_us, around)
            for each in pipeline_places.values()
        ]
        lines = [each.result() for each in asked]
    return sorted(lines, key=lambda each: not each.calls)


def line(pipeline_place: Place, now_us: int, around: Around = NOTHING) -> Line:
    """The line of one pipeline."""
    if pipeline_place.pipeline is None:
        what = (
            f"its file {pipeline_place.file} cannot be run"
            if pipeline_place.file
            else "only its state is there: no file defines it"
        )
        return Line(
            pipeline_place.name,
            calls=(
                Call(what, "see what is wrong, and mend it", f"muntin check {pipeline_place.file or 'FILE'}"),
            ),
        )
    try:
        bound = bind(pipeline_place.pipeline, pipeline_place.root)
        if not bound.folder.is_dir():
            if newest_earlier(bound) is None:  # it never ran, which needs no person
                return Line(pipeline_place.name)
            file, root = quote(str(pipeline_place.file)), quote(str(pipeline_place.root))
            command = f"muntin run --rebuild {file} --root {root}"
            call = Call("its definition has changed what states hold", "read the batches again", command)
            return Line(pipeline_place.name, calls=(call,))
        now = status(
            pipeline_place.pipeline,
            root=pipeline_place.root,
            now_us=now_us,
            airflow_runs=around.of(pipeline_place.name),
        )
        return _line(pipeline_place, pipeline_place.pipeline, bound, now, around, now_us)
    except MuntinError as wrong:
        return Line(pipeline_place.name, calls=(Call("it cannot be read", str(wrong)),))


def _line(
    pipeline_place: Place,
    pipeline: Pipeline,
    bound: Bound,
    now: PipelineStatus,
    around: Around,
    now_us: int,
) -> Line:
    since, counts = (
        [instant_us(window.open_since, "time") for window in now.windows if window.open_since],
        [window.open for window in now.windows],
    )
    read = accumulated(bound, bound.frame_sets[0].table)
    some = zip(read.start_us[-RECENT:].tolist(), read.end_us[-RECENT:].tolist(), strict=True)
    verdicts_of_windows = ((name, last_verdicts(bound.folder, name)) for name in bound.pipeline.guarded)
    reports = batch_reports(bound, [Interval(start, end) for start, end in some])
    verdicts = [verdicts[0] | {"window": name} for name, verdicts in verdicts_of_windows if verdicts]
    worst = max(verdicts, key=lambda each: (_GRAVE.get(each["status"], 0), each["recorded_at"]), default=None)
    published_us = now.states.published_us if now.states else None
    watermark_us = None if now.watermark is None else instant_us(now.watermark, "time")
    late, refused = (
        sum(getattr(report, name) for report in reports) for name in ("rows_late", "rows_quarantined")
    )
    return Line(
        pipeline_place.name,
        shown=True,
        batches=now.batches,
        watermark_us=watermark_us,
        lag_us=_lag(now, watermark_us, now_us),
        opened=None if None in counts else sum(count or 0 for count in counts),
        open_us=min(since, default=None),
        published_us=None if published_us is None else published_us // 1_000_000 * 1_000_000,
        holes=len(now.missing or ()),
        late=late,
        quarantined=refused,
        verdict=worst["verdict"] if worst else None,
        states=now.states,
        fresh=now.fresh,
        calls=calls(pipeline_place, pipeline, now, reports, around, now_us),
    )


def _lag(now: PipelineStatus, watermark_us: int | None, now_us: int) -> int | None:
    """How long ago the watermark is, of a pipeline that keeps up, that says how fresh it should be, or that
    is less than a week behind.
    """
    if watermark_us is None:
        return None
    lag_us, keeps_up = now_us - watermark_us, now.states is not None and now.states.keeps_up
    return lag_us if keeps_up or now.fresh or lag_us <= _WEEK_US else None


_GRAVE = {"passed": 0, "warning": 1, "failed": 2}
