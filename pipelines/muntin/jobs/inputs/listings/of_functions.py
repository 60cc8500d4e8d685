"""Rows that a function gives, kept below the folder of the pipeline as they came:

    rows/<source>/<start of the batch>/kept.json            what was asked, the version of the rows, the files
                                       00000_<digest>.parquet     the rows

They are asked for where they are not kept, where their version is another by now, and where a run names the
batch and no version says that they are the same. Rows that are replaced stay until `maintain`: another run
may be reading them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from muntin.definition.instants import from_us, label, spell_instant
from muntin.definition.schedule import Interval
from muntin.errors import MuntinError, SourceError
from muntin.files.paths import AnyPath, sizes_below, stats_of
from muntin.jobs.inputs.listings.listing import Inputs, first_intervals
from muntin.jobs.published.pending import expired_to
from muntin.jobs.records.reports_table import manifest
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import read_note
from muntin.sources.functions import FunctionSource
from muntin.sources.given_streams import asking, pieces, stream_of
from muntin.sources.listing import SourceFile, not_there
from muntin.store.disk import write_whole
from muntin.store.parquet import write_named
from muntin.store.paths import name_of
from muntin.store.state import ROWS, claim_home

_NOTE = "kept.json"


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them; without `keep`, of rows that are kept."""
    notes = {each: _note(bound, each) or {} for each in intervals}
    files = {each: _files(bound, each, note) for each, note in notes.items()}
    if not keep:
        return Inputs(files, {})
    source = _source(bound)
    now = _versions(bound, intervals)
    stale = [
        each
        for each in intervals
        if not files[each]
        or (each.start_us in bound.anew if source.version is None else notes[each]["version"] != now[each])
    ]
    absent = {each for each in stale if not _fetched(bound, each, now.get(each))}
    if absent and not allow_missing:
        raise not_there(_absent(bound, min(absent)))
    files |= {each: [] if each in absent else _files(bound, each, _note(bound, each)) for each in stale}
    return Inputs(files, {}, source.for_tasks)


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """No intervals: the function tells which are empty."""
    return []


def first_inputs(bound: Bound) -> Inputs:
    """The rows that are kept of the first interval that has any."""
    for each in first_intervals(bound):
        if files := _files(bound, each, _note(bound, each)):
            return Inputs({each: files}, {})
    return Inputs({}, {})


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """Whether other rows are kept than were read; None where nothing is kept."""
    if not files or {file.path for file in manifest(report)} == {file.path for file in files}:
        return None
    return "other rows were given"


def fetch(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, str]:
    """Ask for the rows of batches, and keep them; the batches that wait, as their rows are not there yet."""
    now = _versions(bound, intervals)
    absent = [each for each in intervals if not _fetched(bound, each, now.get(each))]
    return {each: _absent(bound, each) for each in absent}


def other_versions(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, str]:
    """The batches whose rows are kept, and have another version by now."""
    if _source(bound).version is None:
        return {}
    notes = {each: note for each in intervals if (note := _note(bound, each))}
    now = _versions(bound, [*notes])
    return {
        each: "another version of its rows" for each, note in notes.items() if note["version"] != now[each]
    }


def forget_rows(bound: Bound, intervals: Iterable[Interval]) -> None:
    """Remove rows that were read, and keep their versions."""
    for each in intervals:
        for path, *_ in sizes_below(_folder(bound, each)):
            if path.name != _NOTE:
                path.unlink(missing_ok=True)


def outlived_rows(bound: Bound) -> Iterator[tuple[AnyPath, int, float]]:
    """Files with rows of batches whose states are gone, as `retain` says, and that no note names; as
    `sizes_below` has them.
    """
    gone = label(max(0, expired_to(bound)))
    for file in sizes_below(bound.home / ROWS):
        folder = file[0].parent
        note = read_note(folder / _NOTE) or {}
        named = {_NOTE, *(name for name, _ in note.get("files", ()))}
        if folder.name < gone or file[0].name not in named:
            yield file


def _absent(bound: Bound, interval: Interval) -> str:
    return f"{_call(bound, interval)} gives None: the rows are not there yet; run again when they are"


def _versions(bound: Bound, intervals: Sequence[Interval]) -> dict[Interval, str]:
    """Names of the versions of batches' rows, as they are by now; {} where nothing tells versions."""
    source = _source(bound)
    if source.version is None or not intervals:
        return {}
    try:
        now = source.versions([_span(each) for each in intervals])
    except MuntinError as wrong:
        raise SourceError(f"{_call(bound, intervals[0])}: its version: {wrong}") from wrong
    except Exception as wrong:
        raise SourceError(
            f"{_call(bound, intervals[0])}: its version failed: {type(wrong).__name__}: {wrong}; mend what"
            " version= asks"
        ) from wrong
    if wrong_one := next((each for each in now if not isinstance(each, str)), None):
        raise SourceError(
            f"{_call(bound, intervals[0])}: its version is {wrong_one!r}; let version= return a text"
        )
    return {each: name_of(text) for each, text in zip(intervals, now, strict=True)}


def _fetched(bound: Bound, interval: Interval, version: str | None) -> bool:
    """Ask for the rows of a batch and keep them; False: they are not there yet, and what is kept stays."""
    source, folder = _source(bound), _folder(bound, interval)
    with asking(_call(bound, interval)):
        given = source.fetch(*_span(interval))
        if given is None:
            return False
        claim_home(bound.pipeline.name, bound.home)
        with stream_of(given, source.event_time) as stream:
            files = [
                write_named(table, folder, partial(_named, number))
                for number, table in enumerate(pieces(stream, source.event_time))
            ]
    note = {
        "of": source.identity,
        "end": interval.end_us,
        "version": version,
        "files": [(each["path"], each["size"]) for each in files],
    }
    write_whole(folder / _NOTE, json.dumps(note).encode())
    return True


def _named(number: int, digest: str) -> str:
    return f"{number:05d}_{digest}.parquet"


def _note(bound: Bound, interval: Interval) -> dict[str, Any] | None:
    """The note of the rows that are kept of a batch; None without one, or if another question was asked."""
    note = read_note(_folder(bound, interval) / _NOTE)
    same = note and (note["of"], note["end"]) == (_source(bound).identity, interval.end_us)
    return note if same else None


def _files(bound: Bound, interval: Interval, note: Mapping[str, Any] | None) -> list[SourceFile]:
    """The files that are kept of a batch; none where a file is gone."""
    folder = _folder(bound, interval)
    files = [SourceFile(f"{folder}/{name}", size, 0) for name, size in (note or {}).get("files", ())]
    return files if len(stats_of([file.path for file in files])) == len(files) else []


def _folder(bound: Bound, interval: Interval) -> AnyPath:
    name = bound.source.member.name if bound.source.member else "source"
    return bound.home / ROWS / name / label(interval.start_us)


def _span(interval: Interval) -> Any:  # noqa: ANN401 - a pair of datetimes
    return from_us(interval.start_us), from_us(interval.end_us)


def _call(bound: Bound, interval: Interval) -> str:
    start, end = spell_instant(interval.start_us), spell_instant(interval.end_us)
    return f"{_source(bound).named}({start}, {end})"


def _source(bound: Bound) -> FunctionSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind
