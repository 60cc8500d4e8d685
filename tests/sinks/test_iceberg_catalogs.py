"""Mirrors and sources in the catalogs of Iceberg that run here: SQL on PostgreSQL, Glue (moto), Hive by thrift, REST."""

import json
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog

from muntin import Pipeline, sinks
from muntin.errors import StorageError
from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
from tests import moto_server
from tests.case_counts import at_length
from tests.s3_server import KEY, SECRET
from tests.servers import free_port
from tests.sinks.test_iceberg import Mirrored, versions
from tests.storage.three_batches import OTHER
from tests.tables.iceberg_tables import Lake
from tests.tables.test_iceberg_runs import HOUR, START, hourly, rows, run, totals

CATALOGS = ["database", "glue", "metastore", "rest_catalog"]
OF_SOURCES = [*(pytest.param(each, marks=at_length) for each in CATALOGS[:2]), *CATALOGS[2:]]  # a source asks for a table, and no more


def properties_of(kind: str, address: str) -> dict[str, Any]:
    """The properties of a catalog, as pyiceberg has them."""
    aws = {"client.region": "us-east-1", "client.access-key-id": KEY, "client.secret-access-key": SECRET}
    return {
        "database": {"type": "sql", "uri": address.replace("postgresql://", "postgresql+psycopg://")},
        "glue": {"type": "glue", "glue.endpoint": address, "glue.max-retries": 1, **aws},
        "metastore": {"type": "hive", "uri": address, "hive.hive2-compatible": "true"},
        "rest_catalog": {"type": "rest", "uri": address},
    }[kind]


@pytest.fixture(scope="module")
def boto3() -> Iterator[None]:
    """The client of AWS, which moto brings along."""
    if not (moto_server.HOME / "ready").exists():
        pytest.skip("no moto: bash setup/object_store.sh moto fetches it")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, *map(str, moto_server.HOME.glob("lib/python*/site-packages"))])
        yield


@pytest.fixture(scope="module")
def glue(boto3: None) -> Iterator[str]:
    """The address of a Glue."""
    with moto_server.started() as server:
        yield f"http://127.0.0.1:{server.port}"


@dataclass(frozen=True)
class There(Mirrored):
    """As `Mirrored`, of one window, in another catalog."""

    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mirrored(self) -> Pipeline:
        return replace(self.pipeline, to=sinks.iceberg("lake", "shop.{window}", window="hours"))

    def iceberg(self, window: str = "hours") -> Any:
        with load_catalog("lake", **self.properties) as catalog:
            return catalog.load_table(f"shop.{window}")


@dataclass(frozen=True)
class LakeThere(Lake):
    """As `Lake`, in another catalog."""

    properties: Mapping[str, Any] = field(default_factory=dict)

    def catalog(self) -> Any:
        return load_catalog("lake", warehouse=str(self.folder / "warehouse"), **self.properties)


@pytest.fixture(params=CATALOGS)
def properties(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Of each catalog."""
    found = properties_of(request.param, request.getfixturevalue(request.param))
    return connected(found, monkeypatch)


def connected(properties: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let Airflow's connection `lake` have these properties, and a run wait for a slow machine."""
    monkeypatch.setattr(IcebergSink, "patience_us", 120_000_000)
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps({"conn_type": "generic", "extra": properties}))
    return properties


def test_a_mirror_follows(properties: dict[str, Any], tmp_path: Path) -> None:
    small = There(tmp_path, properties=properties)
    small.write_all()
    small.ran(0, 1, 2)
    with ThreadPoolExecutor(3) as threads:  # of runs at once, that make the namespace and the table
        lines = {line for line in threads.map(lambda _: small.sent(), range(3)) if not line.startswith("0 versions")}
    assert lines == {"1 version of hours sent to table shop.hours of catalog lake; it is at version 2"}
    before = small.published()
    assert small.rows() == before
    small.write(1, OTHER)
    small.ran(1)
    small.sent()
    assert small.rows() == small.published() != before
    assert versions(small.iceberg()) == [(2, "append"), (3, "overwrite")]
    assert small.rows(snapshot=small.iceberg().history()[0].snapshot_id) == before
    assert small.sent().startswith("0 versions")
    small.sent(anew=True)
    assert versions(small.iceberg()) == [(3, "append")]
    assert small.rows() == small.published()


@pytest.mark.parametrize("properties", OF_SOURCES, indirect=True)
def test_a_source_is_read(properties: dict[str, Any], tmp_path: Path) -> None:
    lake = LakeThere(tmp_path, properties=properties)
    for hour, value in enumerate((1, 2)):
        lake.append(rows(hour, value), START + hour * HOUR + HOUR / 2)
    run(hourly(), tmp_path / "state", 0, 2)
    assert totals(hourly(), tmp_path / "state") == [1, 2]


@pytest.mark.parametrize("kind", CATALOGS)
def test_a_catalog_that_is_down(kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scheme = {"database": "postgresql", "metastore": "thrift"}.get(kind, "http")
    if kind == "glue":
        request.getfixturevalue("boto3")
    properties = connected(properties_of(kind, f"{scheme}://127.0.0.1:{free_port()}"), monkeypatch)
    small = There(tmp_path, properties=properties)
    small.write_all()
    small.ran(0)
    assert "(catalog lake: " in (line := small.sent())
    assert line.endswith("see that it is up, can be reached, and lets you in); the next run catches up")
    with pytest.raises(StorageError, match=r"catalog lake: .*can be reached"):
        run(hourly(), tmp_path / "state", 0, 1)
