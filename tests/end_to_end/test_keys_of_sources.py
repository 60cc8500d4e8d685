"""A key is a plain value; the types that a user gives to columns belong to the state."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import fingerprint
from tests.end_to_end.hourly import Hourly, times

NESTED = {
    "list": (pa.array([[1], [2]]), r"BIGINT\[\]"),
    "fixed list": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)), r"BIGINT\["),
    "struct": (pa.array([{"a": 1}, {"a": 2}]), r"STRUCT\(a BIGINT\)"),
    "map": (pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())), r"MAP\(VARCHAR, BIGINT\)"),
}


@pytest.mark.parametrize("kind", NESTED)
def test_a_key_that_is_no_plain_value_is_refused(kind: str, tmp_path: Path) -> None:
    values, said = NESTED[kind]
    case = Hourly(tmp_path, other={"keys": ["k"]})
    case.write("00.parquet", {"at": times(1, 2), "k": values})
    with pytest.raises(DefinitionError, match=rf"^keys: 'k' is {said}.*plain value.*The source has: at TIMESTAMP"):
        case.run()


def named(folder: Path, **types: str) -> str:
    source: dict[str, Any] = {"types": types} if types else {}
    return fingerprint(Hourly(folder, "{start:%H}.csv", source).pipeline)


def test_types_belong_to_the_state(tmp_path: Path) -> None:
    assert named(tmp_path, x="DOUBLE") != named(tmp_path, x="BIGINT")
    assert named(tmp_path, x="DOUBLE") != named(tmp_path)
    assert named(tmp_path, x="DOUBLE", y="DATE") == named(tmp_path, y="DATE", x="DOUBLE")
