"""Check: what can be known to be wrong before a row is read, by DuckDB on one file and by
the suites' text.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.definition.remarks import remarks
from muntin.definition.spelling import did_you_mean
from muntin.errors import MuntinError, SourceError
from muntin.jobs.accumulate.readings import bounds_of, common_types, parts_of, types_of
from muntin.jobs.inputs.inputs import first_inputs, inputs, with_dimensions
from muntin.jobs.inputs.listings.listing import first_intervals
from muntin.jobs.published.promotion import check_not_superseded
from muntin.jobs.remarks import LARGE, lacking, remarked, unreadable
from muntin.jobs.schema_check.same_versions import say_other_versions
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.state.given_spans import tables_read
from muntin.jobs.state.source_note import noted
from muntin.sources.file_source import FileSource
from muntin.sources.listing import splits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.accumulate.readings import Types
    from muntin.jobs.inputs.listings.listing import Inputs
    from muntin.quality.suite import Expectation, Suite
    from muntin.sources.listing import SourceFile

_log = logging.getLogger("muntin")
_TRIED = 20  # files, until one has rows


def check(
    bound: Bound,
    intervals: Sequence[Interval],
    *,
    validate: bool = True,
    allow_missing: bool = False,
    columns: bool = False,
) -> None:
    """See that a run of some intervals has its files, that SQL, keys and columns fit them, and that the
    suites can be used.

    Nothing is changed. A text file of more than 64 MB is not read: the run itself does that. An error names
    all intervals without files. `validate`: expectations will guard what is published. `columns`: hold SQL,
    keys and columns against the files of a definition that has run before, too; a run leaves that to
    accumulate, which binds to the files that it reads.
    """
    check_not_superseded(bound)
    _check_packages(bound.pipeline)
    say_other_versions(bound.folder)
    tables_read(bound)
    if validate:
        check_suites(bound)
    given = all_inputs(bound, intervals, allow_missing=allow_missing)
    first = not bound.folder.is_dir()
    if first or columns:
        check_columns(bound, given)
    if first:
        for each in (*remarked(bound, given), *lacking(bound, given, intervals)):
            _log.warning("%s: %s", bound.pipeline.name, each)


def _check_packages(pipeline: Pipeline) -> None:
    """See that what sinks and alerts need is installed."""
    if pipeline.to or pipeline.alerts:
        from muntin.jobs.state.needed_packages import check_packages

        check_packages(pipeline)


@dataclass(frozen=True, slots=True)
class Examined:
    """A definition that fits what is there.

    Attributes:
        files: paths of the files that it was held against; () where the first intervals have none.
        remarks: on what is allowed, and seldom meant.
        without_files: for each source without files, where files were searched.
    """

    files: tuple[str, ...]
    remarks: tuple[str, ...]
    without_files: tuple[str, ...]


def examined(pipeline: Pipeline, *, root: str | AnyPath) -> Examined:
    """Run `check` on the files of the first interval that has any, and return its remarks."""
    _check_packages(pipeline)
    bound = bind(pipeline, root)
    given = first_inputs(bound)
    files = [file for files_of_batch in given.files.values() for file in files_of_batch]
    lacks = lacking(bound, given, first_intervals(bound))
    read = lacks or not files or check_columns(bound, given)
    check_suites(bound)
    tables_read(bound)
    remark_texts = (
        remarked(bound, given) if read else [*remarks(pipeline), unreadable(bound.source, files[0].path)]
    )
    return Examined(tuple(file.path for file in files), tuple(remark_texts), tuple(lacks))


def all_inputs(bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool = False) -> Inputs:
    """The inputs as `inputs` gives them, but an error names every interval without files."""
    try:
        return inputs(bound, intervals, allow_missing=allow_missing, there=True)
    except SourceError as first:
        from muntin.files.near import near

        missing = [interval for interval in intervals if _lacks(bound, interval)]
        others = (
            f"\n{len(missing)} intervals are without: {', '.join(map(str, missing))}"
            if len(missing) > 1
            else ""
        )
        none = (
            isinstance(bound.source, FileSource)
            and len(missing) == len(intervals)
            and near(bound.source.patterns(intervals[0]))
        )
        raise type(first)(f"{first}{others}" + (f"\n{none}" if none else "")) from first


def _lacks(bound: Bound, interval: Interval) -> bool:
    try:
        inputs(bound, [interval])
    except SourceError:
        return True
    return False


def check_columns(bound: Bound, given: Inputs) -> bool:
    """Bind SQL, keys and columns to one small file with rows; if it does not fit, to what a run would bind
    to.

    Returns whether the files have a row that can be read, as far as the check read them.
    """
    types = types_bound(bound, given)
    return types is None or any(types.values())


def types_bound(bound: Bound, given: Inputs) -> Types | None:
    """The SQL types of the columns of each frame set's states, lifted of one small file with rows; {} where
    it has no row that can be read.

    None: there is no file, or its columns cannot be known soon.
    """
    parts = parts_of(with_dimensions(bound), given)
    files = {name: _smallest(*part) for name, part in parts.items()}
    if not any(files.values()) or any(
        _takes_long(parts[name][0], files_of_source) for name, files_of_source in files.items()
    ):
        return None
    bounds = bounds_of(
        parts, {name: [[file.path] for file in files_of_source] for name, files_of_source in files.items()}
    )
    state_schemas: dict[str, pa.Schema | None] = {
        frames.table: bound.store.snapshot(frames.table).schema for frames in bound.frame_sets
    }
    return common_types(
        {
            name: _types(bounds[name], parts[name][1], files_of_source, state_schemas)
            for name, files_of_source in files.items()
            if files_of_source
        }
    )


def _types(
    bound: Bound, given: Inputs, files: Sequence[SourceFile], state_schemas: Mapping[str, pa.Schema | None]
) -> Types:
    try:
        return types_of(bound, state_schemas, [[file.path] for file in files])
    except MuntinError:  # the files of a split may have more columns together
        whole = bound.source.in_one_piece
        return types_of(
            bound,
            state_schemas,
            [
                [file.path for file in split]
                for files_of_batch in given.files.values()
                for split in splits(files_of_batch, whole=whole)
            ],
        )


def _smallest(bound: Bound, given: Inputs) -> list[SourceFile]:
    """Some files of a source, the smallest first."""
    return sorted(
        (file for files_of_batch in given.files.values() for file in files_of_batch),
        key=_smallest_first(bound),
    )[:_TRIED]


def _takes_long(bound: Bound, files: Sequence[SourceFile]) -> bool:
    """Whether the columns of a source are in large texts alone, or only Spark can tell them."""
    if bound.source.needs_spark:
        return not noted(bound.folder, bound.source.member)
    return bool(files) and bound.source.format != "parquet" and files[0].size > LARGE


def _smallest_first(bound: Bound) -> Callable[[SourceFile], int]:
    """Parquet tells its columns at any size; of text the smallest file is read through fastest."""
    return (lambda _: 0) if bound.source.format == "parquet" else (lambda file: file.size)


def check_suites(bound: Bound) -> None:
    """See that the suite of each window can be read, and that its critical expectations are known and speak
    of columns of the window.
    """
    if not bound.pipeline.expectations:
        return
    from muntin.definition.extras import need

    need("great_expectations")
    from muntin.jobs.publish.validate import find_suite
    from muntin.quality.suite import load_suite

    for window, path in bound.pipeline.expectations.items():
        _check_suite(bound, window, load_suite(find_suite(path)))


def _check_suite(bound: Bound, window: str, suite: Suite) -> None:
    columns = (*bound.keys_of(window), "window_start", "window_end", *bound.windows[window].columns)
    columns += (*bound.pipeline.results, "batch")
    with_states = bound.pipeline.retention.states_in_windows
    from muntin.quality.suite import SuiteError

    for number, each in enumerate(suite.expectations, 1):
        where = f"{suite.path}: expectation {number} ({each.type})"
        _check_type(each, where)
        for name in each.columns if each.severity == "critical" else ():
            if name not in columns and not (with_states and name.startswith("state_")):
                raise SuiteError(
                    f"{where}: no column {name!r} in window {window!r}; there are"
                    f" {', '.join(columns)}{did_you_mean(name, columns)}"
                )


def _check_type(each: Expectation, where: str) -> None:
    expectation_names = _core_expectations()
    like = "" if each.type in expectation_names else did_you_mean(each.type, expectation_names)
    if expectation_names and like:  # expectations of other packages are not listed there
        from muntin.quality.suite import SuiteError

        raise SuiteError(f"{where}: Great Expectations has no such expectation{like}")


@cache
def _core_expectations() -> frozenset[str]:
    """The expectations that come with Great Expectations, by its files' names: importing it takes seconds."""
    package_spec = find_spec("great_expectations")
    folder = (
        Path(package_spec.origin).parent / "expectations" / "core"
        if package_spec and package_spec.origin
        else None
    )
    return frozenset(file.stem for file in folder.glob("*expect*.py")) if folder else frozenset()
