"""Batches that rest on rows of a dimension that have changed: what their events looked up would be answered
otherwise.

dimension, as noted   EUR  [1 May, ...) 1.08
dimension now         EUR  [1 May, 3 May) 1.08  [3 May, ...) 1.10        differs from 3 May on
met                   batch of 2 May: EUR  00:10 .. 23:50  1.08         as before: stays
                      batch of 3 May: EUR  00:05 .. 23:58  1.08         is read again

Which keys differ from when on follows from two files of versions. Of what was met, only files are read whose
times reach there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.schedule import Interval
from muntin.files.paths import AnyPath, names_in
from muntin.files.readable import opened
from muntin.jobs.inputs.dimensions.read_dimensions import (
    ALWAYS,
    differing,
    otherwise,
    path_of_versions,
    read_dimensions,
)
from muntin.jobs.published.pending import accumulated, readable
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import change_note, read_note
from muntin.sources.reading.answers import MET
from muntin.sources.reading.dimension import Dimension, Versions, versions_of
from muntin.states.columns import BATCH
from muntin.states.frames import NO_INTS, Ints
from muntin.states.sorted import instants
from muntin.store.batch_facts import batches_of
from muntin.store.contents import whole_content
from muntin.store.paths import DIMENSIONS, LOOKED_UP, parse_states_path
from muntin.store.store import File

_LOOKUP, _KEY, _FIRST, _LAST, _ANSWER = MET.names[1:]
_NOTE = "dimensions.json"
_READING = ""
"""In the note in the place of names: batches are being read, by the versions that are named behind it; "": by
several.
"""
_UNKNOWN = "what its events looked up is not known"


@dataclass(frozen=True, slots=True)
class LookupChanges:
    """The batches to read again since what their events looked up has changed.

    Attributes:
        why: of each batch, in words.
        digests: name of a dimension -> the name of its versions as they are now.
        noted: what the note said before: the names of the versions on which all batches rested.
    """

    why: Mapping[Interval, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, str] = field(default_factory=dict)

    def remember(self, bound: Bound) -> None:
        """Note that all batches rest on these versions, so that the next run compares with them. Only to be
        called after reading.

        Where another run noted something else meanwhile nothing is noted, and the next run compares with all
        that was met.

        `bound`: with the dimensions by which batches were read.
        """
        if not self.digests:
            return

        def noted(content: Any) -> Mapping[str, str]:  # noqa: ANN401 - JSON
            now = _names(content)
            alone = now in (self.digests, _reading(self.digests)) or (
                now == self.noted and _READING not in now
            )
            return self.digests if digests_of(bound) == self.digests and alone else {}

        change_note(bound.folder / _NOTE, noted)


def digests_of(bound: Bound) -> dict[str, str]:
    """Name of a dimension -> the name of the versions by which batches are read."""
    return {each.name: each.digest for each in bound.dimensions}


def forget_other_versions(bound: Bound) -> None:
    """Take back the note of the versions on which all batches rest, and note that batches are being read by
    other versions.
    """
    mine = digests_of(bound)

    def noted(content: Any) -> Mapping[str, str] | None:  # noqa: ANN401 - JSON
        if (now := _names(content)) in (mine, _reading(mine)):
            return None
        return {_READING: ""} if _READING in now else _reading(mine)

    if bound.dimensions:
        change_note(bound.folder / _NOTE, noted)


def lookup_changes(bound: Bound) -> LookupChanges:
    """The batches whose events met rows of dimensions that have changed since."""
    if not bound.pipeline.lookups:
        return LookupChanges()
    snapshot = bound.store.snapshot(LOOKED_UP)
    reasons = dict.fromkeys(_apart(bound, snapshot.files).tolist(), _UNKNOWN)
    noted, digests = _note(bound), dict[str, str]()
    for dimension, table in read_dimensions(bound):
        digests[dimension.name] = dimension.digest
        if noted.get(dimension.name) != dimension.digest and snapshot.files:
            before = _before(bound, dimension.name, noted.get(dimension.name))
            starts = _affected(bound, snapshot.files, dimension, before, versions_of(table))
            reasons |= dict.fromkeys(
                starts.tolist(), f"rows of {dimension.name} that its events looked up have changed"
            )
    after = bound.pipeline.intervals.after
    intervals = readable(bound, [Interval(start, after(start)) for start in sorted(reasons)])
    why = {interval: reasons[interval.start_us] for interval in intervals}
    return LookupChanges(why, digests, noted)


def _note(bound: Bound) -> dict[str, str]:
    """Name of a dimension -> the name of the versions on which all batches rest, or `_READING`; nothing where
    there is no note.
    """
    return _names(read_note(bound.folder / _NOTE))


def _names(note: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    return {str(name): str(digest) for name, digest in note.items()} if isinstance(note, dict) else {}


def _reading(digests: Mapping[str, str]) -> dict[str, str]:
    """The note while batches are read by the given versions."""
    return {_READING: json.dumps(digests, sort_keys=True)}


def _before(bound: Bound, name: str, digest: str | None) -> Versions | None:
    """The versions on which all batches rest; None where they are not known."""
    try:
        return (
            versions_of(opened(bound.folder / DIMENSIONS / path_of_versions(name, digest)).read())
            if digest
            else None
        )
    except (OSError, ValueError, KeyError, pa.ArrowException):
        return None


def noted_versions(bound: Bound) -> dict[str, Versions]:
    """Name of a dimension -> the versions on which all batches rest; nothing of a dimension where they are
    not known.
    """
    versions_by_name = {
        name: _before(bound, name, digest) for name, digest in _note(bound).items() if name != _READING
    }
    return {name: versions for name, versions in versions_by_name.items() if versions}


def outlived_versions(folder: AnyPath) -> list[str]:
    """Names of the files of versions in a folder of `DIMENSIONS` that no note names: the next run compares
    with other versions.
    """
    noted = _names(read_note(folder.parent / _NOTE))
    noted_names = {path_of_versions(name, digest) for name, digest in noted.items() if name != _READING}
    return [name for name in names_in(str(folder)) if name not in noted_names]


def _apart(bound: Bound, files: Sequence[File]) -> Ints:
    """Starts of the batches whose states rest on something else than the table of what was met says."""
    if bound.source.dedupe_within_us is not None:
        return NO_INTS  # `settle` compares the names with ids and with what was met
    met = batches_of(bound.table(LOOKED_UP), files, bound.pipeline.intervals.after)
    apart = [NO_INTS]
    for frames in bound.frame_sets:
        batches = accumulated(bound, frames.table)
        at = met.position(batches.start_us)
        other = (at < 0) | (np.append(met.decided, np.uint64(0))[at] != batches.decided)
        apart.append(batches.start_us[other & ~batches.expired])
    return np.unique(np.concatenate(apart))


def _affected(
    bound: Bound, files: Sequence[File], dimension: Dimension, before: Versions | None, now: Versions
) -> Ints:
    """Starts of the batches that met what differs. `before`: None: everything may."""
    keys, begin, end = differing(before, now) if before else (None, NO_INTS, NO_INTS)
    low, high = (
        (int(begin.min(initial=np.iinfo(np.int64).max)), int(end.max(initial=np.iinfo(np.int64).min)))
        if before
        else ALWAYS
    )
    starts_of_files = [NO_INTS]
    for file in files:
        path = parse_states_path(file.path)
        if path.low_us is None or path.high_us is None or path.low_us >= high or path.high_us < low:
            continue
        met = opened(whole_content(bound.table(LOOKED_UP), file)).read()
        mask = pc.equal(met[_LOOKUP], dimension.name)
        if keys is not None:
            mask = pc.and_(mask, pc.is_in(met[_KEY], value_set=pa.array(keys)))
        met = met.filter(mask)
        starts_of_files.append(instants(met[BATCH])[otherwise(met, now)])
    return np.unique(np.concatenate(starts_of_files))
