"""Listing of a source that Spark reads: without Spark its rows are not known. A run has files: see `jobs/inputs/materialised`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.jobs.inputs.listings.listing import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile

UNKNOWN = "only Spark can tell what rows there are, and it was not started"


def inputs(bound: Bound, intervals: Sequence[Interval], *, forget: bool, keep: bool, there: bool) -> Inputs:  # noqa: ARG001 - as for any listing
    """No files, as long as no run reads them."""
    return Inputs({interval: [] for interval in intervals}, {})


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:  # noqa: ARG001 - as above
    """No intervals: without Spark nobody knows which are empty."""
    return []


def first_inputs(bound: Bound) -> Inputs:  # noqa: ARG001 - as above
    """No inputs: without Spark no rows are known."""
    return Inputs({}, {})


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:  # noqa: ARG001 - as above
    """No difference: without Spark none is known."""
    return None
