"""`sources.files`: its arguments, and what is refused of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from muntin.definition.checks import check_choice, check_mapping
from muntin.definition.relative_paths import readable
from muntin.errors import DefinitionError
from muntin.sources.dialect import dialect, refuse_unless
from muntin.sources.file_source import FileSource, Missing
from muntin.sources.hive import check_names
from muntin.sources.path_templates import Format, check_template, format_of
from muntin.sources.repeated_rows import checked_changes
from muntin.sources.row_source import checked_terms
from muntin.sources.source import OnBadFile, OnSchema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.durations import Duration
    from muntin.sources.row_source import Ambiguous, Nonexistent, Unit


def files(
    path: str,
    *,
    event_time: str | None = None,
    unit: Unit | None = None,
    timezone: str | None = None,
    ambiguous: Ambiguous = "quarantine",
    nonexistent: Nonexistent = "quarantine",
    missing: Missing = "error",
    format: Format | None = None,  # noqa: A002 - the word users know
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    all_files: bool = False,
    checksum: bool = False,
    time_format: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    null: str | Sequence[str] | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: Sequence[str] | None = None,
    on_bad_file: OnBadFile = "error",
    ready: str | None = None,
    columns: Mapping[str, str] | None = None,
    hive: Mapping[str, str] | None = None,
    dedupe: str | Sequence[str] | None = None,
    dedupe_within: Duration | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the word of change streams
    operation: str | None = None,
    deletes: str | None = None,
    changes_within: Duration | None = None,
    on_schema: OnSchema = "error",
    hidden: bool = False,
) -> FileSource:
    """Files of Parquet, CSV (with a header) or JSON lines, plain or compressed (.gz, .zst).

    Args:
        path: where a batch's files are: a template over the data interval, as
            "data/{start:%Y-%m-%d}/*.parquet"; `{start}` and `{end}` take strftime formats, by the clock of
            the pipeline's `timezone`; `{start_utc}` and `{end_utc}` are in UTC; `*`, `?`, `[...]` and `**`
            are globs. Files lie in this machine's file system or in an object store, as
            "s3://bucket/{start:%Y/%m/%d}/*.parquet", and are read as they stand: the names of their folders
            (`day=2024-01-01`) give columns only if `hive` says so.
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer. None of a dimension,
            whose rows are looked up: `path` then names all its files, without `{start}`.
        unit: of an integer event time.
        timezone: the zone of event times that have none; UTC unless given.
        ambiguous: what a local time is that comes twice in the zone, as its clocks are set back: for the
            "quarantine", the "first" or the "second" showing; or by "arrival": rows in the order of
            `arrival_order` go back once in this hour, where the second begins.
        nonexistent: what a local time is that never was, as clocks are set forward: for the "quarantine"; or
            "shift", moved on by as much.
        missing: what an interval without files is: an "error", or an "empty" batch.
        format: of the files; what the name ends in unless given.
        types: column -> SQL type, where a file's own content would say otherwise from day to day, as in CSV
            and JSON.
        arrival_order: a column that orders the rows of a batch by arrival; file path and position in the file
            unless given. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.
        all_files: whether every batch reads every file, so that `path` needs neither `{start}` nor `{end}`:
            for a pipeline that is run over one interval. Rows of several batches would count in each.
        checksum: whether a file has changed is found by its content, which takes three more readings: before
            and after it is read, and when `outdated` compares. Without, by its size and the time when it was
            last written.
        time_format: how event times are written where they are text, as strptime takes it: "%d.%m.%Y %H:%M";
            ISO 8601 unless given.
        delimiter: what stands between the values of a CSV file: a comma, in a file `.tsv` a tab, unless
            given.
        quote: what stands around a value of CSV that holds a delimiter or a line end: `"` unless given; ""
            where nothing does.
        null: the texts of CSV that are null, as ["", "NA"]; the empty text unless given.
        encoding: of CSV and JSON files: "utf-8" unless given, or any that Python knows, as "latin-1",
            "windows-1252" or "utf-16". A byte order mark at the begin of a file counts more.
        decimal: what stands before the decimals of a number in CSV: "." unless given, or ",".
        header: the names of the columns of CSV files without a header.
        on_bad_file: what a file is that is empty (0 bytes), cut off, damaged, a folder, or lacks a column: an
            "error", or a row of the "quarantine", which counts as one row of its batch.
        ready: the name of a file that says that the other files of its folder are whole, as "_SUCCESS". A
            batch without it is an error. With `**` it may lie in a folder above the files, from the folder
            before `**` on.
        columns: column -> SQL type of columns that some files lack, as files from before the column was
            there: null in these.
        hive: column -> SQL type of columns that the names of folders give: {"dt": "DATE", "hour": "INTEGER"}
            for files below `dt=2024-01-01/hour=03/`. They come before columns of the same name in the files.
        dedupe: the column, or the columns, that tell events apart. Of rows of a batch that are alike in them
            the first to arrive counts; the other rows are duplicates, which the report counts. A null is like
            no other. A batch is then read by one task.
        dedupe_within: how far the event times of duplicates in two batches may lie apart, as "2d". A row is
            then a duplicate, too, if a row
            of an earlier batch is alike in these columns and its event time differs by at most this. None:
                batches are not compared.
        id: the column, or the columns, that name a row where later rows change it, as streams of changes
            (CDC) have them. Of all rows of an id the last to arrive counts, in the batch that brought the id
            first, which is then read again.
        operation: the column that tells what a row is, as Debezium, Flink and Delta's change feed write it:
            c, r, +I, insert bring a row, u, +U, update change it, d, -U, -D, delete take it back. A row with
            another word goes to the quarantine.
        deletes: SQL condition that tells which rows take a row back, as "op = 'D'". Such a row needs no event
            time. Without `operation`
            nothing tells an update from a new row: an id of which no row came for `changes_within` is new.
        changes_within: how long after its first row an id may still change, by the starts of their batches,
            as "30d". What changes it later, or changes an id that never came, goes to the quarantine.
        on_schema: what a batch is with a column that has a type which contradicts earlier batches, as text
            after a number: an "error", or a batch that waits in the "quarantine" as a whole, each of its
            files a row, until it is mended and read again.
        hidden: whether files count that have a name which begins with `_` or `.`, or lie in a folder with
            one, as `_temporary/`. Else they are passed over, and the report counts them; a name that begins
            so in `path` itself is meant.

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
    if format is not None:
        check_choice("format", format, get_args(Format))
    for what, given in (("types", types), ("columns", columns), ("hive", hive)):
        check_mapping(what, given or {}, f'{what}={{"amount": "DOUBLE"}}, a column and its SQL type')
    form = format or format_of(str(path))
    if delimiter is not None and form != "csv":
        raise DefinitionError(f"delimiter={delimiter!r} is for CSV; the files here are {form}")
    refuse_unless(
        delimiter is None
        or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'),
        "delimiter",
        delimiter,
        'give one character, as ";"',
    )
    written = dialect(quote, null, encoding, decimal, header)
    for name in written.facts:
        if form != "csv" and (form, name) != ("json", "encoding"):
            raise DefinitionError(
                f"{name}=... is for CSV{' and JSON' if name == 'encoding' else ''}; the files here are {form}"
            )
    refuse_unless(
        ready is None or (isinstance(ready, str) and ready and "/" not in ready),
        "ready",
        ready,
        'give the name of a file in the folder of the others, as "_SUCCESS"',
    )
    all_files = all_files or event_time is None
    check_template(readable(path, "path"), all_files=all_files)
    check_names(hive or {}, (*(columns or {}), *(types or {})))
    column_types = {**(columns or {}), **(types or {}), **(hive or {})}
    changed = checked_changes(id, operation, deletes, changes_within, dedupe)
    terms = checked_terms(
        event_time,
        unit,
        timezone,
        ambiguous,
        nonexistent,
        column_types,
        arrival_order,
        arrival_time,
        time_format,
        dedupe,
        dedupe_within,
        changed,
    )
    unknown = [name for name in terms["dedupe"] if name not in terms["types"]]
    # text does not tell types: the id 007 would be a number in the files of one batch, and a text in another
    if terms["dedupe_within_us"] is not None and form != "parquet" and unknown:
        raise DefinitionError(
            f"{unknown[0]} of files of different batches is compared (dedupe_within=, changes_within=), so"
            " its type must be said where "
            f'files are {form}: types={{"{unknown[0]}": "VARCHAR"}}'
        )
    return FileSource(
        str(path),
        missing,
        form,
        all_files,
        checksum,
        delimiter,
        written,
        on_bad_file,
        ready,
        on_schema,
        hidden,
        columns=dict(columns or {}),
        hive=dict(hive or {}),
        **terms,
    )
