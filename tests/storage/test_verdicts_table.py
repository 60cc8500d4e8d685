"""What suites found is a table with a row for each expectation and validation; its page says what is in it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from pipelines.jobs import reports_table, verdicts_table
from pipelines.jobs.report_files import MANY
from pipelines.jobs.run import accumulate
from pipelines.jobs.verdicts_table import record_checks
from pipelines.quality.report import Check, QualityReport
from pipelines.store.delta import DeltaStore

PAGE = Path(__file__).parents[2] / "docs/operating/tables.md"
NOW = datetime(2024, 1, 2, tzinfo=UTC)
CHECKS = (
    Check("expect_column_values_to_be_between", "n", {"column": "n", "min_value": 1}, "critical", success=False, unexpected_count=2),
    Check("expect_table_row_count_to_be_between", None, {"min_value": 1}, "warning", success=True, observed_value=7),
)


def record(store: DeltaStore, days: int = 0, window: str = "day") -> None:
    report = QualityReport(window, 7, CHECKS).to_dict()
    record_checks(store, [(report, [0, 3_600_000_000])], NOW + timedelta(days=days))


def test_a_row_for_each_expectation(tmp_path: Path) -> None:
    store = DeltaStore(str(tmp_path))
    record(store)
    first, second = DeltaTable(str(tmp_path / "verdicts")).to_pyarrow_table().to_pylist()
    assert first == {
        "window": "day",
        "recorded_at": NOW,
        "first_batch": datetime(1970, 1, 1, tzinfo=UTC),
        "last_batch": datetime(1970, 1, 1, 1, tzinfo=UTC),
        "status": "failed",
        "verdict": "failed: 1 critical of 2 checks on 7 rows",
        "expectation": "expect_column_values_to_be_between",
        "column": "n",
        "arguments": json.dumps({"column": "n", "min_value": 1}),
        "severity": "critical",
        "success": False,
        "observed_value": None,
        "unexpected_count": 2,
        "unexpected_percent": None,
        "error": None,
        "rows": 7,
    }
    assert (second["success"], second["observed_value"], second["column"]) == (True, "7", None)


def test_many_validations_are_few_files(tmp_path: Path) -> None:
    store = DeltaStore(str(tmp_path))
    for day in range(MANY + 2):
        record(store, day)
    rows = DeltaTable(str(tmp_path / "verdicts")).to_pyarrow_table()
    assert len(rows) == 2 * (MANY + 2)
    assert len(store.snapshot("verdicts").files) < MANY
    assert len({*rows["recorded_at"].to_pylist()}) == MANY + 2


@pytest.mark.parametrize("texts", [reports_table._TEXTS, verdicts_table._TEXTS, accumulate._TEXTS], ids=lambda texts: texts.name)
def test_the_page_says_what_a_table_holds(texts: object) -> None:
    page = PAGE.read_text(encoding="utf-8").partition(f"\n## {texts.name}\n")[2].partition("\n## ")[0]
    assert page.strip().startswith(texts.description)
    rows = [f"| `{name}` | {text} |" for name, text in texts.comments.items()]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows


def test_every_column_has_a_comment() -> None:
    assert [*verdicts_table._TEXTS.comments] == verdicts_table._SCHEMA.names
