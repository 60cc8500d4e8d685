"""The state of a batch, decided from the facts alone: the same words on the page, in `muntin status`, in JSON
and in metrics.

missing     no run has read it
queued      its run is queued
running     a run is at work on it since then, at this step
failed      its newest run failed at a step, for this reason
held        a suite holds windows back that are made of its rows: these checks failed
read        read; the next run publishes it
waiting     read, and cannot be published before other batches: `reason` says which
published   readers see what its rows make
corrected   so they do, and it had been published from another source before
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from muntin.definition.instants import spell_instant
from muntin.jobs.records.processes import KILLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.records.attempts import Attempt

State = Literal["missing", "queued", "running", "failed", "held", "read", "waiting", "published", "corrected"]
STATES: tuple[State, ...] = get_args(State)
NEED_A_PERSON: tuple[State, ...] = ("failed", "held")
CORRECT = "correct the rows in the source, or the suite if that is wrong"
"""What a person does first about held windows."""
_VALIDATE = "validate"
_NAMED = 3  # culprits
ASK = "ask"
"""The step of Airflow's runs that asks a person whether to publish what a suite holds."""


@dataclass(frozen=True, slots=True)
class Held:
    """A suite's last verdict that a window's staged batches failed.

    Attributes:
        window, at_us, verdict: of which window, when, in words.
        checks: the failed checks, a line each.
        name: of the verdict.
        culprits: starts of the batches that the failing windows are made of, published batches too; None: the
            checks do not say.
        batches: starts of the first and the last batch that it holds.
    """

    window: str
    at_us: int
    verdict: str
    checks: tuple[str, ...]
    name: str | None = None
    culprits: tuple[int, ...] | None = None
    batches: tuple[int, int] = (0, 0)

    def blames(self, start_us: int) -> bool:
        """Whether a batch is held: failing windows are made of its rows, or of no held batch's rows, or the
        checks do not say.
        """
        first, last = self.batches
        is_of_held = any(first <= culprit <= last for culprit in self.culprits or ())
        return not is_of_held or start_us in (self.culprits or ())

    def reason(self, start_us: int) -> str:
        """Why a batch is held, with the batches that brought the rows if it did not."""
        brought = (
            f", made of rows of {_spelled(self.culprits)}"
            if self.culprits and start_us not in self.culprits
            else ""
        )
        return f"{self.window}: {self.verdict}{brought}"


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about one batch; instants in microseconds.

    Attributes:
        start_us, end_us: its interval.
        is_read: whether there are states of it.
        is_published: whether the windows that readers see are of its newest states.
        is_corrected: whether it was read again from another source.
        behind_us: start of the missing interval that it waits for.
        read_us, published_us: when it was last read, last published.
        attempt: the newest run that is about it and has not published.
        held: the newest failed verdict that is about it.
        despite: in words, who let its windows be published although their suite failed, and why.
    """

    start_us: int
    end_us: int
    is_read: bool
    is_published: bool = False
    is_corrected: bool = False
    behind_us: int | None = None
    read_us: int | None = None
    published_us: int | None = None
    attempt: Attempt | None = None
    held: Held | None = None
    despite: str | None = None


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of one batch; instants in microseconds.

    Attributes:
        start_us, end_us: its interval.
        state: the state.
        since_us: since when, where that is known.
        step: the step that a run is at, or failed at.
        reason: why it failed, is held, or waits.
        link: the log of the run.
        checks: the failed checks of the suite that holds it, a line each.
        verdict: the name of the verdict that holds it, by which a person may publish it all the same.
        despite: in words, who let it be published although its suite failed, and why.
        culprits: starts of the batches whose rows are in the failing windows; empty: the checks do not say.
    """

    start_us: int
    end_us: int
    state: State
    since_us: int | None = None
    step: str | None = None
    reason: str | None = None
    link: str | None = None
    checks: tuple[str, ...] = ()
    verdict: str | None = None
    despite: str | None = None
    culprits: tuple[int, ...] = ()


def state_of(facts: Facts) -> BatchState:
    """The state of a batch. The newest word counts: a failure until the batch was read or published since."""
    attempt = facts.attempt if facts.attempt and not _is_outlived(facts.attempt, facts) else None
    if attempt and attempt.phase == "running":
        return _of(facts, "running", attempt.began_us, attempt.step, link=attempt.link)
    if facts.held and _holds(facts.held, attempt, facts):
        link = attempt.link if attempt else None
        if not facts.held.blames(facts.start_us):
            return _of(facts, "waiting", facts.held.at_us, reason=_innocent(facts.held), link=link)
        held = _of(facts, "held", facts.held.at_us, _VALIDATE, facts.held.reason(facts.start_us), link)
        culprits = facts.held.culprits or ()
        return replace(held, checks=facts.held.checks, verdict=facts.held.name, culprits=culprits)
    if attempt and attempt.phase in ("failed", "killed"):
        reason = attempt.reason or (
            KILLED if attempt.phase == "killed" else "no reason is known here: see its log"
        )
        return _of(facts, "failed", attempt.at_us, attempt.step, reason, attempt.link)
    if facts.is_published:
        return replace(
            _of(facts, "corrected" if facts.is_corrected else "published", facts.published_us),
            despite=facts.despite,
        )
    return _unpublished(facts, attempt)


def _unpublished(facts: Facts, queued: Attempt | None) -> BatchState:
    if queued:
        return _of(facts, "queued", queued.at_us, link=queued.link)
    if not facts.is_read:
        return _of(facts, "missing", facts.end_us, reason="no run has read it")
    if facts.behind_us is not None:
        return _of(facts, "waiting", facts.read_us, reason="an interval before it is missing")
    return _of(facts, "read", facts.read_us, reason="the next run publishes it")


def _innocent(held: Held) -> str:
    """Why a batch waits whose rows are in no failing window."""
    culprits = _spelled(held.culprits or ())
    return f"its windows were staged with those of {culprits}, which the suite of {held.window} holds"


def _spelled(starts: Sequence[int]) -> str:
    return ", ".join(map(spell_instant, starts[:_NAMED])) + (", ..." if len(starts) > _NAMED else "")


def _holds(held: Held, attempt: Attempt | None, facts: Facts) -> bool:
    """Whether the suite's verdict is the newest word on windows that are not published."""
    if attempt and attempt.phase in ("failed", "killed"):
        return (
            attempt.step in (_VALIDATE, ASK) and attempt.phase == "failed" and held.at_us >= attempt.began_us
        )
    return facts.is_read and not facts.is_published


def _is_outlived(attempt: Attempt, facts: Facts) -> bool:
    """Whether a failed run needs no mend any more: its batch was read after it failed to read it, or is
    published after all.
    """
    if attempt.phase in ("running", "queued") or not facts.is_published:
        return False
    return attempt.step not in ("check", "accumulate") or (
        facts.read_us is not None and facts.read_us > attempt.at_us
    )


def _of(
    facts: Facts,
    state: State,
    since_us: int | None,
    step: str | None = None,
    reason: str | None = None,
    link: str | None = None,
) -> BatchState:
    return BatchState(facts.start_us, facts.end_us, state, since_us, step, reason, link)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Adjacent batches in one state, for one reason."""

    batches: tuple[BatchState, ...]

    @property
    def one(self) -> BatchState:
        return self.batches[-1]

    @property
    def start_us(self) -> int:
        return self.batches[0].start_us

    @property
    def end_us(self) -> int:
        return self.batches[-1].end_us

    @property
    def rows_of(self) -> tuple[int, int]:
        """Starts of the first and the last batch whose rows need a mend, and that run again then."""
        starts = self.one.culprits or (self.start_us, self.batches[-1].start_us)
        return starts[0], starts[-1]


def stretches(batches: Sequence[BatchState]) -> list[Stretch]:
    """Batches, ascending, joined where neighbours say the same."""
    groups: list[list[BatchState]] = []
    for each in batches:
        if groups and groups[-1][-1].end_us == each.start_us and _says(groups[-1][-1]) == _says(each):
            groups[-1].append(each)
        else:
            groups.append([each])
    return [Stretch(tuple(each)) for each in groups]


def _says(one: BatchState) -> tuple[object, ...]:
    link = one.link if one.state != "held" else None  # each run of a held batch names the same verdict
    return one.state, one.step, one.reason, link, one.checks, one.verdict, one.despite


def spelled(one: BatchState, moment: str | None = None) -> str:
    """A state in words. `moment`: `since_us` as the reader's clock has it.

    >>> spelled(BatchState(0, 1, "failed", 5, "accumulate", "SourceError: no file"))
    'failed at accumulate: SourceError: no file'
    """
    match one.state:
        case "running":
            return f"running since {moment}, at {one.step}" if moment else f"running, at {one.step}"
        case "failed":
            return f"failed at {one.step}{f', {moment}' if moment else ''}: {one.reason}"
        case "held":
            return f"held by the verdict on {one.reason}{f', {moment}' if moment else ''}"
        case "waiting" | "missing" | "read":
            return f"{one.state}: {one.reason}"
    return f"{one.state} {one.despite}" if one.despite else one.state
