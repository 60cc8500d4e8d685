"""A verdict for a log or a terminal: each check that failed or warns, and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.spelling import many
from muntin.quality.report_values import table

if TYPE_CHECKING:
    from collections.abc import Mapping


def verdict_lines(report: Mapping[str, Any]) -> list[str]:
    """A report as `QualityReport.to_dict` gives it, in lines: the verdict, then the
    checks that did not pass.
    """
    lines = [f"window {report['window']!r} {report['verdict']}"]
    for check in (check for check in report["checks"] if check["success"] is False):
        lines.append(f"  {check['severity']}: {check['type']}({check['column'] or ''}): {_found(check)}")
        lines += [f"    {line}" for line in table(check["failing_rows"])]
    return lines


def _found(check: Mapping[str, Any]) -> str:
    if check["error"]:
        return f"could not run: {check['error']}"
    return (
        many(check["unexpected_count"], "row")
        if check["unexpected_count"]
        else f"observed {check['observed_value']}"
    )
