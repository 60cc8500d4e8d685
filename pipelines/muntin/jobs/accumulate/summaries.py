"""The rows that were read of each batch, as its splits counted them; the limit of rows in the quarantine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import SourceError
from muntin.files.readable import opened
from muntin.jobs.accumulate.read_batches import Read
from muntin.jobs.accumulate.shares import manifest_of_batch
from muntin.jobs.records.reports import Accumulated, Counts, ReadFile
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH, INSTANT
from muntin.store.paths import QUARANTINE, source_of
from muntin.timeline.batches import Batches, spelled


def summaries(
    bound: Bound,
    batches: Batches,
    intervals: Sequence[Interval],
    task_files: Read,
    noticed: Mapping[int, tuple[str, ...]],
    hidden: Mapping[Interval, int],
) -> list[Accumulated]:
    """The summary of each batch that was read.

    `batches`: the facts of these batches; `hidden`: how many files were passed over.
    """
    places = batches.position(np.array([interval.start_us for interval in intervals], np.int64))
    versions = batches.version[places].tolist() if len(places) else []
    return [
        _summary(bound, interval, version, task_files.splits[interval.start_us], noticed, hidden)
        for interval, version in zip(intervals, versions, strict=True)
    ]


def _summary(
    bound: Bound,
    interval: Interval,
    version: int,
    splits: list[dict[str, Any]],
    noticed: Mapping[int, tuple[str, ...]],
    hidden: Mapping[Interval, int],
) -> Accumulated:
    own = {
        name: [each for each in splits if source_of(each["split"]) == number]
        for number, name in enumerate(bound.pipeline.sources)
    }
    parts: list[tuple[str | None, list[dict[str, Any]]]] = [*own.items()] or [(None, splits)]
    return Accumulated(
        interval,
        spelled(version),
        _counts(splits),
        newest_us=max((each["newest"] for each in splits if each["newest"] is not None), default=None),
        manifest=tuple(
            replace(ReadFile(*entry), source=name)
            for name, part in parts
            for entry in manifest_of_batch(part)
        ),
        schema_changes=noticed[interval.start_us],
        sources={name: _counts(part) for name, part in own.items()},
        hidden=hidden.get(interval, 0),
    )


def _counts(splits: Sequence[Mapping[str, Any]]) -> Counts:
    return Counts(*map(sum, zip(*(each["counts"] for each in splits), strict=True)))


_SHOWN = 3


def check_share(bound: Bound, intervals: Sequence[Interval], task_files: Read) -> None:
    """Refuse batches with a larger share of rows in the quarantine than the definition allows; the error has
    the first rows with reasons.

    No rows of the share are files that the definition puts there as a whole (`on_bad_file`, `on_schema`), and
    changes that wait for the row that they change.
    """
    most = bound.pipeline.limits.max_quarantined
    if most is None:
        return
    over = [each for interval in intervals if (each := _over(bound, interval, task_files, most))]
    if not over:
        return
    listed = "; ".join(text for _, text in over[:_SHOWN]) + (
        f"; and {many(len(over) - _SHOWN, 'more batch')}" if len(over) > _SHOWN else ""
    )
    first_rows = _rows(bound, task_files, over[0][0]).slice(0, _SHOWN).to_pylist()
    rows = "".join(f"\n  {spelled_row(row)}" for row in first_rows)
    raise SourceError(
        f"{listed}; max_quarantined={most} allows less, so no batch of this run is committed. Mend the files"
        " or the definition, or say limits=Limits(max_quarantined=...), None for no limit. The first"
        f" rows:{rows}{_likely(bound.source.format, [str(row['reason']) for row in first_rows])}"
    )


_LIKELY = {
    "is no UTF-8": 'if the files are in another encoding, say format=sources.{form}(encoding="windows-1252")',
    "cells instead of|a quote opens|behind a closing": "if values are separated or quoted otherwise, or lines"
    ' stand above the header, say format=sources.csv(delimiter=";", quote="\'", skip_lines=1)',
    "no valid JSON|value that is no object": "a row is an object in a line: jq -c '.[]' FILE makes lines of"
    " an array, jq -c . FILE of objects over several lines",
    "outside the years": 'if event times are in another unit, say sources.at(..., unit="ms")',
    "ahead of the end": 'if files hold later events, say limits=Limits(max_ahead="30d")',
    "before the beginning": 'if files hold earlier events, say limits=Limits(max_behind="90d")',
    r"read as (DOUBLE|DECIMAL|FLOAT|\w*INT)": "if numbers are written otherwise, say"
    ' format=sources.csv(decimal=",", thousands=".")',
}
"""A pattern of reasons -> what to do where it is not the rows that are wrong."""


def _likely(form: str, reasons: Sequence[str]) -> str:
    mends = (
        mend.replace("{form}", "jsonl" if form == "json" else form)
        for pattern, mend in _LIKELY.items()
        if any(re.search(pattern, reason) for reason in reasons) and ("(decimal" not in mend or form == "csv")
    )
    return next((f"\n{mend[0].upper()}{mend[1:]}" for mend in mends), "")


def spelled_row(row: Mapping[str, Any]) -> str:
    """A row of the quarantine in a line: where it is, why it was refused, and its text."""
    at = row["file"] if row["position"] is None else f"{row['file']}, row {row['position'] + 1}"
    where = f"{row['file']}, line {row['line']}" if row.get("line") is not None else at
    return f"{where}: {row['reason']}" + (f": {row['row']}" if row["row"] is not None else "")


def _over(bound: Bound, interval: Interval, task_files: Read, most: float) -> tuple[Interval, str] | None:
    """A batch with too many rows in the quarantine, in words; None if it is not."""
    counts = _counts(task_files.splits[interval.start_us])
    read, refused = counts.read, counts.quarantined
    if refused <= most * read:
        return None
    from muntin.sources.repeated_rows import CHANGES_NOTHING

    rows = _rows(bound, task_files, interval)
    apart = rows["position"].null_count + (
        pc.sum(pc.starts_with(rows["reason"], CHANGES_NOTHING)).as_py() or 0
    )
    if refused - apart <= most * (read - apart):
        return None
    from muntin.jobs.records.batch_reports import spelled_share

    return interval, f"{interval}: {spelled_share(read - apart, refused - apart)}"


def _rows(bound: Bound, task_files: Read, interval: Interval) -> pa.Table:
    start = pa.scalar(interval.start_us, pa.int64()).cast(INSTANT)
    folder = bound.table(QUARANTINE)
    tables = [opened(f"{folder}/{file.path}").read() for file in task_files.files[QUARANTINE]]
    own = [table.filter(pc.equal(table[BATCH], start)) for table in tables]
    return pa.concat_tables(own, promote_options="default")  # files without nulls say so
