"""The report of a validation: one check per expectation, in the suite's order, and the verdict over all
checks.

Values of reports, as text for people and as JSON types.

A verdict for a log or a terminal: each check that failed or warns, and its rows.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Literal

from muntin.definition.instants import spell_instant
from muntin.definition.spelling import many
from muntin.printable import lines as printable_lines
from muntin.printable import printable
from muntin.quality.suite import SEVERITIES, ExpectationsFailed, Severity

_LETTERS, _ITEMS = 200, 50  # of a value
MOST = 60_000
"""Bytes of a report. Databases of Airflow keep an XCom and a message of up to 65,535."""


def plain(value: object) -> object:
    """A value as JSON types. Sets and tuples become lists; a type that JSON does not know becomes text. What
    is long is cut.

    Text is printable: pages show it as it is, and no PostgreSQL keeps JSON with a NUL, so that Airflow could
    not keep the report.

    >>> plain("x" * 1000)[-6:], plain([*range(1000)])[-1]
    ('xxx...', '... 950 more')
    """
    if isinstance(value, str):
        return cut(printable(value), _LETTERS)
    if value is None or isinstance(value, int | float):
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {cut(printable(str(name)), _LETTERS): plain(item) for name, item in [*value.items()][:_ITEMS]}
    if isinstance(value, list | tuple | set | frozenset):
        more = len(value) - _ITEMS
        return [*(plain(item) for item in [*value][:_ITEMS]), *([f"... {more:,} more"] if more > 0 else [])]
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else _text(value)


def cut(text: str, letters: int) -> str:
    """A text, cut where it is longer."""
    return text if len(text) <= letters else f"{text[: letters - 3]}..."


def size(value: object) -> int:
    """The bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return cut(value[:_LETTERS].hex() if isinstance(value, bytes) else printable(str(value)), _LETTERS)


def table(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Rows under their column names, as lines with columns of equal width; no lines without rows."""
    shown = [
        {
            printable(name): "null" if value is None else printable(str(plain(value)))
            for name, value in row.items()
        }
        for row in rows
    ]
    names = list(dict.fromkeys(name for row in shown for name in row))
    widths = {name: max(len(name), *(len(row.get(name, "")) for row in shown)) for name in names}
    header = {name: name for name in names}
    lines = [header, *shown] if shown else []
    return ["  ".join(line.get(name, "").ljust(widths[name]) for name in names).rstrip() for line in lines]


def verdict_lines(report: Mapping[str, Any]) -> list[str]:
    """A report as `QualityReport.to_dict` gives it, in lines: the verdict, then the
    checks that did not pass.
    """
    lines = [f"window {report['window']!r} {report['verdict']}"]
    for check in (check for check in report["checks"] if check["success"] is False):
        lines.append(f"  {spelled_check(check)}")
        lines += [f"    {line}" for line in table(check["failing_rows"])]
    return lines


def spelled_check(check: Mapping[str, Any]) -> str:
    """A check of a report that did not pass, in a line: its severity, what it asks, why it did not pass."""
    if check["error"]:
        reason = f"could not run: {check['error']}"
    elif check["unexpected_count"]:
        reason = many(check["unexpected_count"], "row")
    else:
        reason = f"observed {check['observed_value']}"
    return f"{check['severity']}: {check['type']}({check['column'] or ''}): {reason}"


Status = Literal["passed", "warning", "failed"]
FILES_NAMED = 5
_FEWER = (20, 5, 1)  # failing rows of a check


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation, and how the staged windows did against it.

    `success` is None if the check was not run because there were no rows. `error` says why a check could not
    run: it counts as failed. `failing_rows` are rows of the staged files: keys, window_start, window_end, and
    the expectation's columns.
    """

    type: str
    column: str | None
    kwargs: Mapping[str, object]
    severity: Severity
    success: bool | None
    observed_value: object = None
    unexpected_count: int | None = None
    unexpected_percent: float | None = None
    error: str | None = None
    failing_rows: tuple[Mapping[str, object], ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The check as JSON types: instants as ISO 8601 in UTC, decimals and non-finite numbers as text."""
        return {name: plain(getattr(self, name)) for name in self.__slots__}

    def lines(self) -> list[str]:
        """The check for a person: what was expected, what was found, the failing rows."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.kwargs.items())
        rows = [f"    {line}" for line in table(self.failing_rows)]
        return [f"  {self.severity}: {self.type}({arguments})", f"    {self._found()}", *rows]

    def _found(self) -> str:
        if self.error is not None:
            return f"could not run: {self.error}"
        if self.unexpected_count is not None:
            percent = "" if self.unexpected_percent is None else f" ({self.unexpected_percent:.3g} %)"
            shown = f"; {len(self.failing_rows)} of them:" if self.failing_rows else ""
            return f"{many(self.unexpected_count, 'row')}{percent} not as expected{shown}"
        return f"observed {plain(self.observed_value)}"


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The checks of one window's staged files; at most 20 failing rows over all checks.

    `failing`: keys, bounds and batch of all rows that fail a critical check; None where the checks do not
    name them all. `culprits`: starts of the batches, microseconds, whose rows are in failing windows; None
    where that is not known.
    """

    window: str
    rows: int
    checks: tuple[Check, ...]
    files: tuple[str, ...] = ()
    failing: tuple[Mapping[str, object], ...] | None = None
    culprits: tuple[int, ...] | None = None

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed or could not run, whatever their severity."""
        return tuple(check for check in self.checks if check.success is False)

    @property
    def unchecked(self) -> bool:
        """Whether nothing was checked: no rows, and no expectation on their number."""
        return all(check.success is None for check in self.checks)

    @property
    def status(self) -> Status:
        """`failed`: publish nothing.

        `warning`: publish, and report it. `passed`: all checks passed, apart from severity `info`.
        """
        grave = {check.severity for check in self.failed}
        if "critical" in grave:
            return "failed"
        return "warning" if "warning" in grave or self.unchecked else "passed"

    @property
    def verdict(self) -> str:
        """The status in words, such as `failed: 1 critical, 2 warning of 9 checks on 216 rows`."""
        if self.unchecked:
            return f"{self.status}: no rows: nothing was checked"
        checked = [check for check in self.checks if check.success is not None]
        counts = Counter(check.severity for check in self.failed)
        wrong = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity])
        of = f"{wrong} of " if wrong else ""
        left = len(self.checks) - len(checked)
        unrun = f"; {left} not checked: no rows" if left else ""
        return f"{self.status}: {of}{many(len(checked), 'check')} on {many(self.rows, 'row')}{unrun}"

    def to_dict(self) -> dict[str, object]:
        """The report as JSON types, small enough for a log, an XCom or an asset event: of long values a part,
        of wide rows fewer.
        """
        for shown in (*_FEWER, 0):
            reported = self._reported(shown)
            if size(reported) <= MOST:
                break
        return reported

    def _reported(self, shown: int) -> dict[str, object]:
        """The report with so many failing rows of each check."""
        return {
            "window": self.window,
            "rows": self.rows,
            "status": self.status,
            "verdict": self.verdict,
            "checks": [
                replace(check, failing_rows=check.failing_rows[:shown]).to_dict() for check in self.checks
            ],
            "files": list(self.files),
            **({} if self.culprits is None else {"culprits": list(self.culprits)}),
        }

    def text(self) -> str:
        """The report for a person: the verdict, each failed check with its numbers and
        rows, and what to do.
        """
        lines = [
            f"window {self.window!r} {self.verdict}",
            *(line for check in self.failed for line in check.lines()),
        ]
        mend = "\n".join(["", *self._what_to_do()]) if self.status == "failed" else ""
        return cut(printable_lines("\n".join(lines)), MOST // 4) + mend  # a letter has four bytes at most

    def _what_to_do(self) -> list[str]:
        named = [f"    {path}" for path in self.files[:FILES_NAMED]]
        more = len(self.files) - len(named)
        return [
            "  Nothing of this run was published; windows published earlier stay as they are.",
            *self._mend(),
            "  The staged files, as they were checked:" if named else "  No file was staged.",
            *named,
            *([f"    and {more} more"] if more else []),
        ]

    def _mend(self) -> list[str]:
        mend = "  To mend it: correct the source data (or the suite, if it is the suite that is wrong); then"
        if not self.culprits:
            return [
                f"{mend} clear the failed",
                "  run, its task `accumulate` and all after it, or run the same interval again.",
            ]
        named = ", ".join(map(spell_instant, self.culprits[:FILES_NAMED]))
        more = len(self.culprits) - FILES_NAMED
        count = many(len(self.culprits), "batch")
        return [
            f"  The failing windows are made of {count}: {named}{f' and {more} more' if more > 0 else ''}.",
            f"{mend} run",
            "  them again, or clear their runs, the task `accumulate` and all after it.",
        ]

    def raise_if_critical(self) -> None:
        """Stop here when a critical check failed or could not run."""
        if self.status == "failed":
            raise ExpectationsFailed(self)
