"""Some rows of some files: the first, the middle and the last, and of each its begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli.draft.paths import dated, patterns_of
from muntin.cli.draft.stored import ROWS, Ends, database_rows, delta_rows, is_database, plain_rows
from muntin.cli.draft.table import Column, Table, decoded, table_of
from muntin.errors import DefinitionError
from muntin.sources.dialect import SHEET, Dialect
from muntin.sources.path_templates import FORMATS, ending, format_of, tells_format
from muntin.sources.sessions.json_lines import BEGIN, are_lines, in_lines
from muntin.sources.sessions.plain_text import content

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {*FORMATS.values()}
_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of files.

    Attributes:
        paths: of all files.
        read: the numbers of the files that rows are of, one a row.
        form: of `FILES`, delta or sql.
        pattern: what matches all files and no neighbour, if they have no dates; the table of a database.
        written_at: when the newest file, or the last commit, was written.
        ends: what asks a database for the least and the greatest value of a column.
    """

    paths: list[str]
    read: list[int]
    form: str
    table: Table
    pattern: str
    written_at: datetime
    ends: Ends = lambda _: []


def sampled(given: Sequence[str]) -> Sample:
    """Rows of the files that a person named: files, a folder, a pattern; or of a table."""
    if len(given) == 1 and is_database(given[0]):
        address, name, rows, ends = database_rows(given[0])
        return Sample([address], [0] * len(rows), "sql", _of_rows(rows, "row"), name, datetime.now(UTC), ends)
    if len(given) == 1 and (Path(given[0]) / "_delta_log").is_dir():
        path = Path(given[0]).absolute().as_posix()
        rows, made_at = delta_rows(path)
        return Sample([path], [0] * len(rows), "delta", _of_rows(rows, "row"), "", made_at)
    paths = sorted({path for each in given for path in _files(each)})
    if not paths:
        raise DefinitionError(
            f"--from: there is no file {' '.join(given)[:200]}; name files, a folder, or a pattern "
            "in quotes, as 'orders/*.csv'"
        )
    forms = {format_of(path) if tells_format(path) else "csv" for path in paths}
    if len(forms) > 1:
        raise DefinitionError(
            f"--from: files of {' and '.join(sorted(forms))} are two sources; name files of one format"
        )
    form = forms.pop()
    chosen = sorted({0, len(paths) // 2, len(paths) - 1})
    tables = [_table(paths[at], form) for at in chosen]
    first = tables[0]
    for at, table in zip(chosen, tables, strict=True):
        if table.written != first.written and {*table.written} != {*first.written}:
            raise DefinitionError(
                f"--from: {paths[at]} is written in another way than {paths[0]} "
                f"({[*table.written]}, {[*first.written]}); name files of one kind"
            )
    of_names = [{column.name: column for column in table.columns} for table in tables]
    columns = [
        Column(
            each.name,
            [value for names in of_names for value in names[each.name].values],
            [line for names in of_names for line in names[each.name].lines],
            each.place,
        )
        for each in first.columns
        if all(each.name in names for names in of_names)
    ]
    read = [at for at, table in zip(chosen, tables, strict=True) for _ in table.columns[0].values]
    return Sample(
        paths,
        read,
        form,
        Table(columns, first.written),
        _pattern(given, paths),
        datetime.fromtimestamp(max(Path(path).stat().st_mtime for path in paths), UTC),
    )


def _pattern(given: Sequence[str], paths: list[str]) -> str:
    """A pattern that matches files and nothing else."""
    files, own = dated(paths), [Path(each).absolute().as_posix() for each in given if has_magic(each)]
    tried = [f"{files.before}*{files.behind}"] if files else [*own, *patterns_of(paths)]
    others = paths
    for each in tried:
        pattern = each.replace("{{", "{").replace("}}", "}")
        there = {
            path
            for path in glob(pattern, recursive=True)  # noqa: PTH207 - it is absolute
            if Path(path).is_file() and not Path(path).name.startswith(("_", "."))
        }
        if there == {*paths} or (files and there <= {*paths}):
            return each
        others = sorted(there - {*paths}) or others
    raise DefinitionError(
        f"--from: a pattern for these {len(paths)} files matches {others[0]}, too; name that file as well, "
        "or move files of one kind into a folder of their own"
    )


def _files(given: str) -> Iterator[str]:
    path = Path(given)
    if path.is_dir():
        each = [str(one) for one in path.rglob("*") if one.is_file() and tells_format(str(one))]
    else:
        is_pattern = has_magic(given) and not path.exists()
        each = glob(given, recursive=True) if is_pattern else [given]  # noqa: PTH207 - it may be absolute
    for name in each:
        if Path(name).is_file() and not Path(name).name.startswith(("_", ".")):
            yield Path(name).absolute().as_posix()


def _table(path: str, form: str) -> Table:
    import pyarrow as pa

    try:
        if form == "parquet":
            return _of_rows(_parquet(path), "row")
        if ending(path) == "xlsx":
            head, is_whole = content(path, Dialect(of=SHEET).made_plain), True
        else:
            with pa.input_stream(path, compression="detect") as stream:
                head, is_whole = stream.read(_BYTES), not stream.read(1)
    except (OSError, pa.ArrowInvalid) as wrong:
        raise DefinitionError(f"--from: {path} cannot be read: {wrong}; name a whole file") from wrong
    text, encoding = decoded(head)
    if form == "json":
        table = _of_rows(
            _objects(text, path, is_whole=is_whole), "object" if text.lstrip().startswith("[") else "line"
        )
    else:
        table = table_of(text, is_whole=is_whole)
        tab = path.lower().partition(".tsv")[1] and table.written.get("delimiter", ("",))[0] == "\t"
        if tab:
            del table.written["delimiter"]
    return Table(table.columns, encoding | table.written)


def _parquet(path: str) -> list[dict[str, object]]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=ROWS), None)
        return plain_rows(batch) if batch is not None else []


def _objects(text: str, path: str, *, is_whole: bool) -> list[dict[str, object]]:
    import json

    if is_whole:
        text = b"".join(in_lines([text.encode()])).decode()
    elif not are_lines(text[:BEGIN].encode()):
        raise DefinitionError(
            f"--from: {path} is large, and its objects stand in an array or over several lines; write JSON"
            " lines, an object a line"
        )
    rows = []
    for line in islice(text.split("\n")[: None if is_whole else -1], ROWS):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError:
            continue  # a run puts it into the quarantine
        rows += [row] if isinstance(row, dict) else []
    return rows


def _of_rows(rows: list[dict[str, object]], place: str) -> Table:
    if not rows:
        raise DefinitionError("--from: no row can be read; name a file or a table that has rows")
    names = [*dict.fromkeys(name for row in rows for name in row)]
    lines = [*range(1, len(rows) + 1)]
    return Table([Column(name, [row.get(name) for row in rows], lines, place) for name in names], {})
