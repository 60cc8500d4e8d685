"""The dimensions of a definition as they are now, for the tasks of a run and for who asks
what has changed.

Versions of a dimension compared with other versions, and with what batches met.

Hashes of keys and answers, nothing is read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from muntin.errors import SourceError
from muntin.jobs.state.bound import Bound
from muntin.sources.reading.answers import MET
from muntin.sources.reading.dimension import Dimension, Versions
from muntin.sources.reading.dimension_versions import read_dimension
from muntin.sources.reading.lookup import Lookup
from muntin.sources.whole_tables import table_now
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.parquet import write_named
from muntin.store.paths import DIMENSIONS

_KEY, _FIRST, _LAST, _ANSWER = MET.names[2:]
ALWAYS = (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
"""All times, microseconds."""


def otherwise(met: pa.Table, now: Versions) -> np.ndarray:
    """Whether what was met would be answered otherwise now."""
    keys, first, last = met[_KEY].to_numpy(), instants(met[_FIRST]), instants(met[_LAST])
    answer, had_row = met[_ANSWER].fill_null(0).to_numpy(), met[_ANSWER].is_valid().to_numpy()
    version, until = version_at(now, keys, first)
    has_row = version >= 0
    same = (has_row == had_row) & (~had_row | (np.append(now.answer, 0)[version] == answer))
    return ~(same & (last < until))


def version_at(versions: Versions, keys: Ints, times: Ints) -> tuple[Ints, Ints]:
    """The version that is valid for each key at a time, -1 without one, and until when the answer stays as it
    is.
    """
    order = np.argsort(versions.key, kind="stable")
    place = np.minimum(np.searchsorted(versions.key[order], keys), max(len(order) - 1, 0))
    ids = order[place] if len(order) else np.zeros(len(keys), np.int64)
    there = versions.key[ids] == keys if len(order) else np.zeros(len(keys), np.bool_)
    ids = np.where(there, ids, 0)
    number = _last_begun(versions, ids, times, there)
    begun = there & (number >= (versions.first[ids] if len(order) else 0))
    following = number + 1
    behind = there & (following < (versions.first[ids + 1] if len(order) else 0))
    ahead = np.where(behind, np.append(versions.since, 0)[np.where(behind, following, -1)], ALWAYS[1])
    until = np.append(versions.until, 0)[np.where(begun, number, -1)]
    valid = begun & (times < until)
    return np.where(valid, number, -1), np.where(valid, until, ahead)


def _last_begun(versions: Versions, ids: Ints, times: Ints, there: np.ndarray) -> Ints:
    """The last version of each key that began by a time; the place before the first version of the key where
    no version did.
    """
    owner = np.repeat(np.arange(len(versions.key)), np.diff(versions.first))
    at = np.arange(len(times))
    events = np.concatenate([owner, ids[there]])
    moments = np.concatenate([versions.since, times[there]])
    kind = np.repeat([0, 1], [len(owner), int(there.sum())])
    order = np.lexsort((kind, moments, events))
    begun = np.cumsum(kind[order] == 0) - 1
    number = np.full(len(times), -1, np.int64)
    asked = order[kind[order] == 1] - len(owner)
    number[at[there][asked]] = begun[kind[order] == 1]
    return number


def differing(before: Versions, now: Versions) -> tuple[Ints, Ints, Ints]:
    """The keys that have other answers than before, and the stretches of time in which they have: keys,
    begins, ends.
    """
    rows = [
        np.stack([np.repeat(each.key, np.diff(each.first)), each.since, each.until, each.answer])
        for each in (before, now)
    ]
    both = np.concatenate(rows, axis=1)
    order = np.lexsort(both)
    ordered = both[:, order]
    twice = (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)
    alone = np.ones(both.shape[1], np.bool_)
    alone[1:] &= ~twice
    alone[:-1] &= ~twice
    changed = ordered[:, alone]
    keys = np.concatenate([changed[0], changed[0]])
    moments = np.concatenate([changed[1], changed[2]])
    order = np.lexsort((moments, keys))
    keys, moments = keys[order], moments[order]
    moments = np.minimum(moments, ALWAYS[1] - 1)
    ends = np.where(
        np.append(keys[1:] == keys[:-1], np.zeros(min(len(keys), 1), np.bool_)),
        np.append(moments[1:], 0)[: len(keys)],
        ALWAYS[1],
    )
    (was, _), (is_now, _) = version_at(before, keys, moments), version_at(now, keys, moments)
    answers = [np.append(each.answer, 0)[version] for each, version in ((before, was), (now, is_now))]
    differs = ((was >= 0) != (is_now >= 0)) | ((was >= 0) & (answers[0] != answers[1]))
    return np.unique(keys[differs]), moments[differs], ends[differs]


_READ: dict[str, tuple[Dimension, pa.Table]] = {}
"""A definition and the facts of all files -> what was read of them: several steps of a run ask for it."""
_MOST = 4


def read_dimensions(bound: Bound) -> list[tuple[Dimension, pa.Table]]:
    """Each dimension and its versions, in the order of the definition."""
    return [_read(bound, name, each) for name, each in bound.pipeline.lookups.items()]  # type: ignore[arg-type]  # the look-ups of `sources`


def path_of_versions(name: str, digest: str) -> str:
    """The path of the file of a dimension's versions, below `DIMENSIONS`."""
    return f"{name}_{digest}.parquet"


def _read(bound: Bound, name: str, lookup: Lookup) -> tuple[Dimension, pa.Table]:
    with table_now(replace(lookup.source, event_time=lookup.since)) as whole:
        if not whole.files:
            raise SourceError(
                f"lookups[{name!r}]: no file or message of {lookup.place} was found; without its rows every"
                " event would find nothing, which nobody can tell from a wrong path"
            )
        cache_key = repr((name, lookup, bound.state, whole.facts))
        if cache_key not in _READ:
            dimension_and_versions = read_dimension(name, lookup, whole.source, whole.paths, bound.may_use)
            while len(_READ) >= _MOST:
                _READ.pop(next(iter(_READ)))
            _READ[cache_key] = dimension_and_versions
    dimension, versions = _READ[cache_key]
    flat = tuple(
        key
        for key in bound.pipeline.keys
        if key.partition(".")[0] == name and key.partition(".")[2] in dict(dimension.columns)
    )
    return replace(dimension, flat=flat), versions


def with_file(bound: Bound, dimension: Dimension, versions: pa.Table) -> Dimension:
    """The dimension with the file of its versions, which is written unless it is there."""
    folder, name = bound.folder / DIMENSIONS, path_of_versions(dimension.name, dimension.digest)
    write_named(versions, folder, lambda _: name)
    return replace(dimension, path=f"{folder}/{name}")
