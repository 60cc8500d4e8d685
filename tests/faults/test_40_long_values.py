"""Fault 40: values of any length in failing rows. A report stays below the 65,535 bytes that Airflow's databases keep of an XCom."""

import json
from typing import Any

import pytest

from muntin.quality.report import Check, QualityReport

LIMIT = 65_535
WIDE: dict[str, dict[str, Any]] = {
    "a megabyte of text": {"who": "x" * 10**6, "total": 1},
    "letters of four bytes": {"who": "\N{GRINNING FACE}" * 10**5, "total": 1},
    "bytes": {"who": b"\xff" * 10**6, "total": 1},
    "a long list": {"who": ["x" * 100] * 10**4, "total": 1},
    "a map": {"who": {f"k{at}": "x" * 1000 for at in range(5000)}, "total": 1},
    "300 columns": {f"c{at}": "x" * 150 for at in range(300)},
}


def report(row: dict[str, Any]) -> QualityReport:
    facts: dict[str, Any] = {"success": False, "unexpected_count": 10, "unexpected_percent": 50.0, "observed_value": [*row.values()]}
    check = Check(
        "expect_column_values_to_be_between", "total", {"column": "total", "max_value": 0}, "critical", failing_rows=(row,) * 10, **facts
    )
    return QualityReport("day", 20, (check, check), ("day/a.parquet",))


@pytest.mark.parametrize("what", WIDE)
def test_a_report_has_a_limit(what: str) -> None:
    told = report(WIDE[what])
    assert len(json.dumps(told.to_dict()).encode()) <= LIMIT
    assert len(told.text().encode()) <= LIMIT
    assert told.text().endswith("    day/a.parquet"), "what to do is never cut off"
    assert told.verdict.startswith("failed: 2 critical")


def test_what_is_short_is_whole() -> None:
    row = {"who": "ann" * 60, "total": -1}
    assert report(row).to_dict()["checks"][0]["failing_rows"] == [row] * 10  # type: ignore[index]
