"""The text of a definition, its suite and its test, from a sample of rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from muntin.cli.draft.columns import Looked, event_time, keys, looked_at, measures
from muntin.cli.draft.numbers import NULLS, marks_of
from muntin.cli.draft.origins import Origin, origin_of, shown
from muntin.cli.draft.paths import Dated, dated
from muntin.cli.draft.reading import FILES, Sample
from muntin.cli.draft.results import checks, results, spelled, window_of, wrapped

_MOST_GRACE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a project beside the shared files: path -> text; the range of a first run; the window to
    show.
    """

    files: dict[str, str]
    start: str
    end: str
    window: str


def drafted(name: str, sample: Sample) -> Draft:
    """A definition of a sample."""
    is_text, written = sample.form == "csv", dict(sample.table.written)
    cells = [_texts(column.values) for column in sample.table.columns] if is_text else []
    marks = marks_of(cells)
    delimiter = written.get("delimiter", (",", ""))[0]
    columns = [
        looked_at(each, marks, is_text=is_text, is_split_by_comma=delimiter == ",")
        for each in sample.table.columns
    ]
    time, sums = event_time(columns), measures(columns)
    if is_text and (marks.decimal != "." or marks.thousands):
        written["decimal"] = (marks.decimal, marks.why)
        if marks.thousands:
            written["thousands"] = (marks.thousands, marks.why)
    nulls = sorted({null for each in (time, *sums) for null in each.nulls})
    key = keys(columns, nulls)[:2]
    used = [time, *key[:1], *sums]
    if nulls:
        written["null"] = (["", *nulls], "stand in columns of numbers or times, and are null in every column")
    files = dated(sample.paths) if sample.form in FILES else None
    border, grace, remark = _borders(files, sample, time)
    origin = origin_of(sample, files, border, time)
    lines = [
        *_source(sample, origin, written, time, used, is_text=is_text),
        *origin.schedule,
        *results(time, key, sums, grace, remark, nulls),
    ]
    first, last = shown(origin.first), shown(origin.last)
    body = "\n".join(f"    {line}" if line else "" for text in lines for line in text.split("\n"))
    doubts = [
        f"# not used: {each.name}: {each.number.why}"
        for each in columns
        if each.number and not each.number.sql
    ]
    doubts += [f"# not used: {each.times.doubt}" for each in columns if each.times and each.times.doubt]
    text = _HEAD.format(about=origin.about, name=name) + "\n".join(
        [*map(wrapped, doubts), f"{name} = Pipeline(", f'    name="{name}",', body, ")"]
    )
    window = window_of(time)
    suite = {"name": f"{name}_{window}", "expectations": checks(key[:1], sums)}
    return Draft(
        {
            f"dags/{name}.py": f"{text}\n\ndag = airflow_dag({name}, catchup=False)\n",
            f"expectations/{window}.json": json.dumps(suite, indent=2) + "\n",
            f"tests/test_{name}.py": _TEST.format(
                name=name, window=window, start=origin.first, end=origin.second
            ),
            "README.md": _README.format(name=name, window=window, start=first, end=last),
        },
        first,
        last,
        window,
    )


def _texts(values: Sequence[object]) -> list[str]:
    return [text for each in values if (text := str(each).strip()) and text not in NULLS]


def _borders(files: Dated | None, sample: Sample, time: Looked) -> tuple[str, str, str]:
    """The border that the date of a file is, start or end; the grace; and why."""
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
    sample: Sample, origin: Origin, written: dict[str, tuple[object, str]],
    time: Looked, used: Sequence[Looked], *, is_text: bool,
) -> list[str]:  # fmt: skip
    at, lines = time.times, [*origin.begin]
    if at is None:
        return lines
    arguments = dict(at.arguments)
    if not at.is_zoned:
        arguments["timezone"] = "UTC"
        lines.append(f"    # {time.line()} ({at.why}) has no offset: UTC is assumed; say whose clock it is")
    else:
        lines.append(f"    # {time.line()}: {at.why}")
    said = "".join(f', {name}="{value}"' for name, value in arguments.items())
    lines.append(f"    event_time=sources.at({spelled(time.name)}{said}),")
    if written or (is_text and not re.search(r"\.(csv|tsv)(\.gz|\.zst)?$", sample.paths[0].lower())):
        call = "csv" if is_text else "jsonl"
        lines.append(f"    format=sources.{call}(")
        for name, (value, reason) in written.items():
            lines += [f"        # {reason}", f"        {name}={spelled(value)},"]
        lines.append("    ),")
    if sample.form in FILES and sample.form != "parquet":
        lines.append("    types={")
        for each in used:
            if (kind := _type(each)) and (is_text or each is time or kind == "VARCHAR"):
                reason = each.number.why if each.number else each.times.why if each.times else "text"
                lines += [f"        # {each.line()}: {reason}", f'        {spelled(each.name)}: "{kind}",']
        lines.append("    },")
    return [wrapped(line) if line.lstrip().startswith("#") else line for line in [*lines, *origin.rest, "),"]]


def _type(column: Looked) -> str:
    if column.times:
        if "format" in column.times.arguments:
            return "VARCHAR"
        if "unit" in column.times.arguments:
            return "BIGINT"
        return "TIMESTAMPTZ" if column.times.is_zoned else "TIMESTAMP" if column.times.is_clock else "DATE"
    return column.number.sql if column.number else "VARCHAR"


_HEAD = '''"""{name}: drafted from {about}; each comment says why, and where it was seen."""

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
    published = read({name}, "{window}", root=tmp_path / "state", provisional=True)
    assert sum(published["row_count"].to_pylist()) > 0
'''
_README = """# {name}

    muntin check dags/{name}.py
    muntin run dags/{name}.py --start {start} --end {end}
    muntin show dags/{name}.py {window}
    pytest

`dags/{name}.py` was drafted from some rows: read its comments before you rely on it.
`expectations/{window}.json` warns of values far outside the range of some rows that were looked at.
"""
