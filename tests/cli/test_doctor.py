"""doctor and repair: what is wrong, and mending it."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("spark")


def test_a_lost_file_is_named_and_mended(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    before = muntin(*project.arguments("show", "quarter", "--json")).out
    told = muntin(*project.arguments("doctor", "--deep", "--workers"))
    assert (told.status, "nothing to mend" in told.out, "pyarrow " in told.out) == (0, True, True)
    lost = next(Path(project.root, "sensors/windows/quarter").glob("*/*.parquet"))
    lost.unlink()
    next((project.state / "frames").glob("*/*/*.parquet")).write_bytes(b"PAR1")
    told = muntin(*project.arguments("doctor"))
    assert (told.status, str(lost) in told.out, "muntin doctor --mend FILE: derives it again" in told.out) == (3, True, True)
    assert json.loads(muntin(*project.arguments("doctor", "--json")).out)["findings"]
    told = muntin(*project.arguments("doctor", "--mend"))
    assert (told.status, "read again: " in told.out, told.out.strip().endswith("mended")) == (0, True, True)
    assert muntin(*project.arguments("doctor", "--deep")).status == 0
    assert muntin(*project.arguments("show", "quarter", "--json")).out == before
    assert "nothing was to mend" in muntin(*project.arguments("doctor", "--mend")).out


def test_before_the_first_run(muntin: Muntin, project: Project) -> None:
    for form in ((), ("--mend",)):
        told = muntin(*project.arguments("doctor", *form))
        assert (told.status, "there is no state" in told.err) == (3, True)
