"""Calls: what needs a person, each with what to do and, where it can be, the command; the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote

from muntin.definition.instants import instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import lasting, many
from muntin.extensions.page.html import instant, span
from muntin.extensions.page.installation import Place
from muntin.extensions.page.views.commands import Again, again, begin, clear
from muntin.extensions.page.views.held import Around
from muntin.jobs.inspect.status import PipelineStatus
from muntin.jobs.records.batch_states import ASK, CORRECT, NEED_A_PERSON, Stretch, stretches
from muntin.jobs.records.reports import BatchReport

_TOLD = 3  # holes
_MOST = 5  # stretches of batches


@dataclass(frozen=True, slots=True)
class Call:
    """Something that needs a person.

    Attributes:
        what: is wrong.
        do: what to do about it.
        command: to be typed as it stands.
        link: where the log of the run is.
        more: lines of detail: the reason, the failed checks of a suite.
        verdict: the name of the verdict that holds batches, which a person may publish all the same.
    """

    what: str
    do: str
    command: str | None = None
    link: str | None = None
    more: tuple[str, ...] = field(default=())
    verdict: str | None = None


def calls(
    pipeline_place: Place,
    pipeline: Pipeline,
    now: PipelineStatus,
    reports: Sequence[BatchReport],
    around: Around,
    now_us: int,
) -> tuple[Call, ...]:
    """Everything of a pipeline that needs a person, the gravest first."""
    all_calls = [
        *_of_batches(pipeline_place, pipeline, now, around),
        *_of_unpublished(pipeline_place, now, around),
    ]
    if now.fresh is not None and not now.fresh.met:
        what = f"not fresh: {now.fresh.in_words(lasting)}, the target is {lasting(now.fresh.within_us)}"
        all_calls.append(Call(what, "see which batch waits, and for what"))
    all_calls += _of_silence(pipeline_place, now, around, now_us)
    all_calls += _of_holes(pipeline_place, pipeline, now, around)
    at = f"{quote(str(pipeline_place.file))} --root {quote(str(pipeline_place.root))}"
    if now.unforgotten:
        what = f"something may be left of {many(now.unforgotten, 'key')} to be forgotten"
        do = "run muntin forget with these keys again; without a key it lists the requests"
        all_calls.append(Call(what, do, f"muntin forget {at}"))
    all_calls += [Call(line, "the next run compares again") for line in now.unsettled]
    command, do = f"muntin status --sinks {at}", "the next run tries again; so does"
    all_calls += [
        Call(f"{each.window} was not sent to {each.sink}: {each.failed}", do, f"{command} --send")
        for each in now.sinks
        if each.failed
    ]
    all_calls += [
        Call(
            f"{many(len(each.misfits), 'window')} of {each.window} not as published at {each.sink}",
            "named, with column and reason, by",
            command,
        )
        for each in now.sinks
        if each.misfits
    ]
    if refused := sum(report.rows_quarantined for report in reports):
        what = f"{many(refused, 'row')} quarantined in the last {many(len(reports), 'batch')}"
        all_calls.append(Call(what, "see the reasons under Quarantine"))
    return tuple(all_calls)


def _of_batches(pipeline_place: Place, pipeline: Pipeline, now: PipelineStatus, around: Around) -> list[Call]:
    """The batches that failed, and the batches that a suite holds."""
    batch_stretches = stretches(now.states.of(*NEED_A_PERSON)) if now.states else []
    left = len(batch_stretches) - _MOST
    all_calls = [
        _of_stretch(pipeline_place, pipeline, each, around) for each in reversed(batch_stretches[-_MOST:])
    ]
    if left > 0:
        what = f"{many(left, 'earlier stretch')} of batches failed or held"
        all_calls.append(Call(what, "see them in the table of batches"))
    return all_calls


def _of_stretch(pipeline_place: Place, pipeline: Pipeline, each: Stretch, around: Around) -> Call:
    one = each.one
    count = f"{many(len(each.batches), 'batch')} " if len(each.batches) > 1 else "batch "
    held = one.state == "held"
    first_us, last_us = each.rows_of
    whose = span(first_us, pipeline.intervals.after(last_us))
    runs = f"run {whose} again" if one.culprits else "run it again"
    do = f"nothing of that run is published: {CORRECT}; then {runs}" if held else f"mend that, then {runs}"
    if held and any(
        (run.step, run.phase, run.link) == (ASK, "queued", one.link)
        for run in around.of(pipeline_place.name) or ()
    ):
        do = f"a question waits in Airflow, under Required Actions: answer it; or {CORRECT}, and {runs}"
    what = "held by a verdict" if held else f"failed at {one.step}"
    step = "accumulate" if held or one.step == "check" else one.step
    command = (
        _cleared(pipeline_place, pipeline, each, step)
        if around.in_airflow and one.link
        else _again(pipeline_place, pipeline, each).command
    )
    return Call(
        f"{count}{span(each.start_us, each.end_us)} {what}",
        do,
        command,
        one.link,
        (*([one.reason] if one.reason else []), *one.checks),
        one.verdict,
    )


def _again(pipeline_place: Place, pipeline: Pipeline, each: Stretch) -> Again:
    """How the batches run again whose rows need a mend."""
    first_us, last_us = each.rows_of
    return again(pipeline_place, first_us, pipeline.intervals.after(last_us), last_us)


def _cleared(pipeline_place: Place, pipeline: Pipeline, each: Stretch, step: str | None) -> str | None:
    """The command by which Airflow does the runs of a stretch again: no command clears runs by hand, which
    have no logical date, and the runs of batches outside of the stretch may be such runs.
    """
    first_us, last_us = each.rows_of
    is_inside = each.start_us <= first_us and last_us < each.end_us
    by_hand = any(f"/runs/{kind}__" in (each.one.link or "") for kind in ("manual", "asset_triggered"))
    if is_inside and not by_hand:
        return clear(pipeline_place, first_us, last_us, step)
    if first_us == last_us:
        return begin(pipeline_place, first_us)
    return _again(pipeline_place, pipeline, each).airflow or begin(pipeline_place, last_us)


def _of_unpublished(pipeline_place: Place, now: PipelineStatus, around: Around) -> list[Call]:
    """Batches that were read, wait for nothing, and that no run is at work on."""
    left = now.states.of("read") if now.states else []
    if not left:
        return []
    how = again(pipeline_place, left[0].start_us, left[-1].end_us, left[-1].start_us)
    command = how.airflow if around.in_airflow else how.command
    return [
        Call(
            f"{many(len(left), 'batch')} read and not published",
            "no run is at work on them; the next run publishes them, or",
            command,
        )
    ]


def _of_holes(pipeline_place: Place, pipeline: Pipeline, now: PipelineStatus, around: Around) -> list[Call]:
    holes = [(instant_us(low, "time"), instant_us(high, "time")) for low, high in now.missing or ()]
    failed = {each.start_us for each in now.states.of(*NEED_A_PERSON, "running")} if now.states else set()
    holes = [hole for hole in holes if hole[0] not in failed]
    if not holes:
        return []
    named = ", ".join(instant(low) for low, _ in holes[:_TOLD]) + (", ..." if len(holes) > _TOLD else "")
    waiting = f"; {many(len(now.waiting), 'batch')} waiting for it" if now.waiting else ""
    how = again(
        pipeline_place, holes[0][0], pipeline.intervals.after(holes[0][0]), holes[0][0], reprocess=False
    )
    command = how.airflow or how.command if around.in_airflow or not how.command else how.command
    return [
        Call(f"{many(len(holes), 'interval')} missing: {named}{waiting}", "run it, as by a backfill", command)
    ]


def _of_silence(pipeline_place: Place, now: PipelineStatus, around: Around, now_us: int) -> list[Call]:
    """The call for a pipeline that kept up with its schedule, and stopped.

    A pipeline that works through the past never kept up.
    """
    last = now.states.last if now.states and now.states.keeps_up else None
    if last is None or now.states is None or now.states.of("running", *NEED_A_PERSON):
        return []
    start, end = last
    if now_us - end <= 2 * (end - start):
        return []
    what = f"no batch since {instant(start)}"
    if pipeline_place.name in around.paused:
        return [Call(what, "its DAG is paused", f"airflow dags unpause {quote(pipeline_place.name)}")]
    if around.dead:
        return [Call(what, "see the top of the page: Airflow is not at work")]
    return [Call(what, "see whether the DAG is paused or its scheduler is dead")]
