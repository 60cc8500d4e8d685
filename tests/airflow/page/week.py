"""A week of a shop, published in bulk; a file of it lacks rows, and is mended afterwards. A pipeline that never ran, a DAG that waits."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from muntin.cli.place import placed
from muntin.jobs.run import run
from muntin.tasks import Local

DAYS = range(1, 8)
MENDED = 3
SHOP = """
from datetime import UTC, datetime

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg

shop = Pipeline(
    name="shop",
    source=sources.files("data/{start:%Y-%m-%d}.csv", event_time="at", types={"amount": "BIGINT"}),
    schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["who"],
    windows={
        "half_day": windows.tumbling("12h"),
        "two_days": windows.sliding("2d", step="12h", grace="6h"),
        "visit": windows.session("3h"),
    },
    aggregates={"sales": agg.count(), "total": agg.sum("amount"), "dearest": agg.max("amount")},
)
dag = airflow_dag(shop, catchup=False)
"""
OTHERS = SHOP.replace('"shop"', '"others"').replace("shop", "others")
RANKING = """
from airflow.sdk import DAG, task

from muntin.extensions.airflow import window_asset

with DAG("ranking", schedule=[window_asset("shop", "half_day")], is_paused_upon_creation=True):

    @task
    def rank(): ...

    rank()
"""
WHO = ("ann", "bob", "<script>eve</script>")


def write_week(folder: Path) -> Path:
    """The project, with a file that lacks rows."""
    for name, text in (("shop", SHOP), ("others", OTHERS), ("ranking", RANKING)):
        file = folder / f"dags/{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for day in DAYS:
        write_day(folder, day, rows_of(day)[: 2 if day == MENDED else None])
    return folder


def mend(folder: Path) -> None:
    """The file as it should have been."""
    write_day(folder, MENDED, rows_of(MENDED))


def rows_of(day: int) -> Sequence[tuple[str, str, int]]:
    """Who, when, how much: of each day some of each, a row of the day before, and a row without a time."""
    usual = [
        (WHO[number % 3], f"2024-01-{day:02d}T{hour:02d}:{number:02d}:00Z", (day * hour + number) % 17 + 1)
        for number, hour in enumerate((0, 1, 3, 4, 9, 10, 11, 13, 15, 16, 21, 22))
    ]
    late = [("ann", f"2024-01-{day - 1:02d}T11:00:00Z", 4)] if day in (4, 6) else []
    return [*usual, *late, *([("bob", "", 1)] if day == 5 else [])]


def write_day(folder: Path, day: int, rows: Sequence[tuple[str, str, int]]) -> None:
    """A day's file."""
    file = folder / f"data/2024-01-{day:02d}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["who,at,amount", *(f"{who},{at},{amount}" for who, at, amount in rows)]) + "\n", encoding="utf-8")


def publish_week(folder: Path, root: Path) -> None:
    """All days at once, without Spark."""
    pipeline, root = placed(folder / "dags/shop.py", None, root)
    start, end = (datetime(2024, 1, day, tzinfo=UTC) for day in (DAYS[0], DAYS[-1] + 1))
    run(pipeline, root=root, start=start, end=end, spark=Local(1))
