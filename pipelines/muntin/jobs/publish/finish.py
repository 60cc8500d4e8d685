"""Finish: finalize, validate and publish; once more from finalize on if another run published in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muntin.errors import ConflictError
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.publish import publish
from muntin.jobs.publish.validate import validate_staged
from muntin.store.retries import after_conflicts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.published.changes import Changes
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner

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
    """

    published: Mapping[str, tuple[int, ...]]
    missing: tuple[tuple[int, int], ...]
    quality: tuple[Mapping[str, Any], ...]
    remarks: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Changes, ...]] = field(default_factory=dict)
    promoted: tuple[str, ...] = ()


def finish(
    bound: Bound,
    runner: Runner,
    intervals: Sequence[Interval],
    *,
    validate: bool,
    tell: Callable[[str], None],
    promoting: bool = True,
    again: bool = False,
) -> Finished:
    """Finalize, validate, publish; once more from finalize on if another run published in between. `promoting`, `again`: see `publish`.

    Raises:
        ConflictError: other runs published in between every time.
        ExpectationsError: a critical expectation failed.
    """
    published_starts: dict[str, tuple[int, ...]] = {}
    changes: dict[str, tuple[Changes, ...]] = {}

    def committed(window: str, starts: Sequence[int]) -> None:
        published_starts[window] = tuple(sorted({*published_starts.get(window, ()), *starts}))

    def changed(window: str, found: Changes) -> None:
        changes[window] = (*changes.get(window, ()), found)

    def attempted() -> Finished:
        tell("finalize")
        staged = finalize(bound, runner, [interval.start_us for interval in intervals], again=again)
        quality: tuple[Mapping[str, Any], ...] = ()
        if validate and bound.pipeline.expectations and staged.windows:
            tell("validate")
            quality = tuple(validate_staged(bound, runner, staged))
        tell("publish")
        try:
            promoted = publish(bound, staged, committed=committed, validated=validate, changed=changed, promoting=promoting, again=again)
        except ConflictError:
            bound.store.discard(staged.folder)
            raise
        missing = tuple((low, high) for low, high in staged.missing)
        return Finished(published_starts, missing, quality, tuple(staged.remarks), changes, tuple(promoted))

    given_up = f"{bound.pipeline.name}: other runs keep publishing; run again when they are done"
    return after_conflicts(_TRIES, given_up)(attempted)
