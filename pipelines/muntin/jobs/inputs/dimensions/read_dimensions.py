"""The dimensions of a definition as they are now, for the tasks of a run and for who asks
what has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.sources.file_source import FileSource
from muntin.sources.listing import source_files
from muntin.sources.logged.table_files import files_now, in_full
from muntin.sources.reading.dimensions.reading import read_dimension
from muntin.sources.tables import TableSource
from muntin.store.parquet import write_named
from muntin.store.paths import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.sources.reading.dimensions.dimension import Dimension
    from muntin.sources.reading.dimensions.lookup import Lookup
    from muntin.sources.source import Source

_READ: dict[str, tuple[Dimension, pa.Table]] = {}
"""A definition and the facts of all files -> what was read of them: several steps of a run ask for it."""
_MOST = 4


def with_dimensions(bound: Bound, *, written: bool = False) -> Bound:
    """The definition with its dimensions as they are now; unchanged where it has none, or has been given
    them.

    `written`: whether tasks will read them, from files below the state. Two rows of a key at the same time
    are an error.
    """
    if not bound.pipeline.lookups or (
        bound.dimensions and (not written or all(each.path for each in bound.dimensions))
    ):
        return bound
    dimensions_and_rows = read_dimensions(bound)
    return replace(
        bound,
        dimensions=tuple(_written(bound, *each) if written else each[0] for each in dimensions_and_rows),
    )


def read_dimensions(bound: Bound) -> list[tuple[Dimension, pa.Table]]:
    """Each dimension and its versions, in the order of the definition."""
    return [_read(bound, name, each) for name, each in bound.pipeline.lookups.items()]  # type: ignore[arg-type]  # the look-ups of `sources`


def path_of_versions(name: str, digest: str) -> str:
    """The path of the file of a dimension's versions, below `DIMENSIONS`."""
    return f"{name}_{digest}.parquet"


def _read(bound: Bound, name: str, lookup: Lookup) -> tuple[Dimension, pa.Table]:
    source, files = _files(lookup)
    if not files:
        raise SourceError(
            f"lookups[{name!r}]: no file or message of {lookup.place} was found; without its rows every event"
            " would find nothing, which nobody can tell from a wrong path"
        )
    cache_key = repr((name, lookup, bound.state, files))
    if cache_key not in _READ:
        dimension_and_versions = read_dimension(
            name, lookup, source, [file.path for file in files], bound.may_use
        )
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


def _files(lookup: Lookup) -> tuple[Source, Sequence[SourceFile]]:
    """The source with what its log tells of it, and all its files as they are now."""
    source = replace(lookup.source, event_time=lookup.since)
    if isinstance(source, TableSource):
        full = in_full(source)
        return full, files_now(full)
    if not isinstance(source, FileSource):  # of an extension
        return source, source.all_now()
    any_interval = Interval(0, 1)
    return source, source_files(source, [any_interval])[0][any_interval]


def _written(bound: Bound, dimension: Dimension, versions: pa.Table) -> Dimension:
    """The dimension with the file of its versions, which is written unless it is there."""
    folder, name = bound.folder / DIMENSIONS, path_of_versions(dimension.name, dimension.digest)
    write_named(versions, folder, lambda _: name)
    return replace(dimension, path=f"{folder}/{name}")
