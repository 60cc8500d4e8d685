"""Results of a drafted definition: keys, windows, aggregates, and the suite on them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from textwrap import fill

import duckdb

from muntin.cli.draft.columns import Looked, is_added_up

_LONG = 100


def spelled(value: object) -> str:
    """A text, or a list of texts, as Python writes it, in double quotes where it holds none."""
    if isinstance(value, str) and '"' in value and not set(value) & {"'", "\\"} and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def wrapped(line: str) -> str:
    """A comment, in lines that are short enough."""
    before, _, text = line.partition("#")
    sign = f"{before}# "
    return fill(text.strip(), _LONG, initial_indent=sign, subsequent_indent=sign, break_on_hyphens=False)


def window_of(time: Looked) -> str:
    """The window that a suite is on."""
    return "month" if "month" in _sizes(time) else "day"


def _sizes(time: Looked) -> dict[str, str]:
    """Windows, by how fine times are."""
    times = time.times
    if times and times.is_clock and any(at.hour or at.minute for at in times.values):
        return {"hour": "1h", "day": "1d"}
    if times and len({*times.values}) > 1 and all(at.day == 1 for at in times.values):
        return {"month": "1mo", "year": "1y"}
    return {"day": "1d", "week": "7d"}


def results(
    time: Looked, key: Sequence[Looked], sums: Sequence[Looked], grace: str, remark: str, nulls: Sequence[str]
) -> list[str]:
    """The lines of a definition that say what is computed."""
    lines = []
    for each in key[:1]:
        also = f"; {key[1].name} ({len(key[1].distinct)} values) would do, too" if len(key) > 1 else ""
        lines += [
            wrapped(f"# {len(each.distinct)} values in {len(each.cells)} rows, as {each.line()}{also}"),
            *(f"# {null} is null in it, too, by null= above" for null in nulls if null in each.distinct),
            f'keys=["{each.name}"],',
        ]
    late = f', grace="{grace}"' if grace else ""
    sizes = _sizes(time)
    lines += [wrapped(f"# {remark}")] if remark else []
    sized = {name: f'"{size}"{_zone(size)}{late}' for name, size in sizes.items()}
    made_of = ", ".join(f'"{name}": windows.tumbling({arguments})' for name, arguments in sized.items())
    window = window_of(time)
    lines += [f"windows={{{made_of}}},", "aggregates={", '    "row_count": agg.count(),']
    for each, (name, column) in zip(sums, _names(sums), strict=True):
        number = each.number
        way = "sum" if is_added_up(each) else "mean"
        why = "it adds up, by its name" if way == "sum" else "no name of money or a count, so no sum"
        lines += [
            wrapped(f"    # {each.line()}: {number.why if number else ''}; {why}"),
            f'    "{way}_{name}": agg.{way}({spelled(column)}),',
            f'    "lowest_{name}": agg.min({spelled(column)}),',
            f'    "highest_{name}": agg.max({spelled(column)}),',
        ]
    return [*lines, "},", f'expectations={{"{window}": "expectations/{window}.json"}},']


def _zone(size: str) -> str:
    """The zone of weeks, which begin on Monday in a zone."""
    return ', timezone="UTC"' if size == "7d" else ""


def _names(sums: Sequence[Looked]) -> list[tuple[str, str]]:
    """The name of a result, and the SQL of its column."""
    names: list[tuple[str, str]] = []
    for each in sums:
        plain = re.sub(r"[^a-z0-9]+", "_", each.name.lower()).strip("_") or "value"
        if any(plain == other for other, _ in names):
            plain += f"_{len(names) + 1}"
        names.append((plain, each.name if _is_plain(each.name) else f'"{each.name}"'))
    return names


def _is_plain(name: str) -> bool:
    """Whether SQL takes the name without quotes."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and name.lower() not in _keywords()


@cache
def _keywords() -> set[str]:
    return {name for (name,) in duckdb.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()}


def checks(key: Sequence[Looked], sums: Sequence[Looked]) -> list[dict[str, object]]:
    """Windows hold a row, keys are there, and no value is further out than the sample is wide."""
    checked: list[dict[str, object]] = [
        {"type": "expect_column_values_to_be_between", "kwargs": {"column": "row_count", "min_value": 1}}
    ]
    for each, (name, _) in zip(sums, _names(sums), strict=True):
        values = each.number.values if each.number else ()
        lowest, highest = min(values), max(values)
        # some rows were looked at: those of the next day may lie outside
        width = (highest - lowest) or abs(highest) or 1.0
        # decimals are compared with whole numbers without Spark
        least, most = math.floor(lowest - width) if lowest < 0 else 0, math.ceil(highest + width)
        notes = f"{len(values)} rows that were read had {lowest:g} to {highest:g}; set it by what may be"
        for end in ("lowest", "highest"):
            bounds = {"column": f"{end}_{name}", "min_value": least, "max_value": most}
            checked.append(
                {
                    "type": "expect_column_values_to_be_between",
                    "kwargs": bounds,
                    "severity": "warning",
                    "notes": notes,
                }
            )
    for each in key:
        if len(each.cells) == len(each.column.values):
            kwargs = {"column": each.name}
            checked.append(
                {"type": "expect_column_values_to_not_be_null", "kwargs": kwargs, "severity": "warning"}
            )
    return checked
