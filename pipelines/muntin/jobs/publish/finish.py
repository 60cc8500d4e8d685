"""Finish: finalize, validate and publish; once more from finalize on if another run published in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.definition.schedule import Interval
from muntin.errors import ConflictError, StateError
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.publish import publish
from muntin.jobs.published.changes import Changes
from muntin.jobs.published.staged_windows import Staged, discarding
from muntin.jobs.records.approvals import Approval
from muntin.jobs.state.beside_forgetting import beside_forgetting
from muntin.jobs.state.bound import Bound
from muntin.store.store import after_conflicts
from muntin.tasks import Runner

Quality = tuple[Mapping[str, Any], ...]


_LOST = (OSError, StateError)
"""What the work on staged windows fails with where keys were forgotten meanwhile."""
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Finished:
    """The results of finalize, validate and publish.

    Attributes:
        published: window -> starts of the batches whose windows were published.
        missing: intervals (start, end) that accumulated batches wait for.
        quality: the reports of the validation.
        remarks: what was lost or damaged and is derived again, for people.
        changed: window -> which published windows changed, a part for each commit.
        promoted: windows of a changed definition that were promoted.
        said: start of a batch -> the approval by which it was published despite a failed suite, as `said_of`
            gives it.
    """

    published: Mapping[str, tuple[int, ...]]
    missing: tuple[tuple[int, int], ...]
    quality: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Changes, ...]] = field(default_factory=dict)
    promoted: tuple[str, ...] = ()
    said: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


def finish(
    bound: Bound,
    runner: Runner,
    intervals: Sequence[Interval],
    *,
    validate: bool,
    tell: Callable[[str], None],
    promoting: bool = True,
    again: bool = False,
    approval: Approval | None = None,
    staged: tuple[Staged, Quality] | None = None,
) -> Finished:
    """Finalize, validate, publish; once more from finalize on if another run published in between, until that
    fails too often.

    `promoting`, `again`, `approval`: see `publish`. `staged`: windows that were staged before, and their
    reports, to begin with.
    """
    published_starts: dict[str, tuple[int, ...]] = {}
    changes: dict[str, tuple[Changes, ...]] = {}
    said: dict[int, Mapping[str, Any]] = {}

    def changed(window: str, new_changes: Changes) -> None:
        changes[window] = (*changes.get(window, ()), new_changes)

    def staged_anew() -> tuple[Staged, Quality]:
        tell("finalize")
        windows = finalize(bound, runner, [interval.start_us for interval in intervals], again=again)
        if not (validate and bound.pipeline.guarded and windows.windows):
            return windows, ()
        tell("validate")
        from muntin.jobs.publish.validate import validate_staged

        with discarding(bound.store, windows.folder, *_LOST):
            return windows, tuple(validate_staged(bound, runner, windows, approval))

    given = [staged] if staged else []

    def attempted() -> Finished:
        lost = (ConflictError,) if given else _LOST
        windows, quality = given.pop() if given else staged_anew()

        def say(starts_of_windows: Mapping[str, Sequence[int]]) -> None:
            if approval:
                from muntin.jobs.records.approvals import said_of

                said.update(said_of(approval, quality, starts_of_windows))

        def committed(window: str, starts: Sequence[int]) -> None:
            published_starts[window] = tuple(sorted({*published_starts.get(window, ()), *starts}))
            say({window: starts})

        tell("publish")
        with discarding(bound.store, windows.folder, *lost):
            promoted = publish(
                bound,
                windows,
                committed=committed,
                validated=validate,
                changed=changed,
                promoting=promoting,
                again=again,
                approval=approval,
            )
        # by this try, or by a try before, which was killed
        say({window.window: window.starts for window in windows.windows})
        missing = tuple((low, high) for low, high in windows.missing)
        return Finished(
            published_starts, missing, quality, tuple(windows.remarks), changes, tuple(promoted), said
        )

    given_up = f"{bound.pipeline.name}: other runs keep publishing; run again when they are done"
    return after_conflicts(_TRIES, given_up)(beside_forgetting, bound, attempted)
