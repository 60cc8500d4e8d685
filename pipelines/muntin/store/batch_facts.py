"""Facts of batches: from the path of a states file that holds one, from the footer of a file that several
batches share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.files.paths import AnyPath
from muntin.store.contents import damaged
from muntin.store.parquet import footer, table_of, text_of
from muntin.store.paths import SharedPath, StatesPath, digest_of, parse_states_path, version_of
from muntin.store.store import File
from muntin.timeline.batches import Batches, BySource

_KEY, _DIGEST = "muntin.batches", "muntin.batches_digest"
_SOURCES = "newest_by_source"
# facts that are left out where they are 0 of all batches
_SELDOM = {"expired": np.bool_, "decided": np.uint64}
_PLAIN = tuple(name for name in Batches.__slots__ if name != _SOURCES)


def facts_footer(batches: Batches) -> Mapping[str, str]:
    """The text for the footer of a file that these batches share."""
    columns = {
        name: getattr(batches, name) for name in _PLAIN if name not in _SELDOM or getattr(batches, name).any()
    }
    if width := batches.newest_by_source.shape[1]:
        columns[_SOURCES] = pa.FixedSizeListArray.from_arrays(
            pa.array(batches.newest_by_source.ravel()), width
        )
    text = text_of(pa.table(columns))
    return {_KEY: text, _DIGEST: digest_of(text.encode())}


def batches_of(folder: AnyPath, files: Sequence[File], after: Callable[[int], int]) -> Batches:
    """The batches in some files of a table of states, ascending.

    `folder`: of the table. `files`: all files of these batches. `after`: from the start of an interval to its
    end.
    """
    here = str(folder)
    alone: list[tuple[StatesPath, File]] = []
    shared: list[str] = []
    for file in files:
        path = parse_states_path(file.path)
        if isinstance(path, SharedPath):
            shared.append(f"{here}/{file.path}")
        else:
            alone.append((path, file))
    return Batches.joined([_joined(tuple(shared)), _own(alone, after)])


def _own(files: list[tuple[StatesPath, File]], after: Callable[[int], int]) -> Batches:
    """The batches whose files are their own."""
    files.sort(key=lambda one: one[0].batch_us)
    by_batch = [
        (start, list(named_files)) for start, named_files in groupby(files, lambda one: one[0].batch_us)
    ]
    own = Batches.of(_facts(start, named_files, after) for start, named_files in by_batch)
    return replace(
        own,
        newest_by_source=_newest_by_source(
            [[path for path, _ in named_files] for _, named_files in by_batch]
        ),
    )


def _newest_by_source(batches: Sequence[Sequence[StatesPath]]) -> BySource:
    """The largest event time of each source in each batch, from the paths of its files."""
    width = max(
        (path.source + 1 for paths in batches for path in paths if path.source is not None), default=0
    )
    newest = np.full((len(batches), width), BEFORE_ALL)
    for at, paths in enumerate(batches) if width else ():
        for path in paths:
            if path.source is not None and path.newest_us is not None:
                newest[at, path.source] = max(newest[at, path.source], path.newest_us)
    return newest


@lru_cache(maxsize=8)
def _joined(paths: tuple[str, ...]) -> Batches:
    """The batches of several shared files: these change seldom, and several steps of a run ask for them."""
    return Batches.joined([shared_batches(path) for path in paths])


def _facts(
    start_us: int, files: list[tuple[StatesPath, File]], after: Callable[[int], int]
) -> tuple[int, ...]:
    """The facts of a batch whose files are its own."""
    paths = [path for path, _ in files]
    newest = max((path.newest_us for path in paths if path.newest_us is not None), default=BEFORE_ALL)
    low = min((path.low_us for path in paths if path.low_us is not None), default=AFTER_ALL)
    high = max((path.high_us for path in paths if path.high_us is not None), default=BEFORE_ALL)
    version = int(version_of(file.path for _, file in files), 16)
    return (
        start_us,
        after(start_us),
        version,
        newest,
        low,
        high,
        sum(file.rows for _, file in files),
        False,
        sum(path.decided for path in paths) % 2**64,
    )


@lru_cache(maxsize=1024)
def shared_batches(path: str) -> Batches:
    """The batches that share a file, from its footer. A file's name is its content: several steps of a run
    ask for it.
    """
    try:
        table = table_of(_told(footer(path)))
    except (OSError, pa.ArrowInvalid, KeyError, ValueError) as wrong:
        raise damaged(path, f"is gone or damaged ({wrong})") from wrong
    for name, kind in _SELDOM.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.array(np.zeros(len(table), kind)))
    plain = {name: table[name].combine_chunks().to_numpy(zero_copy_only=False) for name in _PLAIN}
    batches = Batches(**plain, newest_by_source=_sources(table))
    if not _are_named(batches, parse_states_path("/".join(path.split("/")[-2:]))):
        raise damaged(path, "holds other batches than its name says")
    return batches


def _are_named(batches: Batches, path: StatesPath | SharedPath) -> bool:
    """Whether a shared file has the batches of its name: two files may have been swapped."""
    if not isinstance(path, SharedPath) or len(batches) != path.batches:
        return False
    return (int(batches.start_us[0]), int(batches.start_us[-1])) == (path.first_us, path.last_us)


def _told(texts: Mapping[str, str]) -> str:
    """The text of the facts in a footer, which has the digest that the footer says."""
    text = texts[_KEY]
    if texts[_DIGEST] != digest_of(text.encode()):
        raise ValueError("its facts have another digest than it says")
    return text


def _sources(table: pa.Table) -> BySource:
    if _SOURCES not in table.column_names:
        return np.empty((len(table), 0), np.int64)
    lists = table[_SOURCES].combine_chunks()
    return lists.flatten().to_numpy().reshape(len(table), lists.type.list_size)
