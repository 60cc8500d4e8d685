"""Metrics and lineage of a whole run: through Airflow's own to a StatsD socket, and through hook lineage to whoever reads it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from muntin import Limits
from muntin.cli.place import load_pipeline
from muntin.extensions.airflow import lineage
from muntin.jobs.state.bound import bind
from tests.airflow.inside.test_runs import states
from tests.airflow.project import DAYS
from tests.metric_receivers import Statsd, statsd

pytestmark = pytest.mark.usefixtures("spark_server")
Run = Callable[..., Any]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Statsd]:
    """A StatsD socket that Airflow sends to, as its configuration says."""
    from airflow.sdk.observability import stats
    from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

    with statsd() as found:
        settings = {"STATSD_ON": "True", "STATSD_HOST": "127.0.0.1", "STATSD_PORT": str(found.port)}
        for name, value in settings.items():
            monkeypatch.setenv(f"AIRFLOW__METRICS__{name}", value)
        stats.initialize(factory=get_stats_factory(), export_legacy_names=True)  # as a worker does when it starts
        yield found
        monkeypatch.undo()
        stats.initialize(factory=get_stats_factory(), export_legacy_names=True)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Airflow's collector, as it is where a provider reads hook lineage."""
    from airflow.sdk import lineage as airflows
    from airflow.sdk import plugins_manager

    monkeypatch.setattr(plugins_manager, "get_hook_lineage_readers_plugins", lambda: [airflows.HookLineageReader])
    airflows.get_hook_lineage_collector.cache_clear()
    yield airflows.get_hook_lineage_collector()
    airflows.get_hook_lineage_collector.cache_clear()


def named(found: Any) -> list[tuple[str, str, str]]:
    """Task, scheme and path of each address; of these OpenLineage's provider makes the namespace and the name of a data set."""
    sets = ((one.context.task_id, urlsplit(one.asset.uri)) for one in found)
    return sorted((task, each.scheme, each.path) for task, each in sets)


def test_what_a_run_counts_and_where_its_rows_went(run_day: Run, root: Path, project: Path, server: Statsd, collector: Any):
    run = run_day(1)
    assert set(states(run).values()) == {"success"}

    ours = dict(line.split(":") for line in server.lines() if line.startswith("airflow.muntin."))
    lags = [float(ours.pop(f"airflow.muntin.lag{end}").removesuffix("|g")) for end in ("", ".shop.half_day", ".shop.two_days")]
    assert min(lags) > 365 * 86400
    batches = {name: ours.pop(name) for name in [*ours] if name.startswith("airflow.muntin.batches")}
    assert {name.rpartition(".")[2]: count for name, count in batches.items() if count not in ("0|g", "0.0|g")} == {"published": "1|g"}
    rows = {"rows_read": f"{len(DAYS[1])}|c", "rows_quarantined": "0|c", "rows_late": "0|c"}
    windows = ("", ".shop.half_day", ".shop.two_days")  # without labels, and under a name that has them
    assert ours == {
        **{f"airflow.muntin.{name}{end}": count for name, count in rows.items() for end in ("", ".shop")},
        **{f"airflow.muntin.windows_published{end}": "2|c" for end in windows},
    }

    found, (state,) = collector.collected_assets, sorted(root.glob("shop/*/frames/*"))
    assert named(found.inputs) == [("accumulate", "file", f"{project}/data/2024-01-01.csv"), ("publish", "file", f"{state}")]
    assert named(found.outputs) == [
        ("accumulate", "file", f"{state}"),
        ("publish", "file", f"{root}/shop/windows/half_day"),
        ("publish", "file", f"{root}/shop/windows/two_days"),
    ]
    assert found.extra == []


@pytest.mark.parametrize(("within", "met"), [("2d", False), ("10000d", True)])
def test_lineage_says_whether_what_is_published_is_fresh(
    run_day: Run, dags: dict[str, Any], root: Path, collector: Any, within: str, met: bool
):
    run_day(1)
    shop = replace(load_pipeline(Path(dags["shop"].fileloc)), limits=Limits(fresh_within=within))
    lineage.published(bind(shop, root), ["half_day"], dags["shop"].get_task("publish"))
    (extra,) = collector.collected_assets.extra
    assert (extra.key, extra.value["met"], extra.value["late_s"] > 365 * 86400) == ("muntin.fresh", met, True)
