"""Sessions that go on from a note, their settled states combined to one: any history equals a clean run's, to the last bit."""

import pytest

from muntin.timeline import reconcile
from muntin.windows.kinds.session import Session
from tests.case_counts import cases
from tests.properties.random_cases import Case, case
from tests.properties.random_histories import Desk
from tests.properties.test_any_history import first_mistake

HISTORIES = cases(600)


def sessions(count: int) -> list[Case]:
    found = (case(seed) for seed in range(10 * count))
    return [each for each, _ in zip((each for each in found if isinstance(each.ours, Session)), range(count), strict=False)]


def test_every_history_equals_a_clean_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are read wherever they may be, however short the sessions."""
    monkeypatch.setattr(reconcile, "LONG_OPEN", -1000)
    read: list[int] = []
    plain = Desk.finalize

    def counted(desk: Desk, asked: object = ()) -> object:
        work = plain(desk, asked)
        read.append(len(work.note))
        return work

    monkeypatch.setattr(Desk, "finalize", counted)
    wrong = {given.seed: said for given in sessions(max(20, HISTORIES // 8)) if (said := first_mistake(given))}
    assert wrong == {}
    assert sum(read) > HISTORIES // 40


def test_a_session_open_for_long_reads_its_last_states_only() -> None:
    """Forty batches of one session: what the last finalize reads does not grow with them."""
    given = next(each for each in sessions(40) if each.ours.grace_us == 0 and each.keys and each.width <= each.ours.gap_us)
    desk, start = Desk(given), given.batches[0].start
    gap, length = given.ours.gap_us, given.batches[0].end - given.batches[0].start
    sizes = []
    long = Case(given.seed, given.ours, given.theirs, given.width, given.keys, "interval", tuple(replaced(given, at) for at in range(60)))
    desk = Desk(long)
    for at in range(60):
        times = range(start + at * length, start + (at + 1) * length, min(gap, length))
        rows = [{"t": t, "k": "a", "v": 1, "x": 0.1 * n, "s": "p"} for n, t in enumerate(times)]
        asked = desk.accumulate(at, rows)
        todo = desk.to_do([asked])
        sizes.append(len(desk.read(todo).frames))
        desk.finalize([asked])
    assert max(sizes[40:]) < max(sizes[:40])
    assert not desk.wrong()


def replaced(given: Case, at: int) -> object:
    """An empty batch at a place."""
    first, length = given.batches[0], given.batches[0].end - given.batches[0].start
    return type(first)(first.start + at * length, first.start + (at + 1) * length, ())
