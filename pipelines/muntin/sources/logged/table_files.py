"""The files of a table with a log that make a batch: the files that the commits of its interval added.

    commits    0    1    2      3        4 (OPTIMIZE)   5
    intervals  |  first   |   second  |   third   |  fourth ...
    batches      0, 1, 2 as    3          none         5
                 one table

A commit has its time in the log, so that the files of an interval follow from the table alone, in whatever
order batches are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from urllib.parse import quote

from muntin.definition.instants import spell_instant
from muntin.definition.schedule import Interval
from muntin.errors import ForgottenError, SourceError
from muntin.files.paths import stats_of
from muntin.files.some_rows import file_of
from muntin.sources.listing import SourceFile
from muntin.sources.logged.deletion_vectors import vector_files
from muntin.sources.logged.log import Added, Commit, Log
from muntin.sources.logged.table_changes import Step, last_steps, steps_of
from muntin.sources.logged.table_layout import NULL
from muntin.sources.tables import TableSource

Stepped = list[tuple[Added, Step]]


def table_files(
    source: TableSource, intervals: Sequence[Interval], first_us: int
) -> dict[Interval, list[SourceFile]]:
    """The files of each interval, in the order in which they were added. Their checksum names the versions.

    `source`: as `in_full` gives it; `first_us`: start of the schedule's first interval, whose batch has all
    that was in the table before. A commit that removed or changed rows is an error if the source says so; a
    `ForgottenError` names commits or files that are gone.
    """
    log = log_of(source)
    by_time = _by_interval(log, intervals)
    files_of_interval = {}
    for interval in intervals:
        begins = interval.start_us <= first_us
        stepped, versions = (
            _held(source, log, interval) if begins else _added(source, log, interval, by_time[interval])
        )
        log.check(source, [each for each, _ in stepped])
        steps = last_steps(stepped)
        files_of_interval[interval] = [
            SourceFile(
                log.address(each) + _in_partition(source, each),
                each.size,
                0,
                versions,
                step=step if source.changes else None,
            )
            for each, step in steps
        ]
    _check_there(source, log, files_of_interval)
    return files_of_interval


def log_of(source: TableSource) -> Log:
    """The log of a table.

    Where changes are read, commits are in the order of their versions, whatever their writers' clocks said.
    """
    log = source.log()
    return (
        replace(log, made_us=dict(zip(log.made_us, accumulate(log.made_us.values(), max), strict=True)))
        if source.changes
        else log
    )


def in_full(source: TableSource) -> TableSource:
    """The source with the columns of its table as it is now."""
    return source.log().in_full(source)


def files_now(source: TableSource) -> list[SourceFile]:
    """The files of a table as it is now, whatever its commits did to earlier rows.

    `source`: as `in_full` gives it.
    """
    log = log_of(source)
    held = log.held(source, log.newest)
    log.check(source, held)
    return [
        SourceFile(log.address(each) + _in_partition(source, each), each.size, 0, log.named([log.newest]))
        for each in held
    ]


def _in_partition(source: TableSource, added: Added) -> str:
    """The end of the address of a file whose folders name no partition: columns have other names there."""
    values = {
        each.name: added.partition.get(each.names[0]) for each in source.numbered if each.name in source.hive
    }
    folders = (f"{name}={quote(value, safe='') if value else NULL}/" for name, value in values.items())
    return f"#in/{''.join(folders)}" if values else ""


def _by_interval(log: Log, intervals: Sequence[Interval]) -> Mapping[Interval, list[int]]:
    """The versions that were made in each interval, ascending."""
    versions = sorted(log.made_us, key=lambda version: (log.made_us[version], version))
    versions_of_interval, at = {}, 0
    for interval in sorted(intervals, key=lambda each: each.start_us):
        while at < len(versions) and log.made_us[versions[at]] < interval.start_us:
            at += 1
        end = at
        while end < len(versions) and log.made_us[versions[end]] < interval.end_us:
            end += 1
        versions_of_interval[interval] = sorted(versions[at:end])
    return versions_of_interval


def _added(source: TableSource, log: Log, interval: Interval, versions: Sequence[int]) -> tuple[Stepped, str]:
    """The files that some versions added, and a name of these files."""
    if not log.whole and log.made_us and log.made_us[log.oldest] >= interval.start_us:
        raise _cleaned(source, log, interval)
    commits = [log.commit(version) for version in versions]
    return [each for commit in commits for each in _new(source, log, commit)], log.named(versions)


def _new(source: TableSource, log: Log, commit: Commit) -> Iterator[tuple[Added, Step]]:
    """The files with the new rows of a commit, or with all that it changed."""
    if source.changes:
        yield from steps_of(commit)
    elif not commit.data_removed:
        yield from ((each, Step(commit.version)) for each in commit.added if each.path in commit.data_added)
    elif source.on_change == "error":
        commit_time = spell_instant(log.made_us[commit.version])
        which = f"{log.named([commit.version])} ({commit.operation or 'no name'}, {commit_time})"
        raise SourceError(
            f"{source.path}: {which} removed or changed rows, which windows may hold already; "
            f'say on_change="skip" in {source.call} to pass over such versions, or begin anew behind it: '
            f"let start= of the pipeline be after {commit_time}. With changes=True rows are changed where"
            " they are"
        )


def _held(source: TableSource, log: Log, interval: Interval) -> tuple[Stepped, str]:
    """The files of the table at the end of an interval, and a name of its version."""
    within = [version for version, made_us in log.made_us.items() if made_us < interval.end_us]
    last = next(
        (version - 1 for version, made_us in log.made_us.items() if made_us >= interval.end_us), log.newest
    )
    if not log.whole and last < log.oldest:
        raise _cleaned(source, log, interval)
    later = [version for version in within if version > last]  # by a clock that went wrong
    more = [each for version in later for each in _new(source, log, log.commit(version))]
    held = log.held(source, last)
    return [*((each, Step(last)) for each in held), *more], log.named([0, *within]) if within else ""


def _cleaned(source: TableSource, log: Log, interval: Interval) -> ForgottenError:
    oldest_time = spell_instant(log.made_us[log.oldest])
    return ForgottenError(
        f"{source.path}: the log begins with {log.named([log.oldest])} of {oldest_time}, so what was added in"
        f" {interval} is not known any more ({log.kept_by}); read batches sooner, or let start= of the"
        f" pipeline be such that its first interval ends after {oldest_time}"
    )


def _check_there(
    source: TableSource, log: Log, files_of_interval: Mapping[Interval, Sequence[SourceFile]]
) -> None:
    """Refuse files that are gone: what a compaction replaced is removed by a later VACUUM."""
    needed = {
        file: [file_of(file.path), *vector_files(file.path)]
        for files in files_of_interval.values()
        for file in files
    }
    there = stats_of([*dict.fromkeys(path for paths in needed.values() for path in paths)])
    cleaner, setting = log.removed_by
    for interval, files in files_of_interval.items():
        for path, checksum in ((path, file.checksum) for file in files for path in needed[file]):
            if path not in there:
                raise ForgottenError(
                    f"{path}: gone from {source.path} since {checksum} added it for the batch"
                    f" {interval} ({cleaner}?); bring it back, read batches sooner than files are removed"
                    f" ({setting}), or let start= of the pipeline be later: its first batch takes what is"
                    " there"
                )
