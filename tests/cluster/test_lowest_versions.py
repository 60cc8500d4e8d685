"""The lowest versions that pyproject.toml admits of the packages of the core: what it promises to whoever has older packages."""

import os
from pathlib import Path

import pytest

from tests.installs.install import ROOT, UV, Place

pytestmark = pytest.mark.skipif("MUNTIN_CLUSTER" not in os.environ, reason="make cluster-test runs it: old packages come from the registry")
STEPS = f"""
unset UV_CONSTRAINT
'{UV}' pip install --quiet --resolution lowest-direct --requirements '{ROOT}/pyproject.toml'
'{UV}' pip install --quiet --no-deps muntin --no-index
muntin new shop
cd shop
muntin check dags/sales.py
muntin run dags/sales.py --start 2024-05-01 --end 2024-05-04
muntin show dags/sales.py day --format csv
"""


def test_a_new_project_runs(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.build()
    place.install()
    done = place.call("bash", "-ec", STEPS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "north,2024-05-01T00:00:00+00:00,2024-05-02T00:00:00+00:00,10,144.50,19.50," in done.stdout
