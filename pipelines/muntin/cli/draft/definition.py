"""The text of a definition, its suite and its test, from a sample of rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from muntin.cli.draft.columns import Looked, event_time, is_added_up, keys, looked_at, measures
from muntin.cli.draft.numbers import NULLS, marks_of
from muntin.cli.draft.paths import Dated, dated, escaped
from muntin.cli.draft.reading import Sample

_LONG = 108
_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_MOST_GRACE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a project holds beside the shared files: path -> text; and the range of a first run."""

    files: dict[str, str]
    start: str
    end: str


def drafted(name: str, sample: Sample, written_at: datetime) -> Draft:
    """A definition of a sample; `written_at`: when the newest of its files was written."""
    is_text, written = sample.form == "csv", dict(sample.table.written)
    cells = [_texts(column.values) for column in sample.table.columns] if is_text else []
    marks = marks_of(cells)
    delimiter = written.get("delimiter", (",", ""))[0]
    columns = [
        looked_at(each, marks, is_text=is_text, is_split_by_comma=delimiter == ",")
        for each in sample.table.columns
    ]
    time, key, sums = event_time(columns), keys(columns)[:2], measures(columns)
    used = [time, *key[:1], *sums]
    if is_text and (marks.decimal != "." or marks.thousands):
        written["decimal"] = (marks.decimal, marks.why)
        if marks.thousands:
            written["thousands"] = (marks.thousands, marks.why)
    nulls = sorted({null for each in used for null in each.nulls})
    if nulls:
        written["null"] = (["", *nulls], "stand in columns of numbers or times, and are null in every column")
    files = dated(sample.paths)
    border, grace, remark = _borders(files, sample, time)
    lines = [
        *_source(sample, files, border, written, time, used, is_text=is_text),
        *_schedule(files, border, sample, written_at),
        *_results(time, key, sums, grace, remark),
    ]
    first = files.start(border) if files else _FIRST
    last = files.end(border) if files else _FIRST + _whole(written_at)
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    doubts = [
        f"# not used: {each.name}: {each.number.why}"
        for each in columns
        if each.number and not each.number.sql
    ]
    doubts += [f"# not used: {each.times.doubt}" for each in columns if each.times and each.times.doubt]
    text = _HEAD.format(count=len(sample.paths), name=name) + "\n".join(
        [*map(_cut, doubts), f"{name} = Pipeline(", f'    name="{name}",', body, ")"]
    )
    suite = {"name": f"{name}_day", "expectations": _checks(key[:1], sums)}
    return Draft(
        {
            f"dags/{name}.py": f"{text}\n\ndag = airflow_dag({name}, catchup=False)\n",
            "expectations/day.json": json.dumps(suite, indent=2) + "\n",
            f"tests/test_{name}.py": _TEST.format(
                name=name, start=first, end=files.moved(first, 1) if files else last
            ),
            "README.md": _README.format(name=name, start=_shown(first), end=_shown(last)),
        },
        _shown(first),
        _shown(last),
    )


def _texts(values: Sequence[object]) -> list[str]:
    return [text for each in values if (text := str(each).strip()) and text not in NULLS]


def _spelled(value: object) -> str:
    """A text, or a list of texts, as Python writes it in double quotes."""
    return json.dumps(value, ensure_ascii=False)


def _shown(at: datetime) -> str:
    return f"{at:%Y-%m-%d}" if not at.hour else f"{at:%Y-%m-%dT%H:%M}"


def _whole(written_at: datetime) -> timedelta:
    """From the first instant to the second day after a file was written."""
    return timedelta(days=(written_at - _FIRST).days + 2)


def _cut(line: str) -> str:
    line = " ".join(line.split(" "))
    return line if len(line) <= _LONG else f"{line[: _LONG - 3]}..."


def _borders(files: Dated | None, sample: Sample, time: Looked) -> tuple[str, str, str]:
    """What the date of a file is of, start or end; the grace; and why."""
    if not files or not time.times:
        return "start", "", ""
    dates = [files.dates[sample.read[row]] for row in time.rows]
    pairs = [*zip(dates, time.times.values, strict=True)]
    before = sum(files.moved(day, -1) <= at < day for day, at in pairs)
    border = "end" if before * 2 > len(pairs) else "start"
    starts = [day if border == "start" else files.moved(day, -1) for day, _ in pairs]
    late = max(start - at for start, (_, at) in zip(starts, pairs, strict=True))
    if late <= timedelta(0):
        return border, "", "no row came after the file of its time"
    hours = math.ceil(late / timedelta(hours=1))
    row = next(
        at for at, (_, pair) in enumerate(zip(starts, pairs, strict=True)) if starts[at] - pair[1] == late
    )
    if late > _MOST_GRACE:
        return (
            border,
            "7d",
            f"rows came up to {late.days} days late ({time.line(row)}): beyond 7d they miss their windows",
        )
    return border, f"{hours}h", f"the latest row came {hours}h after its file's time began: {time.line(row)}"


def _source(
    sample: Sample, files: Dated | None, border: str, written: dict[str, tuple[object, str]],
    time: Looked, used: Sequence[Looked], *, is_text: bool,
) -> list[str]:  # fmt: skip
    path = files.template(border) if files else escaped(sample.paths)
    why = (
        f"{files.form} in the name is the {border} of a batch"
        if files
        else "no date in the name: all rows are one batch"
    )
    at = time.times
    lines = [
        "source=sources.files(",
        f"    # {why}, as {sample.paths[0].rpartition('/')[2]}",
        f"    {_spelled(path)},",
    ]
    if at is None:
        return lines
    arguments = dict(at.arguments)
    if not at.is_zoned:
        arguments["timezone"] = "UTC"
        lines.append(f"    # {time.line()} ({at.why}) has no offset: UTC is assumed; say whose clock it is")
    else:
        lines.append(f"    # {time.line()}: {at.why}")
    said = "".join(f', {name}="{value}"' for name, value in arguments.items())
    lines.append(f"    event_time=sources.at({_spelled(time.name)}{said}),")
    if written or (is_text and not re.search(r"\.(csv|tsv)(\.gz|\.zst)?$", sample.paths[0].lower())):
        call = "csv" if is_text else "jsonl"
        lines.append(f"    format=sources.{call}(")
        for name, (value, reason) in written.items():
            lines += [f"        # {reason}", f"        {name}={_spelled(value)},"]
        lines.append("    ),")
    if sample.form != "parquet":
        lines.append("    types={")
        for each in used:
            if (kind := _type(each)) and (is_text or each is time or kind == "VARCHAR"):
                reason = each.number.why if each.number else each.times.why if each.times else "text"
                lines += [f"        # {each.line()}: {reason}", f'        {_spelled(each.name)}: "{kind}",']
        lines.append("    },")
    if not files:
        lines.append("    all_files=True,")
    elif files.holes:
        lines += [
            f"    # there is no file of {_shown(files.holes[0])}: no event, it is assumed",
            '    missing="empty",',
        ]
    return [_cut(line) if line.lstrip().startswith("#") else line for line in [*lines, "),"]]


def _type(column: Looked) -> str:
    if column.times:
        if "format" in column.times.arguments:
            return "VARCHAR"
        if "unit" in column.times.arguments:
            return "BIGINT"
        return "TIMESTAMPTZ" if column.times.is_zoned else "TIMESTAMP" if column.times.is_clock else "DATE"
    return column.number.sql if column.number else "VARCHAR"


def _schedule(files: Dated | None, border: str, sample: Sample, written_at: datetime) -> list[str]:
    if files:
        first = files.start(border)
        line = f"# {len(sample.paths)} files from {_shown(min(files.dates))} to {_shown(max(files.dates))}"
        return [
            line,
            f'schedule="{files.schedule}",',
            f"start=datetime({first.year}, {first.month}, {first.day}, {first.hour}, tzinfo=UTC),",
        ]
    days = _whole(written_at).days
    return [
        f"# a batch up to {_shown(_FIRST + timedelta(days=days))}, when the file had been written; the next",
        "# ends in a century: for rows that come later write a file a day, with the day in its name",
        f'schedule="{days}d",',
        "start=datetime(1900, 1, 1, tzinfo=UTC),",
    ]


def _results(
    time: Looked, key: Sequence[Looked], sums: Sequence[Looked], grace: str, remark: str
) -> list[str]:
    lines = []
    for each in key[:1]:
        also = f"; {key[1].name} ({len(key[1].distinct)} values) would do, too" if len(key) > 1 else ""
        lines += [
            _cut(f"# {len(each.distinct)} values in {len(each.cells)} rows, as {each.line()}{also}"),
            f'keys=["{each.name}"],',
        ]
    late = f', grace="{grace}"' if grace else ""
    sizes = {"hour": "1h", "day": "1d"} if time.times and time.times.is_clock else {"day": "1d", "week": "7d"}
    lines += [_cut(f"# {remark}")] if remark else []
    made_of = ", ".join(f'"{name}": windows.tumbling("{size}"{late})' for name, size in sizes.items())
    lines += [f"windows={{{made_of}}},", "aggregates={", '    "row_count": agg.count(),']
    for each, (name, column) in zip(sums, _names(sums), strict=True):
        number = each.number
        way = "sum" if is_added_up(each) else "mean"
        why = "it adds up" if way == "sum" else "measured, so no sum"
        lines += [
            _cut(f"    # {each.line()}: {number.why if number else ''}; {why}"),
            f'    "{way}_{name}": agg.{way}({_spelled(column.removesuffix("::DOUBLE"))}),',
            f'    "lowest_{name}": agg.min({_spelled(column)}),',
            f'    "highest_{name}": agg.max({_spelled(column)}),',
        ]
    return [*lines, "},", 'expectations={"day": "expectations/day.json"},']


def _names(sums: Sequence[Looked]) -> list[tuple[str, str]]:
    """The name of a result, and the SQL of its column."""
    names: list[tuple[str, str]] = []
    for each in sums:
        plain = re.sub(r"[^a-z0-9]+", "_", each.name.lower()).strip("_") or "value"
        if any(plain == other for other, _ in names):
            plain += f"_{len(names) + 1}"
        is_decimal = each.number is not None and each.number.sql.startswith("DECIMAL")
        # pandas compares no decimals with the numbers of a suite
        names.append((plain, f'"{each.name}"' + "::DOUBLE" * is_decimal))
    return names


def _checks(key: Sequence[Looked], sums: Sequence[Looked]) -> list[dict[str, object]]:
    """Windows hold a row, keys are there, and values lie in the range that the sample has."""
    checks: list[dict[str, object]] = [
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "row_count", "min_value": 1}}
    ]
    for each, (name, _) in zip(sums, _names(sums), strict=True):
        values = each.number.values if each.number else ()
        for end in ("lowest", "highest"):
            bounds = {"column": f"{end}_{name}", "min_value": min(values), "max_value": max(values)}
            checks.append(
                {"type": "expect_column_values_to_be_between", "kwargs": bounds, "severity": "warning"}
            )
    for each in key:
        if len(each.cells) == len(each.column.values):
            kwargs = {"column": each.name}
            checks.append(
                {"type": "expect_column_values_to_not_be_null", "kwargs": kwargs, "severity": "warning"}
            )
    return checks


_HEAD = '''"""{name}: drafted from {count} files; each comment says why, and a line of the first file."""

from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

'''
_TEST = '''"""The definition, tried on its first batch, without Spark."""

from datetime import datetime
from pathlib import Path

from muntin import read
from muntin.testing import pipeline_of, run_here

FILE = Path(__file__).parents[1] / "dags/{name}.py"


def test_the_first_batch_has_windows(tmp_path: Path) -> None:
    {name} = pipeline_of(FILE)
    start, end = datetime.fromisoformat("{start}"), datetime.fromisoformat("{end}")
    run_here({name}, root=tmp_path / "state", start=start, end=end)
    days = read({name}, "day", root=tmp_path / "state", provisional=True)
    assert sum(days["row_count"].to_pylist()) > 0
'''
_README = """# {name}

    muntin check dags/{name}.py
    muntin run dags/{name}.py --start {start} --end {end}
    muntin show dags/{name}.py day
    pytest

`dags/{name}.py` was drafted from files: read its comments before you rely on it.
`expectations/day.json` holds the ranges that the rows had.
"""
