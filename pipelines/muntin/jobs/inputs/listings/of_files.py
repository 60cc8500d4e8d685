"""Files by template: the files that exist now. A file may be written again, or be removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.jobs.inputs.listings.listing import Inputs, first_interval
from muntin.jobs.inputs.listings.of_several import check_kept
from muntin.jobs.records.reports import ReadFile
from muntin.jobs.records.reports_table import manifest
from muntin.jobs.state.bound import Bound
from muntin.sources.file_source import FileSource
from muntin.sources.listing import SourceFile, check_found, check_ready, digest, source_files
from muntin.sources.path_templates import folders_of


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them."""
    source = _source(bound)
    files_of_batches, hidden = source_files(source, intervals)
    if not allow_missing:
        check_kept(bound, [interval for interval, files in files_of_batches.items() if not files])
        for interval, files in files_of_batches.items():
            check_found(source, interval, files, hidden[interval])
            check_ready(source, interval, files)
    _check_apart(source, files_of_batches)
    return Inputs(files_of_batches, {}, hidden=hidden)


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals without files."""
    return [interval for interval, files in source_files(_source(bound), intervals)[0].items() if not files]


def first_inputs(bound: Bound) -> Inputs:
    """The files of the first interval that has any."""
    return first_interval(
        bound, lambda interval: inputs(bound, [interval], allow_missing=False, keep=False, there=False)
    )


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """How the files of a batch differ from the files in its report; None if the same content stands in the
    same order, whatever the names and times of the files.
    """
    read = manifest(report)
    if _same_contents(bound, read, files):
        return None
    before, now = {file.path: file for file in read}, {file.path: file for file in files}
    for what, paths in (("new file", now.keys() - before.keys()), ("file gone", before.keys() - now.keys())):
        if paths:
            return f"{what}: {Path(min(paths)).name}"
    if any(before[path].bytes != file.size for path, file in now.items()):
        return "a file has another size"
    anew = next(path for path, file in now.items() if not _same_content(before[path], file))
    return f"written since it was read: {Path(anew).name}"


def _same_contents(bound: Bound, before: Sequence[ReadFile], now: Sequence[SourceFile]) -> bool:
    hive = _source(bound).hive
    return len(before) == len(now) and all(
        was.bytes == file.size
        and folders_of(hive, was.path) == folders_of(hive, file.path)
        and _same_content(was, file)
        for was, file in zip(before, now, strict=True)
    )


def _same_content(before: ReadFile, now: SourceFile) -> bool:
    """Whether a file of the same size has the same content, as far as names of contents, else its name and
    time, tell.
    """
    if (before.path, before.written_ns) == (now.path, now.written_ns) and not now.checksum:
        return True
    return bool(before.checksum) and before.checksum == (now.checksum or digest(now.path))


def _source(bound: Bound) -> FileSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind


def _check_apart(source: FileSource, files_of_batches: Mapping[Interval, Sequence[SourceFile]]) -> None:
    owners: dict[str, Interval] = {}
    for interval, files in files_of_batches.items() if not source.all_files else ():
        for file in files:
            other = owners.setdefault(file.path, interval)
            if other != interval:
                raise SourceError(
                    f"{file.path} is a file of the batch {other} and of {interval}, and its rows would count"
                    " twice; write path in sources.files(...) so that every file belongs to one batch, or"
                    " say all_files=True if that is meant"
                )
