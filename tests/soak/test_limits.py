"""What is large in one way, smaller than `python -m benchmarks.limits` has it: right, and in a memory that does not follow it."""

import pytest

from benchmarks.limits import LIMITS, in_a_process
from tests.case_counts import some

SMALLER = {
    "hot-key": 500_000,
    "many-keys": 200_000,
    "windows-of-a-key": 10_000,
    "windows-of-a-pipeline": 30,
    "days-of-a-session": 60,
    "columns": 1_000,
    "long-rows": 3,
}
MOST_MB = 900
"""Python with DuckDB, Arrow, numba and its kernels is some 350; a row of 10 MB is held a few times."""


@pytest.mark.parametrize("name", some(LIMITS))
def test_a_limit_is_met_in_bounded_memory(name: str) -> None:
    found = in_a_process(name, SMALLER[name])
    assert found["right"]
    assert found["peak"] < MOST_MB
