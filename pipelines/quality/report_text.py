"""Reports as people and as JSON read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.quality.report import Check, QualityReport

FILES_NAMED = 5


def plain(value: object) -> object:
    """A value as JSON types; sets and tuples become lists, what JSON does not know becomes text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else _text(value)


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _instant(value: datetime) -> str:
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def many(count: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def report_text(report: QualityReport) -> str:
    """The verdict, the failed checks with their rows and, when the run stops, what to do about it."""
    lines = [f"window {report.window!r} {report.verdict}"]
    for check in report.failed:
        lines += [f"  {check.severity}: {_what(check)}", f"    {_found(check)}"]
        lines += [f"    {line}" for line in table(check.failing_rows)]
    if report.status == "failed":
        lines += _what_to_do(report)
    return "\n".join(lines)


def _what(check: Check) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in check.kwargs.items())
    return f"{check.type}({arguments})"


def _found(check: Check) -> str:
    if check.error is not None:
        return f"could not run: {check.error}"
    if check.unexpected_count is not None:
        percent = "" if check.unexpected_percent is None else f" ({check.unexpected_percent:.3g} %)"
        shown = f"; {len(check.failing_rows)} of them:" if check.failing_rows else ""
        return f"{many(check.unexpected_count, 'row')}{percent} not as expected{shown}"
    return f"observed {plain(check.observed_value)}"


def table(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under their column names, as lines of equal columns; no rows, no lines."""
    shown = [{name: _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    header = {name: name for name in names}
    lines = [header, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def _cell(value: object) -> str:
    return "null" if value is None else str(plain(value))


def _what_to_do(report: QualityReport) -> list[str]:
    named = [f"    {path}" for path in report.files[:FILES_NAMED]]
    more = len(report.files) - len(named)
    return [
        "  Nothing of this run was published; windows published earlier stay as they are.",
        "  To mend it: correct the source data (or the suite, if it is the suite that is wrong); then clear the failed",
        "  run, its task `accumulate` and all after it, or run the same interval again.",
        "  The staged files, as they were checked:" if named else "  No file was staged.",
        *named,
        *([f"    and {more} more"] if more else []),
    ]
