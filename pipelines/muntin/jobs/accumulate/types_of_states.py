"""The types that a batch's states are written with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.sources.reading.sql_types import targets_of
from muntin.states.columns import ROW_BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.aggregates.aggregate import Field
    from muntin.definition.frame_sets import FrameSet
    from muntin.jobs.accumulate.shares import Share


def types_of_states(
    natural: Mapping[str, str], share: Share, frames: FrameSet, paths: Sequence[str]
) -> tuple[dict[str, str], bool]:
    """Column -> SQL type of some files' states, and whether a type is wider than in the state. `natural`: as
    the files say.

    A type that contradicts earlier batches is an error.
    """
    targets = {**share.targets[frames.table], ROW_BATCH: "BIGINT"}
    kinds = targets_of(natural, targets, paths, hashed=_hashed(share.bound.fields))
    return kinds, any(kind != targets.get(name, kind) for name, kind in kinds.items())


def _hashed(fields: Sequence[Field]) -> set[str]:
    """The columns about expressions of which a field keeps hashes or texts of values."""
    about = {each.of for each in fields if getattr(each.monoid, "hashes", False)}
    return {column for each in fields if each.of in about for column in (*each.columns, *each.lifts)}
