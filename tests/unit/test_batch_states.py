"""The state of a batch by table: facts in, a state out. Nothing is read, and no clock is asked."""

from dataclasses import replace

import pytest

from muntin.jobs.records.attempts import Attempt
from muntin.jobs.records.batch_states import BatchState, Facts, Held, State, spelled, state_of, stretches

READ = Facts(0, 10, is_read=True, read_us=20)
PUBLISHED = replace(READ, is_published=True, published_us=30)
MISSING = Facts(0, 10, is_read=False)
HELD = Held("day", 40, "failed: 1 critical", ("critical: n",))


def attempt(phase: str, step: str = "finalize", *, at: int = 50, reason: str | None = "OSError: full") -> Attempt:
    return Attempt("run", ((0, 10),), phase, step, at - 5, at, reason=reason, link="http://log")  # type: ignore[arg-type]


RUNNING, FAILED, KILLED, QUEUED = (attempt(phase) for phase in ("running", "failed", "killed", "queued"))


@pytest.mark.parametrize(
    ("facts", "state", "since_us"),
    [
        (MISSING, "missing", 10),
        (READ, "read", 20),
        (replace(READ, behind_us=-10), "waiting", 20),
        (PUBLISHED, "published", 30),
        (replace(PUBLISHED, is_corrected=True), "corrected", 30),
        (replace(READ, is_corrected=True), "read", 20),  # the correction is read, and not published yet
        # a run
        (replace(MISSING, attempt=QUEUED), "queued", 50),
        (replace(MISSING, attempt=RUNNING), "running", 45),
        (replace(PUBLISHED, attempt=RUNNING), "running", 45),
        (replace(MISSING, attempt=FAILED), "failed", 50),
        (replace(READ, attempt=KILLED), "failed", 50),
        (replace(PUBLISHED, attempt=QUEUED), "published", 30),
        # a failure, and what came after it
        (replace(PUBLISHED, attempt=attempt("failed", "accumulate")), "failed", 50),  # it was to be read again, and was not
        (replace(PUBLISHED, attempt=attempt("failed", "check", at=15)), "published", 30),  # it was read since
        (replace(PUBLISHED, attempt=FAILED), "published", 30),  # whatever failed, its windows are those of its states
        (replace(PUBLISHED, attempt=attempt("killed", "publish")), "published", 30),  # killed after the commit
        # a suite
        (replace(READ, held=HELD), "held", 40),
        (replace(READ, held=HELD, attempt=attempt("failed", "validate")), "held", 40),
        (replace(READ, held=HELD, attempt=attempt("queued", "ask")), "held", 40),  # a person is asked
        (replace(READ, held=replace(HELD, at_us=46), attempt=attempt("failed", "ask")), "held", 46),  # the answer was no
        (replace(PUBLISHED, held=HELD, despite="despite the suite"), "published", 30),
        (replace(READ, held=HELD, attempt=RUNNING), "running", 45),
        (replace(READ, held=HELD, attempt=FAILED), "failed", 50),  # a later run did not come as far as the suite
        (replace(READ, held=replace(HELD, at_us=46), attempt=attempt("failed", "validate")), "held", 46),
        (replace(READ, held=replace(HELD, at_us=3), attempt=attempt("failed", "validate")), "failed", 50),  # the suite could not be run
        (replace(PUBLISHED, held=HELD), "published", 30),
        (replace(MISSING, held=HELD), "missing", 10),
        (replace(READ, held=replace(HELD, culprits=(0,))), "held", 40),
        (replace(READ, held=replace(HELD, culprits=(-10,), batches=(-10, 0))), "waiting", 40),  # the rows of another held batch failed
        (replace(READ, held=replace(HELD, culprits=(-10,), batches=(0, 0))), "held", 40),  # the rows of a published batch failed
    ],
)
def test_state(facts: Facts, state: str, since_us: int) -> None:
    held_at = attempt("failed", "validate", at=44)  # began before the verdict
    facts = replace(facts, attempt=held_at) if facts.held == HELD and facts.attempt and facts.attempt.step == "validate" else facts
    found = state_of(facts)
    assert (found.state, found.since_us) == (state, since_us)


def test_a_state_has_its_reason_its_step_and_its_link() -> None:
    failed, killed, held = (
        state_of(replace(READ, **more))  # type: ignore[arg-type]
        for more in ({"attempt": FAILED}, {"attempt": attempt("killed", reason=None)}, {"held": HELD})
    )
    assert (failed.step, failed.reason, failed.link) == ("finalize", "OSError: full", "http://log")
    assert "killed" in (killed.reason or "")
    assert (held.step, held.reason, held.checks) == ("validate", "day: failed: 1 critical", ("critical: n",))


# what runs again: the batches whose rows are in failing windows, else the batches themselves
@pytest.mark.parametrize(("culprits", "first", "last"), [((), 20, 30), ((0,), 0, 0), ((0, 20), 0, 20)])
def test_the_batches_whose_rows_need_a_mend(culprits: tuple[int, ...], first: int, last: int) -> None:
    (found,) = stretches([BatchState(start, start + 10, "held", culprits=culprits) for start in (20, 30)])
    assert found.rows_of == (first, last)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (replace(READ, attempt=RUNNING), "running since T, at finalize"),
        (replace(READ, attempt=FAILED), "failed at finalize, T: OSError: full"),
        (replace(READ, held=HELD), "held by the verdict on day: failed: 1 critical, T"),
        (
            replace(READ, held=replace(HELD, culprits=(-10,))),
            "held by the verdict on day: failed: 1 critical, made of rows of 1969-12-31T23:59:59.999990, T",
        ),
        (replace(READ, behind_us=-10), "waiting: an interval before it is missing"),
        (MISSING, "missing: no run has read it"),
        (PUBLISHED, "published"),
        (replace(PUBLISHED, despite="despite the suite of day"), "published despite the suite of day"),
    ],
)
def test_words(facts: Facts, says: str) -> None:
    assert spelled(state_of(facts), "T") == says


# start  0   10   20      40   50
#        p   p    f       f    w      a stretch ends where the state changes, and at a hole
def test_neighbours_that_say_the_same_are_one_stretch() -> None:
    found: list[tuple[int, State]] = [(0, "published"), (10, "published"), (20, "failed"), (40, "failed"), (50, "waiting")]
    batches = [BatchState(start, start + 10, state) for start, state in found]
    assert [(each.start_us, each.end_us, each.one.state) for each in stretches(batches)] == [
        (0, 20, "published"),
        (20, 30, "failed"),
        (40, 50, "failed"),
        (50, 60, "waiting"),
    ]
