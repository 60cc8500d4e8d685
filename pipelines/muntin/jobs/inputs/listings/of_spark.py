"""Listing of a source that Spark reads: without Spark its rows are not known.

A run has files: see `jobs/inputs/materialised`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muntin.definition.schedule import Interval
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile

UNKNOWN = "only Spark can tell what rows there are, and it was not started"


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """No files, as long as no run reads them."""
    return Inputs({interval: [] for interval in intervals}, {})


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """No intervals: only Spark tells which intervals are empty."""
    return []


def first_inputs(bound: Bound) -> Inputs:
    """No inputs: without Spark no rows are known."""
    return Inputs({}, {})


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """No difference: without Spark none is known."""
    return None
