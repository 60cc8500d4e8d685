"""Batches of which more than a tenth is in the quarantine: their share, and why most of the rows were
refused.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.states.columns import BATCH
from muntin.store.paths import QUARANTINE
from muntin.store.reading import read_files
from muntin.store.shared_files import within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.jobs.state.bound import Bound

_MUCH = 0.1


def refusals(bound: Bound, counts: Mapping[int, tuple[int, int]]) -> dict[int, str]:
    """Start of a batch -> its share of refused rows and their most frequent reason, in words, where that is
    more than a tenth.

    `counts`: start of a batch -> the rows that were read and the rows that were refused. The reason of rows
    that have expired is unknown.
    """
    much = {start: each for start, each in counts.items() if each[1] > _MUCH * each[0]}
    if not much:
        return {}
    reasons = _reasons(bound, sorted(much))
    return {
        start: spelled_share(*each) + _main(reasons.get(start, Counter())) for start, each in much.items()
    }


def spelled_share(read: int, refused: int) -> str:
    """The share of refused rows, in words.

    >>> spelled_share(10, 4)
    '4 of 10 rows (40.00%) are in the quarantine'
    """
    return f"{refused:,} of {many(read, 'row')} ({refused / read:.2%}) are in the quarantine"


def _main(reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    reason, count = min(reasons.most_common(), key=lambda one: (-one[1], one[0]))
    return f": {reason}" + (
        "" if len(reasons) == 1 else f" ({count:,} rows, and {many(len(reasons) - 1, 'other reason')})"
    )


def _reasons(bound: Bound, starts: list[int]) -> dict[int, Counter[str]]:
    reasons_by_start = {start: Counter[str]() for start in starts}
    with suppress(StateError):  # repair says that a file is gone or damaged
        table = bound.store.snapshot(QUARANTINE)
        files = tuple(file for file in table.files if len(within(np.array(starts, np.int64), file.path)))
        rows = read_files(bound.table(QUARANTINE), replace(table, files=files), [BATCH, "reason"])
        for start, reason in zip(
            rows[BATCH].cast("int64").to_pylist(), rows["reason"].to_pylist(), strict=True
        ):
            if start in reasons_by_start:
                reasons_by_start[start][reason] += 1
    return reasons_by_start
