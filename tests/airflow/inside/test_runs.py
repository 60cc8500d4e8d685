"""Whole runs over Spark Connect, tasks and all, in the process of the test."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import read
from tests.airflow.project import DAYS, half_days, write_day

pytestmark = pytest.mark.usefixtures("spark_server")
Run = Callable[..., Any]


def published(dags: dict[str, Any], root: Path, window: str = "half_day") -> list[tuple[str, int, int]]:
    from muntin.cli.place import load_pipeline

    table = read(load_pipeline(Path(dags["shop"].fileloc)), window, root=root)
    return [(row["who"], row["n"], row["total"]) for row in table.to_pylist()]


def states(run: Any) -> dict[str, str]:
    return {each.task_id: str(each.state) for each in run.get_task_instances()}


def result(run: Any, task: str) -> Any:
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session

    with create_session() as session:
        query = XComModel.get_many(key="return_value", run_id=run.run_id, dag_ids="shop", task_ids=task)
        return session.scalars(query).first().value


def events(run: Any) -> dict[str, dict[str, Any]]:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.execute(select(AssetModel, AssetEvent).join(AssetEvent, AssetModel.id == AssetEvent.asset_id))
        return {asset.name: event.extra for asset, event in found if event.source_run_id == run.run_id}


def queued_downstream() -> set[str]:
    from airflow.models.asset import AssetDagRunQueue
    from airflow.utils.session import create_session
    from sqlalchemy import delete, select

    with create_session() as session:
        waiting = set(session.scalars(select(AssetDagRunQueue.target_dag_id)))
        session.execute(delete(AssetDagRunQueue))
        return waiting


def test_a_run_publishes_and_tells_so(run_day: Run, dags: dict[str, Any], root: Path):
    queued_downstream()
    run = run_day(1)

    assert set(states(run).values()) == {"success"}
    assert published(dags, root) == half_days([1])
    extra = events(run)["shop/half_day"]
    assert extra["report"]["rows_read"] == len(DAYS[1])
    assert extra["report"]["windows_closed"] == {"half_day": 2, "two_days": 2}
    assert extra["published"] == ["2024-01-01T00:00:00+00:00"]
    assert extra["quality"].startswith("passed")
    assert extra["revised"] is None
    assert Path(extra["table"], "_delta_log").is_dir()
    assert set(events(run)) == {"shop/half_day", "shop/two_days"}
    assert queued_downstream() == {"after_shop"}


def test_the_same_data_again_publishes_nothing_and_wakes_nobody(run_day: Run, dags: dict[str, Any], root: Path):
    run_day(1)
    queued_downstream()
    again = run_day(1)

    assert set(states(again).values()) == {"success"}
    assert (events(again), queued_downstream()) == ({}, set())
    assert published(dags, root) == half_days([1])


def test_a_corrected_day_says_old_and_new_values(run_day: Run, project: Path):
    run_day(1)
    write_day(project, 1, [("ann", 3, 7)])
    revised = events(run_day(1))["shop/half_day"]["revised"]
    write_day(project, 1)
    assert revised["windows"] == len(revised["first"])
    assert {"change", "old", "new"} <= {*revised["first"][0]}


def test_the_run_that_fills_a_hole_publishes_for_those_that_wait(run_day: Run, dags: dict[str, Any], root: Path):
    # day  1   2   3   4
    #      x       x   x      3 and 4 wait for 2
    #          x              publishes 2, 3 and 4
    run_day(1)
    for day in (3, 4):
        early = run_day(day)
        assert set(states(early).values()) == {"success"}
        assert events(early) == {}
        assert result(early, "publish")["waiting_for"] == [["2024-01-02T00:00:00+00:00", "2024-01-03T00:00:00+00:00"]]
        assert published(dags, root) == half_days([1])

    filling = run_day(2)

    assert published(dags, root) == half_days([1, 2, 3, 4])
    assert events(filling)["shop/half_day"]["published"] == [f"2024-01-0{day}T00:00:00+00:00" for day in (2, 3, 4)]
    assert result(filling, "publish")["waiting_for"] == []


def test_what_fails_gravely_is_not_published_until_it_is_mended(run_day: Run, dags: dict[str, Any], root: Path, project: Path):
    run_day(1)
    write_day(project, 2, [("ann", 3, -1), ("bob", 4, 2)])
    bad = run_day(2)

    assert states(bad) == {"accumulate": "success", "finalize": "success", "validate": "failed", "publish": "upstream_failed"}
    assert (published(dags, root), events(bad)) == (half_days([1]), {})

    write_day(project, 2)
    mended = run_day(2)

    assert set(states(mended).values()) == {"success"}
    assert published(dags, root) == half_days([1, 2])
    assert result(mended, "accumulate")["source_changed"]


def test_a_run_that_another_overtook_finalizes_again(
    run_day: Run, dags: dict[str, Any], root: Path, project: Path, monkeypatch: pytest.MonkeyPatch
):
    # Between finalize and publish of day 3, another run publishes everything, and a third has read day 2 anew.
    from muntin import run
    from muntin.cli.place import load_pipeline
    from muntin.definition.durations import DAY_US
    from muntin.definition.pipeline import at_home
    from muntin.extensions.airflow import steps
    from muntin.jobs.accumulate.accumulate import accumulate
    from muntin.tasks import Local

    validate = steps.validate

    def overtaken(place: Any, runner: Any, staged: Any) -> Any:
        shop = at_home(load_pipeline(Path(dags["shop"].fileloc)), project)
        run(shop, root=root, start=datetime(2024, 1, 1, tzinfo=UTC), end=datetime(2024, 1, 3, tzinfo=UTC), spark=Local())
        write_day(project, 2, [("ann", 3, 1000)])
        day_2 = replace(place.interval, start_us=place.interval.start_us - DAY_US, end_us=place.interval.start_us)
        accumulate(place.bound, Local(), [day_2])
        return validate(place, runner, staged)

    monkeypatch.setattr(steps, "validate", overtaken)
    late = run_day(3)

    assert set(states(late).values()) == {"success"}
    assert ("ann", 1, 1000) in published(dags, root)
    assert events(late)["shop/half_day"]["published"] == ["2024-01-02T00:00:00+00:00"]
    assert events(late)["shop/half_day"]["quality"].startswith("passed")


@pytest.mark.parametrize(
    ("conf", "state"),
    [
        ({}, "failed"),
        ({"interval_start": "2024-01-01T00:00:00Z"}, "success"),
        ({"interval_start": "2024-01-01T00:00:00Z", "interval_end": "2024-01-03T00:00:00Z"}, "failed"),
        ({"interval_start": "2024-01-01T06:00:00Z"}, "failed"),
    ],
)
@pytest.mark.usefixtures("own_params")
def test_a_run_by_hand_says_its_interval(dags: dict[str, Any], root: Path, conf: dict[str, str], state: str):
    run = dags["shop"].test(logical_date=None, run_conf=conf)
    assert states(run)["accumulate"] == state
