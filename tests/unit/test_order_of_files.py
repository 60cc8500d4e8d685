"""Where several processes share the tests, the longest files come first, and those that wait for Airflow one behind another."""

from dataclasses import dataclass
from pathlib import Path

from tests import durations
from tests.markers import WORKERS_WITHOUT_AIRFLOW, said_by_file, spread

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Item:
    """One test of a file, as pytest knows it."""

    path: Path

    def get_closest_marker(self, name: str) -> bool:
        return name in self.path.parts


def files(*names: str) -> list[str]:
    """The files in their order, each of two tests."""
    found = spread([Item(TESTS / name) for name in names for _ in range(2)])  # type: ignore[misc]
    assert sorted(str(each.path.relative_to(TESTS)) for each in found) == sorted(2 * names)
    assert [each.path for each in found[::2]] == [each.path for each in found[1::2]]
    return [str(each.path.relative_to(TESTS)) for each in found[::2]]


def test_the_longest_come_first() -> None:
    longest = sorted(("cli/test_alerts.py", "docs/test_site.py"), key=lambda name: -durations.seconds(TESTS / name))
    assert files("unit/a.py", "cli/test_alerts.py", "docs/test_site.py") == [*longest, "unit/a.py"]


def test_a_file_that_waits_is_begun_once_the_others_have_enough_to_do_beside_it() -> None:
    waiting = ["airflow/test_executor.py", "airflow/test_backfill.py", "airflow/b.py"]
    working = [f"unit/{at:03}.py" for at in range(900)]
    order = files(*waiting, *working)
    begun = [order.index(name) - at for at, name in enumerate(["airflow/test_backfill.py", "airflow/test_executor.py", "airflow/b.py"])]
    longest, second = (durations.seconds(TESTS / name) for name in ("airflow/test_backfill.py", "airflow/test_executor.py"))
    assert longest > second
    assert begun == [max(1, int(seconds * WORKERS_WITHOUT_AIRFLOW / durations.OTHERS) + 1) for seconds in (0, longest, longest + second)]


def test_those_that_wait_are_kept_though_there_is_nothing_beside_them() -> None:
    assert files("airflow/b.py", "airflow/test_backfill.py") == ["airflow/test_backfill.py", "airflow/b.py"]


def test_every_file_that_was_measured_is_there() -> None:
    assert [name for name in durations.SECONDS if not (durations.ROOT / name).exists()] == []


def test_what_make_check_runs_fits_its_budget() -> None:
    """Where it does not, less is quick: lower `QUICK`, or make the slowest of these quicker."""
    quick = [path for path in TESTS.rglob("test_*.py") if durations.is_quick(path) and not said_by_file(path)]
    assert len(quick) > 100
    assert sum(map(durations.seconds, quick)) <= durations.BUDGET
