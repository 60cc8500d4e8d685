"""The worked example of docs/lookups.md is right: its definition is run over its payments, and gives the answers in its table."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import as_of
from muntin.definition.pipeline import at_home
from muntin.testing import run_here

PAGE = Path(__file__).parents[2] / "docs/lookups.md"
FILES = {"2024-05-01": "ann,2024-05-01T10:00:00,10", "2024-05-02": "ann,2024-05-01T18:00:00,40", "2024-05-03": "bob,2024-05-03T01:00:00,1"}
COLUMNS = ("customer", "asked_at", "window_start", "window_end", "payments", "paid", "batch")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the blocks of the page define, run in a folder with the payments."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "payments").mkdir()
    for day, line in FILES.items():
        (tmp_path / f"payments/{day}.csv").write_text(f"customer,at,amount\n{line}\n")
    defined, asked = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[:2]
    found: dict[str, Any] = {"pa": pa}
    exec(compile(defined, "page", "exec"), found)  # noqa: S102 - our own page
    found["payments"] = at_home(found["payments"], tmp_path)
    run_here(found["payments"], root=tmp_path / "state", start=datetime(2024, 5, 1, tzinfo=UTC), end=datetime(2024, 5, 4, tzinfo=UTC))
    exec(compile(re.sub(r"^as_of", "answer = as_of", asked, flags=re.MULTILINE), "page", "exec"), found)  # noqa: S102 - our own page
    return found


def test_the_loan(names: dict[str, Any]) -> None:
    table = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ann ")]
    told = [[spelled(row[name]) for name in COLUMNS] for row in names["answer"].to_pylist()]
    assert told == table


def test_with_what_is_known_now(names: dict[str, Any]) -> None:
    ended = as_of(names["payments"], "settled", names["asked"], at="asked_at", root="state", known="ended")
    assert ended["paid"].to_pylist()[0] == 50
    day = as_of(names["payments"], "day", names["asked"], at="asked_at", root="state")
    assert day["paid"].to_pylist() == [10, None]


def spelled(value: object) -> str:
    """A cell as the page has it."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
    return "null" if value is None else str(value)
