"""The message of a run, or of a backfill: plain text, and Markdown. Pure: findings go in, texts come out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Literal

from muntin.definition.instants import spell_instant
from muntin.definition.spelling import many
from muntin.definition.time_limits import PUBLISH_DESPITE
from muntin.extensions.alerts.findings import row_lines, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.definition.schedule import Interval
    from muntin.extensions.alerts.facts import Run
    from muntin.extensions.alerts.findings import Finding

Tone = Literal["failure", "warning", "success"]
MAX_ROWS = 10
_PROBLEMS, _PLACES = 20, 5


@dataclass(frozen=True, slots=True)
class Message:
    """A message for a channel; `tone` is Apprise's type of a message."""

    tone: Tone
    title: str
    text: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question that waits for a person: until when, in microseconds, and the address of its form."""

    until_us: int
    link: str


@dataclass(frozen=True, slots=True)
class Part:
    """A line that stands alone, and lines that belong to it."""

    head: str
    lines: tuple[str, ...] = ()


def message(
    run: Run, findings: Sequence[Finding], over: Sequence[Finding] = (), settled: Sequence[Finding] = ()
) -> Message:
    """The message of one run: what is wrong, what is well again, what became of the data, and how to go on.

    `settled`: problems that a person has ended by an approval.
    """
    parts = [
        Part(f"pipeline {run.pipeline}, interval {run.interval} UTC"),
        *_problems(findings, run.interval),
        *_approved(run, settled),
        *_recovered(over),
        *_data(run, findings),
    ]
    counts = [*(["a question waits"] if run.asked_until_us else []), *filter(None, [_counted(findings)])]
    counts += ["published as approved"] if settled else []
    title = f"{', '.join(counts) or 'well again'}, {_place(run, [*findings, *settled], over)}"
    written = _written(run.pipeline, title, findings, parts)
    return replace(written, tone="warning") if settled and not findings else written


def kept_held(run: Run) -> Message:
    """The message of a question that was answered by no, or not at all: what failed was reported when it was
    put.
    """
    parts = [
        Part(f"pipeline {run.pipeline}, interval {run.interval} UTC"),
        Part("stays held:", (shortened(run.kept),)),
    ]
    parts += [
        *_data(run, ()),
        *_go_on(run.link, failed=True),
        Part("or publish it all the same:", (PUBLISH_DESPITE.format(run.verdict),)),
    ]
    return _of_parts("failure", f"{run.pipeline}: stays held, {run.interval}", parts)


def _approved(run: Run, settled: Sequence[Finding]) -> Iterator[Part]:
    for each in run.approved if settled else ():
        words = f"{each['by']}: {each['reason'] or 'no reason was given'}"
        yield Part(
            "published although a check failed:",
            (shortened(words), *(f"{shortened(one.what)}: {one.interval}" for one in settled[:_PROBLEMS])),
        )


def summary(
    pipeline: str,
    runs: int,
    failed: int,
    findings: Sequence[Finding],
    over: Sequence[Finding] = (),
    *,
    link: str = "",
) -> Message:
    """The message of a backfill: so many runs, what is wrong in all of them, and what is well again."""
    head = Part(
        f"pipeline {pipeline}, a backfill of {many(runs, 'run')}: {runs - failed:,} well, {failed:,} failed"
    )
    data = (
        [Part("of the runs that failed nothing was published; what was published before stays as it is")]
        if failed
        else []
    )
    parts = [
        head,
        *_problems(findings),
        *_recovered(over),
        *data,
        *_go_on(link if findings else "", failed=bool(failed)),
    ]
    return _written(
        pipeline,
        f"backfill of {many(runs, 'run')}, {failed:,} failed, {_counted(findings) or 'well again'}",
        findings,
        parts,
    )


def silence(
    pipeline: str, run: str, interval: Interval | None, after: str, question: Question | None = None
) -> Message:
    """The message of a run that has not ended in time. `question`: that it waits for."""
    return _overdue(
        pipeline,
        "silent",
        interval,
        f"run {run} has not ended {after} after it was queued",
        "nothing was published of it yet; what was published before stays as it is",
        _waiting(question)
        if question
        else Part(
            "look whether its files are there, whether Spark answers, and whether Airflow has a free slot"
        ),
    )


def not_fresh(
    pipeline: str, run: str, interval: Interval | None, within: str, question: Question | None = None
) -> Message:
    """The message of a batch that is not published as soon as `fresh_within` asks.

    `question`: that the run waits for.
    """
    return _overdue(
        pipeline,
        "not fresh",
        interval,
        f"run {run} has not published {within} after its interval",
        "what was published before stays as it is",
        _waiting(question)
        if question
        else Part("look at the run's tasks; muntin status says which batch waits, and for what"),
    )


def _overdue(
    pipeline: str, how: str, interval: Interval | None, late: str, data: str, go_on: Part
) -> Message:
    head = Part(f"pipeline {pipeline}{f', interval {interval} UTC' if interval else ''}", (late,))
    title = f"{pipeline}: {how}{f', {interval}' if interval else ''}"
    return _of_parts("warning", title, (head, Part(data), go_on))


def _waiting(question: Question) -> Part:
    lines = (
        f"answer it until {spell_instant(question.until_us)} UTC in Airflow, under Required Actions:",
        question.link,
    )
    return Part(
        "a suite holds its windows, and a question waits: are they published all the same?",
        tuple(filter(None, lines)),
    )


def _written(pipeline: str, title: str, findings: Sequence[Finding], parts: Sequence[Part]) -> Message:
    is_critical = any(one.severity == "critical" for one in findings)
    tone: Tone = "failure" if is_critical else "warning" if findings else "success"
    return _of_parts(tone, f"{pipeline}: {title}", parts)


def _of_parts(tone: Tone, title: str, parts: Sequence[Part]) -> Message:
    return Message(tone, title, "\n\n".join(map(_text, parts)), "\n\n".join(map(_markdown, parts)))


def _text(part: Part) -> str:
    return "\n".join([part.head, *(f"  {line}" for line in part.lines)])


def _markdown(part: Part) -> str:
    """A part in Markdown. Its lines stand in a fence, where nothing that comes of data is markup."""
    inside = "\n".join(part.lines).replace("`", "'")
    head = "".join(f"\\{letter}" if letter in "\\`*_[]<>#|~" else letter for letter in part.head)
    return f"**{head}**" + (f"\n```\n{inside}\n```" if part.lines else "")


def _counted(findings: Sequence[Finding]) -> str:
    counts = {
        severity: sum(one.severity == severity for one in findings) for severity in ("critical", "warning")
    }
    return ", ".join(f"{count:,} {severity}" for severity, count in counts.items() if count)


def _problems(findings: Sequence[Finding], whole: Interval | None = None) -> Iterator[Part]:
    """A part for each problem, with the places where it was met; at most `MAX_ROWS` failing rows over all."""

    def rank(one: Finding) -> tuple[bool, str, str]:
        return one.severity != "critical", one.kind, one.what

    ordered = sorted(findings, key=lambda one: (rank(one), one.interval))
    groups = [list(group) for _, group in groupby(ordered, rank)]
    left = MAX_ROWS
    for group in groups[:_PROBLEMS]:
        rows = tuple(islice((row for one in group for row in one.rows), left))
        left -= len(rows)
        yield Part(
            f"{group[0].severity}: {shortened(group[0].what)}", (*_places(group, whole), *row_lines(rows))
        )
    if len(groups) > _PROBLEMS:
        yield Part(f"and {many(len(groups) - _PROBLEMS, 'problem')} more: the log has all")


def _places(group: Sequence[Finding], whole: Interval | None) -> list[str]:
    """Where a problem was met, unless that is the `whole` run, and what was observed."""
    if len(group) == 1 and group[0].interval == whole:
        return [shortened(group[0].observed)]
    if len(group) == 1:
        return [f"{group[0].interval}: {shortened(group[0].observed)}"]
    lines = [
        f"in {len(group):,} intervals:",
        *(f"{one.interval}: {shortened(one.observed)}" for one in group[:_PLACES]),
    ]
    return [*lines, f"and {len(group) - _PLACES:,} more"] if len(group) > _PLACES else lines


def _recovered(over: Sequence[Finding]) -> Iterator[Part]:
    if over:
        lines = (
            f"{shortened(one.what)}: "
            + (f"{one.interval}" if one.is_held else f"last in {one.interval}, not in {one.observed}")
            for one in over[:_PROBLEMS]
        )
        yield Part("well again:", tuple(lines))


def _place(run: Run, findings: Sequence[Finding], over: Sequence[Finding]) -> str:
    """The interval that a message is about: of the run; of the recovered intervals, if it reports recoveries
    alone.
    """
    places = list(dict.fromkeys(one.interval for one in over))
    if findings or not all(one.is_held for one in over):
        return str(run.interval)
    return str(places[0]) if len(places) == 1 else many(len(places), "interval")


def _data(run: Run, findings: Sequence[Finding]) -> Iterator[Part]:
    """The state of the data, and the command or the address that goes on."""
    if run.failed:
        stays = (
            f"what was published before stays as it is, up to {spell_instant(run.stays_us)} UTC"
            if run.stays_us is not None
            else ""
        )
        yield Part(f"nothing was published; {stays or 'nothing was published before'}")
        if starts := sorted({start for report in run.quality for start in report.get("culprits", ())}):
            named = ", ".join(map(spell_instant, starts[:_PLACES])) + (", ..." if starts[_PLACES:] else "")
            yield Part(f"the failing windows are made of {many(len(starts), 'batch')}: {named}")
    else:
        windows = run.published or {}
        published_windows = ", ".join(
            f"{window} of {many(len(starts), 'batch')}" for window, starts in windows.items() if starts
        )
        yield Part(f"published: {published_windows or 'nothing new; every window is as it was'}")
    if run.asked_until_us is not None:
        yield _waiting(Question(run.asked_until_us, run.link))
        yield Part(
            "without an answer they stay held; or correct the source (or the suite), and run it again from"
            " accumulate on"
        )
    elif findings:
        yield from _go_on(run.link, failed=run.failed)


def _go_on(link: str, *, failed: bool) -> Iterator[Part]:
    if link:
        yield Part(
            "correct the source (or the suite), then run it again:" if failed else "to look at it:", (link,)
        )
