"""Tables of spans as windows were published by them: readers need no table of a user's, which may be gone or changed since."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.rollups import given_windows
from muntin.jobs.published.window_tables import newest_segment
from muntin.jobs.state.given_spans import as_published

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound


def as_readers_know(bound: Bound) -> Bound:
    """The same pipeline, whose spans are those that windows were published by; of windows that never were, those of the table."""
    windows = given_windows(bound.pipeline.windows)
    known = {name: as_published(bound, name, newest_segment(bound.store, name)) for name, kind in windows.items() if kind.given_by}
    if not known:
        return bound
    found = {name: known.get(name) or kind for name, kind in windows.items()}
    return replace(bound, pipeline=replace(bound.pipeline, windows=found))


def copies(bound: Bound) -> dict[str, str]:
    """Window -> the copy of the table that it was published by, which its content names; for reports."""
    newest = {name: newest_segment(bound.store, name) for name, kind in bound.windows.items() if kind.given_by}
    return {name: ledger.given for name, ledger in newest.items() if ledger}
