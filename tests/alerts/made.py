"""Runs, batches, checks and reports as small as they can be. Time is counted in hours of a day."""

from typing import Any

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.alerts.facts import Batch, Hole, Run
from tests.storage.three_batches import HOUR, START


def hours(first: int, last: int | None = None) -> Interval:
    """[first, last), or the hour that begins at first."""
    end = first + 1 if last is None else last
    return Interval(instant_us(START + first * HOUR, "start"), instant_us(START + end * HOUR, "end"))


def batch(at: int, read: int = 100, quarantined: int = 0, late: int | None = 0) -> Batch:
    return Batch(hours(at), read, quarantined, late)


def hole(first: int, last: int, age: int) -> Hole:
    return Hole(hours(first, last), age)


def run(first: int = 0, last: int | None = None, **facts: Any) -> Run:
    usual = {"published": {"day": (hours(first).start_us,)}, "missing": (), "batches": (batch(first),)}
    return Run("shop", hours(first, last), **(usual | facts))


def row(who: str, total: int) -> dict[str, Any]:
    return {"who": who, "window_start": "2024-01-01T00:00:00Z", "window_end": "2024-01-01T12:00:00Z", "total": total}


def check(severity: str = "critical", **facts: Any) -> dict[str, Any]:
    """A check on totals that fails on one row of eight."""
    usual = {
        "type": "expect_column_values_to_be_between",
        "column": "total",
        "kwargs": {"column": "total", "min_value": 0},
        "severity": severity,
        "success": False,
        "observed_value": None,
        "unexpected_count": 1,
        "unexpected_percent": 12.5,
        "error": None,
        "failing_rows": [row("ann", -1)],
    }
    return usual | facts


def report(*checks: dict[str, Any], window: str = "day") -> dict[str, Any]:
    return {"window": window, "rows": 8, "status": "failed", "verdict": "failed", "checks": list(checks), "files": []}
