"""Comparing what was published with what had to be: rows, values, closing batches."""

import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from muntin.testing.oracle import Judgement, judge
from tests.end_to_end.judge.scenarios import AHEAD, MEASURES, Scenario
from tests.end_to_end.judge.user_files import Rows

Key = tuple[Any, ...]


def truth(case: Scenario, window: str) -> Judgement:
    """The oracle's word about one window of the scenario, without the windows that are hidden."""
    said = every(case, window)
    return replace(said, published=list(filter(case.shown, said.published)), still_open=list(filter(case.shown, said.still_open)))


def every(case: Scenario, window: str) -> Judgement:
    """The oracle's word about one window of the scenario, with the windows that are hidden."""
    return judge(
        case.windows[window],
        case.batches,
        {name: measure.oracle for name, measure in MEASURES.items()},
        keys=case.keys,
        watermark=case.watermark,
        max_ahead=AHEAD,
        where=case.kept,
    )


def accounted(case: Scenario, reports: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The batches whose report does not say where each row went: read, in states, left out by the filter, in the quarantine."""
    wrong = list[tuple[Any, ...]]()
    for batch, said in zip(case.batches, reports, strict=True):
        credible = [row for row in batch.rows if row["t"] is not None and row["t"] <= batch.end + AHEAD]
        kept = sum(bool(case.kept(row)) for row in credible)
        wanted = (len(batch.rows), kept, len(credible) - kept, len(batch.rows) - len(credible))
        found = (said.rows_read, said.rows_accepted, said.rows_left_out, said.rows_quarantined)
        wrong += [(said.interval_start, found, wanted)] if found != wanted else []
    return wrong


def differences(case: Scenario, found: Rows, wanted: Rows) -> list[str]:
    """One line for each window that is missing, too many, or has other values."""
    ours, theirs = by_window(case, found), by_window(case, wanted)
    twice = [f"twice: {len(found) - len(ours)} windows"] if len(found) != len(ours) else []
    missing = [f"missing: {key} {theirs[key]}" for key in theirs if key not in ours]
    extra = [f"too many: {key} {ours[key]}" for key in ours if key not in theirs]
    other = [
        f"{key} {name}: {ours[key][name]!r}, not {theirs[key][name]!r}"
        for key in theirs.keys() & ours.keys()
        for name in theirs[key]
        if not same(ours[key][name], theirs[key][name])
    ]
    return sorted(twice + missing + extra + other)


def by_window(case: Scenario, found: Rows) -> dict[Key, dict[str, Any]]:
    """Rows by key columns and bounds, and the number of those that begin at one instant."""
    names = (*case.keys, "window_start", "window_end")
    return {(*(row[name] for name in names), row.get("tie")): row for row in found}


def same(ours: object, theirs: object) -> bool:
    """Floats to rounding, all else exactly; NaN is NaN."""
    if isinstance(ours, float) and isinstance(theirs, float):
        nans = math.isnan(ours) and math.isnan(theirs)
        return nans or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-6)
    return type(ours) is type(theirs) and ours == theirs


def bits(table: pa.Table) -> list[tuple[object, ...]]:
    """Rows in which equal means equal to the last bit."""
    return [tuple(map(bit, row.values())) for row in table.to_pylist()]


def bit(value: object) -> object:
    """A float as its eight bytes, every NaN alike."""
    if not isinstance(value, float):
        return value
    return "nan" if math.isnan(value) else struct.pack(">d", value)


def in_order(case: Scenario, found: Rows) -> bool:
    """Sorted by keys, start, end; where nulls go is not asked."""
    wanted = [tuple(row[name] for name in (*case.keys, "window_start", "window_end")) for row in found]
    whole: Sequence[Key] = [key for key in wanted if None not in key]
    return list(whole) == sorted(whole)
