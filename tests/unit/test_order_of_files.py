"""Where several processes share the tests, the longest files come first, and those that wait for Airflow one behind another."""

from dataclasses import dataclass
from pathlib import Path

from tests.markers import COMPILES, OTHERS, SECONDS, WORKERS_WITHOUT_AIRFLOW, spread

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Item:
    """One test of a file, as pytest knows it."""

    path: Path

    def get_closest_marker(self, name: str) -> bool:
        return name in self.path.parts


def files(*names: str) -> list[str]:
    """The files in their order, each of two tests."""
    found = spread([Item(Path(name)) for name in names for _ in range(2)])  # type: ignore[misc]
    assert sorted(str(each.path) for each in found) == sorted(2 * names)
    assert [each.path for each in found[::2]] == [each.path for each in found[1::2]]
    return [str(each.path) for each in found[::2]]


def test_what_compiles_comes_first_then_the_longest() -> None:
    others = ["unit/a.py", "cli/test_alerts.py", f"judge/{COMPILES}", "docs/test_site.py"]
    assert files(*others) == [f"judge/{COMPILES}", "cli/test_alerts.py", "docs/test_site.py", "unit/a.py"]


def test_a_file_that_waits_is_begun_once_the_others_have_enough_to_do_beside_it() -> None:
    waiting = ["airflow/test_components.py", "airflow/test_follows.py", "airflow/b.py"]
    working = [f"unit/{at:03}.py" for at in range(100)]
    order = files(*waiting, *working)
    begun = [order.index(name) - at for at, name in enumerate(["airflow/test_follows.py", "airflow/test_components.py", "airflow/b.py"])]
    waited = [0, SECONDS["airflow/test_follows.py"], SECONDS["airflow/test_follows.py"] + SECONDS["airflow/test_components.py"]]
    assert begun == [max(1, seconds * WORKERS_WITHOUT_AIRFLOW // OTHERS + 1) for seconds in waited]


def test_those_that_wait_are_kept_though_there_is_nothing_beside_them() -> None:
    assert files("airflow/b.py", "airflow/test_follows.py") == ["airflow/test_follows.py", "airflow/b.py"]


def test_every_file_that_is_named_is_there() -> None:
    there = {"/".join(path.parts[-2:]) for path in TESTS.rglob("test_*.py")}
    assert SECONDS.keys() - there == set()
