"""Where several processes share the tests: what one server serves stays together, and the longest groups come first."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import durations, sharing

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Item:
    """One test of a file, as pytest knows it."""

    path: Path


def files(*names: str) -> list[str]:
    """The files in their order, each of two tests."""
    items = [Item(TESTS / name) for name in names for _ in range(2)]
    ordered = [str(each.path.relative_to(TESTS)) for each in sharing.longest_first(items, "test")]  # type: ignore[arg-type, attr-defined]
    assert sorted(ordered) == sorted(2 * names)
    assert ordered[::2] == ordered[1::2]
    return ordered[::2]


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"docs/test_site.py": 5.0, "unit/test_keys.py": 2.0, "sinks/test_postgres.py": 1.0, "materialised/test_jdbc.py": 3.0}
    monkeypatch.setattr(durations, "MEASURED", {f"tests/{name}": {"test": each} for name, each in seconds.items()})


@pytest.mark.usefixtures("_measured")
def test_the_longest_come_first() -> None:
    assert files("unit/test_keys.py", "docs/test_site.py") == ["docs/test_site.py", "unit/test_keys.py"]


# together  test_on_spark 30 (not measured), test_jdbc 3     33
# alone     test_site 5
@pytest.mark.usefixtures("_measured")
def test_files_that_ask_for_spark_stay_together() -> None:
    asked = ("materialised/test_jdbc.py", "docs/test_site.py", "materialised/test_on_spark.py")
    assert files(*asked) == ["materialised/test_jdbc.py", "materialised/test_on_spark.py", "docs/test_site.py"]


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("materialised/test_jdbc.py", "spark"),  # and PostgreSQL
        ("sinks/test_postgres.py", "postgres"),
        ("topics/test_batches.py", "kafka"),
        ("unit/test_keys.py", "tests/unit/test_keys.py"),
    ],
)
def test_a_file_goes_with_the_first_server_it_asks_for(name: str, group: str) -> None:
    assert sharing.group_of(f"tests/{name}") == group


def test_every_file_that_was_measured_is_there() -> None:
    assert [name for name in durations.MEASURED if not (durations.ROOT / name).exists()] == []
