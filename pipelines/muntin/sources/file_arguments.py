"""`sources.files`: its arguments, and what is refused of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast, get_args

from muntin.definition.checks import check_choice, check_mapping
from muntin.definition.relative_paths import readable
from muntin.errors import DefinitionError
from muntin.old_names import old_names_refused
from muntin.sources.dialect import ENVELOPES, JSON, SHEET, Dialect, FileFormat, refuse_unless
from muntin.sources.file_source import FileSource, Missing
from muntin.sources.path_templates import Format, check_names, check_template, ending, format_of
from muntin.sources.row_source import LookBack, checked_terms
from muntin.sources.source import OnBadFile, OnSchema
from muntin.sources.time_arguments import as_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.sources.repeated_rows import Events
    from muntin.sources.time_arguments import At


@old_names_refused
def files(
    path: str,
    *,
    event_time: str | At | None = None,
    format: Literal["parquet", "csv", "jsonl", "xlsx", "debezium"] | FileFormat | None = None,  # noqa: A002 - the word users know
    rows: Events | None = None,
    changes: Events | None = None,
    missing: Missing = "error",
    types: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    hive: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    all_files: bool = False,
    ready: str | None = None,
    on_bad_file: OnBadFile = "error",
    on_schema: OnSchema = "error",
    look_back: LookBack = "all",
) -> FileSource:
    """Files of Parquet, CSV (with a header) or JSON lines, plain or compressed (.gz, .zst), or of Excel.

    Args:
        path: where a batch's files are: a template over the data interval, as
            "data/{start:%Y-%m-%d}/*.parquet"; `{start}` and `{end}` take strftime formats, by the clock of
            the pipeline's `timezone`; `{start_utc}` and `{end_utc}` are in UTC; `*`, `?`, `[...]` and `**`
            are globs. Files lie in this machine's file system or in an object store, as
            "s3://bucket/{start:%Y/%m/%d}/*.parquet", and are read as they stand: the names of their folders
            (`day=2024-01-01`) give columns only if `hive` says so. Files with a name that begins with `_` or
            `.`, or in a folder with one, as `_temporary/`, are passed over, and the report counts them; a
            name that begins so in `path` itself is meant.
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer; `at("scheduled", timezone=...)` says how it is read. None of a dimension, whose rows are
            looked up: `path` then names all its files, without `{start}`.
        format: of the files: "parquet", "csv", "jsonl", "xlsx", or how they are written, as
            `csv(delimiter=";")`; what the name ends in unless given. "debezium": its messages, JSON or Avro.
        rows: how rows become facts, where not each row is an event: `events(dedupe="event_id")`, or
            `events(id="order_id", operation="op", within="30d")` of rows that later rows change.
        changes: the same, as `changes(id="order_id", operation="op", within="30d")`.
        missing: what an interval without files is: an "error", or an "empty" batch.
        types: column -> SQL type, where a file's own content would say otherwise from day to day, as in CSV
            and JSON.
        columns: column -> SQL type of columns that some files lack, as files from before the column was
            there: null in these.
        hive: column -> SQL type of columns that the names of folders give: {"dt": "DATE", "hour": "INTEGER"}
            for files below `dt=2024-01-01/hour=03/`. They come before columns of the same name in the files.
        arrival_order: a column that orders the rows of a batch by arrival; file path and position in the file
            unless given. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.
        all_files: whether every batch reads every file, so that `path` needs neither `{start}` nor `{end}`:
            for a pipeline that is run over one interval. Rows of several batches would count in each.
        ready: the name of a file that says that the other files of its folder are whole, as "_SUCCESS". A
            batch without it is an error. With `**` it may lie in a folder above the files, from the folder
            before `**` on.
        on_bad_file: what a file is that is empty (0 bytes), cut off, damaged, a folder, or lacks a column: an
            "error", or a row of the "quarantine", which counts as one row of its batch.
        on_schema: what a batch is with a column that has a type which contradicts earlier batches, as text
            after a number: an "error", or a batch that waits in the "quarantine" as a whole, each of its
            files a row, until it is mended and read again.
        look_back: each run compares "all" earlier batches with their files, and reads again what has changed;
            or the batches of the last "90d"; None: none.

    Every file of a batch needs the used columns that are not in `columns`. Other columns may come and go, in
    any order. A type that is wider than in earlier batches, as long after int, double after float and
    decimal(12,2) after decimal(10,2), is taken.

    Raises:
        DefinitionError: a template without `{start}` and `{end}` or with other fields, an address of no
            object store, an unknown
            format, unit, zone or word for `missing`. When a pipeline is built: neighbouring batches have the
                same files.
    """
    check_choice("missing", missing, get_args(Missing))
    check_choice("on_bad_file", on_bad_file, get_args(OnBadFile))
    check_choice("on_schema", on_schema, get_args(OnSchema))
    for what, given in (("types", types), ("columns", columns), ("hive", hive)):
        check_mapping(what, given or {}, f'{what}={{"amount": "DOUBLE"}}, a column and its SQL type')
    if rows is not None and changes is not None:
        raise DefinitionError("changes: rows= says already how rows become facts; leave one of them out")
    form, written = _format(format, str(path))
    if written.dialect.of == ENVELOPES:
        from muntin.sources.envelopes import rows_of_changes, time_of_changes, types_of_changes

        rows, event_time = rows_of_changes(rows or changes), time_of_changes(as_at(event_time))
        types, columns = types_of_changes(types), types_of_changes(columns)
    refuse_unless(
        ready is None or (isinstance(ready, str) and ready and "/" not in ready),
        "ready",
        ready,
        'give the name of a file in the folder of the others, as "_SUCCESS"',
    )
    all_files = all_files or event_time is None
    check_template(readable(path, "path"), all_files=all_files)
    if hive:
        check_names(hive, (*(columns or {}), *(types or {})))
    column_types = {**(columns or {}), **(types or {}), **(hive or {})}
    terms = checked_terms(
        event_time, rows or changes, column_types, arrival_order, arrival_time, look_back=look_back
    )
    if terms["dedupe_within_us"] is not None and form != "parquet":
        # as texts: the id 007 would be a number in the files of one batch, and a text in another
        terms["types"] = dict.fromkeys(terms["dedupe"], "VARCHAR") | terms["types"]
    return FileSource(
        str(path),
        missing,
        form,
        all_files,
        written.delimiter,
        replace(written.dialect, of=written.dialect.of or JSON) if form == "json" else written.dialect,
        on_bad_file,
        ready,
        on_schema,
        columns=dict(columns or {}),
        hive=dict(hive or {}),
        **terms,
    )


def _format(given: object, path: str) -> tuple[Format, FileFormat]:
    written = given if isinstance(given, FileFormat) else FileFormat("csv")
    if given is None and ending(path) != "xlsx":
        return format_of(path), written
    if callable(given):
        raise DefinitionError(f"format: {given!r} is a function; write format=sources.csv()")
    name = given.name if isinstance(given, FileFormat) else given or "xlsx"
    check_choice("format", name, ("parquet", "csv", "jsonl", "xlsx", "debezium"))
    if name in ("xlsx", "debezium"):
        return "json", FileFormat("jsonl", dialect=Dialect(of=SHEET if name == "xlsx" else ENVELOPES))
    return ("json" if name == "jsonl" else cast("Format", name)), written
