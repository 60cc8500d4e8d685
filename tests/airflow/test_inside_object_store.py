"""A state in an object store, in a process of its own."""

from pathlib import Path

import pytest

from tests.airflow.own_process import run_inside
from tests.case_counts import at_length


@at_length
@pytest.mark.timeout(1600)
def test_object_store(tmp_path: Path) -> None:
    run_inside(tmp_path, "test_object_store.py")
