"""Source changes: batches to read again since their source has changed, for sources that report it
themselves.

Commits to a table that belong to a batch which was read before they came: of a slow clock, or to an interval
that was at work.

commits     1     2  | 3                    4 (made in the first interval, by its writer's clock)
intervals   first    | second | third ...
read             first, second               then first once more: it has version 4, too
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import ForgottenError, SourceError
from muntin.jobs.inputs.inputs import difference, inputs_of_each
from muntin.jobs.inputs.upstream import SourceChanges, changes_of_upstream, seen_up_to
from muntin.jobs.published.kept_states import readable
from muntin.jobs.published.pending import accumulated
from muntin.jobs.records.reports_table import last_accumulated
from muntin.sources.logged.table_files import log_of
from muntin.sources.tables import TableSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.sources.logged.log import Log


def source_changes(bound: Bound, *, unread: bool = False) -> SourceChanges:
    """Batches that an upstream has published anew, or rows that came late to a Delta table.

    `unread`: batches of an upstream that were never read count, too.
    """
    if members := [member for member in bound.members.values() if isinstance(member.source, TableSource)]:
        return SourceChanges(
            tuple(sorted({interval for member in members for interval in late_commits(member).intervals}))
        )
    return (
        late_commits(bound)
        if isinstance(bound.source, TableSource)
        else changes_of_upstream(bound, unread=unread)
    )


def late_commits(bound: Bound) -> SourceChanges:
    """The batches to read again, and how many versions there are."""
    log = log_of(bound.source)  # type: ignore[arg-type]  # it is a table
    seen = seen_up_to(bound, log.root)
    near = readable(bound, sorted(_read_before(bound, log, log.since(seen))))
    return SourceChanges(tuple(each for each in _changed(bound, near)), log.root, log.mark, seen)


def _read_before(bound: Bound, log: Log, versions: Iterable[int]) -> set[Interval]:
    """The intervals of versions whose batches were read."""
    table, schedule = bound.frame_sets[0].table, bound.pipeline.intervals
    batch_starts = {*accumulated(bound, table, bound.store.snapshot(table)).start_us.tolist()}
    first = schedule.around(schedule.after(schedule.first_us - 1))
    intervals = (
        {max(first, schedule.around(log.made_us[version])) for version in versions} if batch_starts else set()
    )
    return {each for each in intervals if each.start_us in batch_starts}


def _changed(bound: Bound, intervals: list[Interval]) -> Iterable[Interval]:
    reports = last_accumulated(bound.store, intervals) if intervals else {}
    for interval, given in inputs_of_each(bound, intervals).items() if intervals else ():
        if isinstance(given, ForgottenError):  # what was read stays
            continue
        if isinstance(given, SourceError):
            raise given
        report = reports.get(interval.start_us)
        if report is None or difference(bound, report, given.files[interval]):
            yield interval
