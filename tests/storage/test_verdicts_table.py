"""What suites found is a table with a row for each expectation and validation; its page says what is in it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from deltalake import DeltaTable

from muntin import Retain
from muntin.jobs.housekeeping.expire import without_reports
from muntin.jobs.quarantine import refused_rows_kept
from muntin.jobs.records import reports_table, verdicts
from muntin.jobs.records.report_files import MANY
from muntin.jobs.records.verdicts import record_checks
from muntin.jobs.upkeep.maintain import maintain
from muntin.quality.report import Check, QualityReport
from muntin.store.delta import DeltaStore
from tests.storage.three_batches import START, Small

PAGE = Path(__file__).parents[2] / "docs/operating/tables.md"
NOW = datetime(2024, 1, 2, tzinfo=UTC)
DAY_US = 86_400_000_000
CHECKS = (
    Check("expect_column_values_to_be_between", "n", {"column": "n", "min_value": 1}, "critical", success=False, unexpected_count=2),
    Check("expect_table_row_count_to_be_between", None, {"min_value": 1}, "warning", success=True, observed_value=7),
)


def record(store: DeltaStore, days: int = 0, window: str = "day") -> None:
    report = QualityReport(window, 7, CHECKS).to_dict()
    record_checks(store, [(report, [0, 3_600_000_000])], NOW + timedelta(days=days))


def test_a_row_for_each_expectation(tmp_path: Path) -> None:
    store = DeltaStore(tmp_path)
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
    store = DeltaStore(tmp_path)
    for day in range(MANY + 2):
        record(store, day)
    rows = DeltaTable(str(tmp_path / "verdicts")).to_pyarrow_table()
    assert len(rows) == 2 * (MANY + 2)
    assert len(store.snapshot("verdicts").files) < MANY
    assert len({*rows["recorded_at"].to_pylist()}) == MANY + 2


@pytest.mark.parametrize("texts", [reports_table._TEXTS, verdicts._TEXTS, refused_rows_kept._TEXTS], ids=lambda texts: texts.name)
def test_the_page_says_what_a_table_holds(texts: object) -> None:
    page = PAGE.read_text(encoding="utf-8").partition(f"\n## {texts.name}\n")[2].partition("\n## ")[0]
    assert page.strip().startswith(texts.description)
    rows = [f"| `{name}` | {text} |" for name, text in texts.comments.items()]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows


def test_every_column_has_a_comment() -> None:
    assert [*verdicts._TEXTS.comments] == verdicts._SCHEMA.names


def kept(store: DeltaStore) -> list[tuple[datetime, datetime]]:
    rows = DeltaTable(f"{store.root}/verdicts").to_pyarrow_table().sort_by("last_batch")
    return list(dict.fromkeys(zip(rows["first_batch"].to_pylist(), rows["last_batch"].to_pylist(), strict=True)))


#            day  0   1   2   3   4   5   6   7   8   9
# batches of the  |---|---|---|---|---|---|---|---|---|   each verdict is about a day and the next
# retain          gone               | 4
def test_verdicts_of_old_batches_go_with_their_reports(tmp_path: Path) -> None:
    store = DeltaStore(tmp_path)
    days = [NOW + timedelta(days=day) for day in range(10)]
    for first, last in pairwise(days):
        record_checks(store, [(QualityReport("day", 7, CHECKS).to_dict(), [to_us(first), to_us(last)])], days[-1])
    before = to_us(days[4])
    for due in without_reports(store, verdicts.TABLE, before, to_us(days[9]) - before, 0):
        store.commit(due.table, due.base, due.change)
    assert kept(store) == list(pairwise(days))[3:]  # the first that is kept is about a batch that is behind, and one that is not
    assert not list(without_reports(store, verdicts.TABLE, before, to_us(days[9]) - before, 0))


def test_a_run_removes_verdicts_once_an_eighth_has_gathered(tmp_path: Path) -> None:
    store = DeltaStore(tmp_path)
    for day in range(10):
        record_checks(store, [(QualityReport("day", 7, CHECKS).to_dict(), [to_us(NOW + timedelta(days=day))])], NOW)
    due = [list(without_reports(store, verdicts.TABLE, to_us(NOW + timedelta(days=day)), 16 * DAY_US, 1)) for day in range(4)]
    assert [len(each) for each in due] == [0, 0, 1, 1]
    assert [len(change.removes) for ((_, _, change),) in due[2:]] == [2, 3]


@pytest.mark.parametrize(("retain", "left"), [(Retain(reports="1h"), 1), (Retain(windows="1h"), 2)])
def test_a_pipeline_keeps_verdicts_as_long_as_its_reports(tmp_path: Path, retain: Retain, left: int) -> None:
    small = Small(tmp_path)
    small.write_all()
    small.run("state")
    for hour in (0, 2):
        report = QualityReport("hours", 7, CHECKS).to_dict()
        record_checks(small.store("state"), [(report, [to_us(START + timedelta(hours=hour))])], NOW)
    maintain(replace(small.pipeline, retain=retain), root=tmp_path / "state", older_than_us=DAY_US)
    assert len(kept(small.store("state"))) == left


def to_us(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000
