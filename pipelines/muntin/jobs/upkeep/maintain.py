"""Maintain: everything that keeps a state small and quick, at once. The runs do a slice of it each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from muntin.definition.pipeline import Pipeline
from muntin.files.paths import AnyPath, relative, sizes_below
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.housekeeping.expire import expire
from muntin.jobs.inputs.listings.of_functions import outlived_rows
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.window_tables import standing
from muntin.jobs.records.reports_table import last_recorded_at, utc_now
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.state_folders import bind_existing
from muntin.jobs.tiles.tiers import make_history_tiers, make_tiers
from muntin.jobs.upkeep.vacuum import Removed, vacuum
from muntin.store.delta import DeltaStore
from muntin.store.disk import remove_whole
from muntin.store.log_checkpoint import writing_log
from muntin.store.state import ROWS, WINDOWS, states_of


@dataclass(frozen=True, slots=True)
class Maintained:
    """The result of maintenance: table -> how often files of it were put together; and what was removed."""

    compacted: dict[str, int]
    removed: tuple[Removed, ...]


def maintain(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    older_than_us: int,
    superseded: bool = False,
    dry_run: bool = False,
    now: datetime | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Maintained:
    """Put small files together, shorten the logs of tables, and remove what is not read any more. Runs may go
    on meanwhile.

    What is younger than `older_than_us` stays: longer than any run and any reader takes. `superseded`: states
    of earlier definitions that read no batch for so long are removed, with their windows. `dry_run`: only
    tell what would be removed. `tell`: called with a line for each step.
    """
    bound, present = bind_existing(pipeline, root), now or utc_now()
    compacted = {} if dry_run else dict(Counter(_each(bound, tell)))
    if not dry_run:
        while table := expire(bound, at_once=True):
            tell(f"remove old rows of {table}")
        tell("tiers")
        while make_tiers(bound) or make_history_tiers(bound):
            pass
        tell("logs")
        _shorten_logs(bound.folder, bound.home / WINDOWS)
    tell("vacuum")
    oldest = present - timedelta(microseconds=older_than_us)
    rows = [file for file in outlived_rows(bound) if file[2] < oldest.timestamp()]
    for path, *_ in () if dry_run else rows:
        path.unlink(missing_ok=True)
    outlived = Removed(
        "outlived rows of functions", f"{bound.home.name}/{ROWS}", len(rows), sum(size for _, size, _ in rows)
    )
    gone = [outlived] if rows else []
    gone += [*_superseded(bound, oldest, dry_run=dry_run)] if superseded else []
    swept = vacuum(root, older_than_us=older_than_us, pipeline=pipeline, dry_run=dry_run, now=present)
    return Maintained(compacted, (*gone, *swept))


def _each(bound: Bound, tell: Callable[[str], None]) -> Iterator[str]:
    """The tables whose files are put together, table by table, until none has many."""
    check_no_lost_commits(bound)
    while table := compact(bound):
        tell(f"compact {table}")
        yield table


def _shorten_logs(*folders: AnyPath) -> None:
    """A checkpoint for each table below the folders, and no entries that are older than its log is to be."""
    for log in sorted(log for folder in folders for log in folder.rglob("_delta_log")):
        with writing_log(log.parent) as table:
            table.create_checkpoint()
            table.cleanup_metadata()


def _superseded(bound: Bound, oldest: datetime, *, dry_run: bool) -> Iterator[Removed]:
    """Remove the states of other definitions that read their last batch before `oldest`; where none is read,
    that wrote nothing since.
    """
    present = bound.folder
    for folder in (
        other for other in states_of(present.parent) if other != present and standing(other) != "current"
    ):
        sizes = sizes_below(folder)
        written_at = datetime.fromtimestamp(
            max((at for *_, at in sizes), default=folder.stat().st_mtime), UTC
        )
        if (last_recorded_at(DeltaStore(folder), "accumulate") or written_at) < oldest:
            files = [size for _, size, _ in sizes]
            if not dry_run:
                remove_whole(folder)
            yield Removed("superseded state", relative(folder, bound.root), len(files), sum(files))
