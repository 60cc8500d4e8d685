"""Old bugs, put back on purpose: a simulator that does not find them finds nothing."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from muntin.errors import MuntinError
from muntin.jobs.accumulate import accumulate
from muntin.jobs.finalize import finalize
from muntin.jobs.publish import publish
from muntin.jobs.records import verdicts
from muntin.jobs.upkeep import vacuum
from muntin.timeline import carried
from muntin.timeline.carried import part_behind
from tests.simulation.tables import MemoryStore

Mutation = Callable[[pytest.MonkeyPatch], None]


def create_tries_again(patch: pytest.MonkeyPatch) -> None:
    """Two first runs publish beside each other: the second creation of a table comes behind the first, unchecked."""
    checked = MemoryStore.conflict

    def unchecked(found: Any, base: Any, change: Any, *, strict: bool) -> str | None:
        return None if base.version < 0 else checked(found, base, change, strict=strict)

    patch.setattr(MemoryStore, "conflict", staticmethod(unchecked))


def gate_stands_open(patch: pytest.MonkeyPatch) -> None:
    """Publishing trusts the order of the tasks, and looks at no verdict."""
    patch.setattr(verdicts, "check_judged", lambda _bound, _staged, _approval: None)


def vacuum_forgets_what_is_staged(patch: pytest.MonkeyPatch) -> None:
    """Vacuum between finalize and publish removes a note that only staged windows name."""
    patch.setattr(vacuum, "staged_entries", lambda _folder: [])


def note_of_another_batch(patch: pytest.MonkeyPatch) -> None:
    """The work goes on from the note that was made after the changed batch."""
    right = carried.from_note

    def wrong(count: int, ledger: Any, positions: Any, before: int) -> Any:
        work = right(count, ledger, positions, before + 1)
        return replace(work, since=min(work.since, before))

    patch.setattr(carried, "from_note", wrong)


def any_note_is_the_same(patch: pytest.MonkeyPatch) -> None:
    """Work that goes on from batch to batch ends at the first note behind the change, whatever that says."""

    def wrong(whole: Any, part: Any, _note: Any) -> Any:
        return part_behind(whole, part, whole.stops and whole.stops.note_after(int(part.positions[-1])))

    patch.setattr(finalize, "part_behind", wrong)


def tidies_up_after_any_error(patch: pytest.MonkeyPatch) -> None:
    """A run that hears of an error removes its files, though its commit may have been done."""
    whole = publish._publish

    def tidying(bound: Any, folder: str, staged: Any, now: Any, changed: Any) -> bool:
        try:
            return whole(bound, folder, staged, now, changed)
        except MuntinError:
            for file in staged.files:
                bound.store.store.disk.remove(f"{bound.table(now.table)}/{file['path']}")
            raise

    patch.setattr(publish, "_publish", tidying)


def publishes_over_others(patch: pytest.MonkeyPatch) -> None:
    """Publishing does not look whether another run published since the windows were staged."""
    patch.setattr(publish, "_base", lambda bound, staged: publish.published(bound.store, staged.window))


def batches_without_locks(patch: pytest.MonkeyPatch) -> None:
    """Two runs of one new batch commit its states beside each other."""
    patch.setattr(accumulate, "locks", lambda _starts: [])


MUTATIONS: Mapping[str, Mutation] = {
    mutation.__name__: mutation
    for mutation in (
        create_tries_again,
        gate_stands_open,
        vacuum_forgets_what_is_staged,
        note_of_another_batch,
        any_note_is_the_same,
        tidies_up_after_any_error,
        publishes_over_others,
        batches_without_locks,
    )
}
