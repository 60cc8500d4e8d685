"""CPU seconds of W1 to W7 and of queries of NEXMark, a tenth of each, beside DuckDB's: a fifth more than recorded is a fault.

W6 is beside a compiled loop: DuckDB has no such windows.
"""

from pathlib import Path

import pytest

from tests.case_counts import at_length
from tests.speed.measuring import WORKS, Record, recorded

ASKED = [pytest.param(name, marks=pytest.mark.spark if work.on_spark else ()) for name, work in WORKS.items()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("speed")


@at_length
@pytest.mark.parametrize("work", ASKED)
def test_a_work_takes_no_more_cpu_beside_another_engine_than_recorded(work: str, folder: Path) -> None:
    record = recorded()
    if record.fault(work, WORKS[work].ratio(folder)):  # a busy machine may be the reason, and then seldom is twice
        assert not (fault := record.fault(work, WORKS[work].ratio(folder))), fault


def test_each_work_has_a_record() -> None:
    assert recorded().ratios.keys() == WORKS.keys()
    assert all(ratio > 0 for ratio in recorded().ratios.values())


def test_a_fault_says_which_work_and_by_how_much() -> None:
    record = Record("2 cores", {"W1": 1.0, "NEXMark's q5": 0.5})
    assert record.fault("W1", 1.2) == ""
    assert record.fault("W1", 1.25).startswith(
        "W1 takes 1.25 times the CPU seconds of duckdb-sliding, 25% more than the 1.00 recorded on 2 cores; "
    )
    assert 'python -m tests.speed "NEXMark\'s q5"' in record.fault("NEXMark's q5", 0.7)
