"""Reports and verdicts of old batches go together: the reports of runs on a batch, and the verdicts of suites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from muntin.jobs.housekeeping.expiring import Expiring, chosen_of, other_marks
from muntin.jobs.records import reports_table, verdicts_table
from muntin.jobs.records.report_files import bounds_of, write_reports
from muntin.states.columns import BATCH
from muntin.store.expired_marks import write_mark
from muntin.store.reading import read_files
from muntin.store.store import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.files.paths import AnyPath
    from muntin.store.store import File, Snapshot, Store


def without_reports(store: Store, before_us: int, kept_us: int, lag: int) -> Iterator[Expiring]:
    """The files of the table of reports without reports of batches that start before an instant, and an expiry mark that says so."""
    base, folder = store.snapshot(reports_table.TABLE), store.root / reports_table.TABLE
    named = [(file, *ends) for file in base.files if (ends := bounds_of(file))]
    chosen = chosen_of(named, before_us, kept_us, lag)
    if chosen and base.schema:
        rows = _rows(folder, base, chosen)
        newer_rows = rows.filter(pc.greater_equal(rows[BATCH].cast(pa.int64()), before_us))
        mark = write_mark(folder, base.schema, before_us)
        new = [write_reports(newer_rows.sort_by(BATCH), folder)] if len(newer_rows) else []
        yield Expiring(reports_table.TABLE, base, Change(base.schema, [*new, mark], [*chosen, *other_marks(base, mark)], []))


def without_verdicts(store: Store, before_us: int, kept_us: int, lag: int) -> Iterator[Expiring]:
    """The files of the table of verdicts without verdicts whose last batch starts before an instant."""
    base, folder = store.snapshot(verdicts_table.TABLE), store.root / verdicts_table.TABLE
    named = [(file, *ends) for file in base.files if (ends := bounds_of(file))]
    chosen = chosen_of(named, before_us, kept_us, lag)
    if chosen and base.schema:
        rows = _rows(folder, base, chosen)
        newer_rows = rows.filter(pc.greater_equal(verdicts_table.batches_of(rows), before_us))
        new = [verdicts_table.write_verdicts(newer_rows.sort_by("recorded_at"), folder)] if len(newer_rows) else []
        yield Expiring(verdicts_table.TABLE, base, Change(base.schema, new, chosen, []))


def _rows(folder: AnyPath, base: Snapshot, files: list[File]) -> pa.Table:
    return read_files(folder, replace(base, files=tuple(files)))
